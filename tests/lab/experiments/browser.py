"""Headless Chromium on a pipe: enough of the DevTools protocol to open a page, click and read it."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PLACE = "import os, sys; [os.dup2(int(sys.argv[i + 1]), 3 + i) for i in (0, 1)]; os.execv(sys.argv[3], sys.argv[3:])"
"""The protocol wants descriptors 3 and 4 exactly."""
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find() -> str | None:
    """Where Chromium is, if it is."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page; keeps every console message, exception and request."""

    def __init__(self, executable: str, width: int = 1280, height: int = 900):
        self.profile = tempfile.mkdtemp()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self._counter = itertools.count(1)
        self._buffer = b""
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        flags += ["--remote-debugging-pipe", f"--user-data-dir={self.profile}", f"--window-size={width},{height}"]
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_read, theirs_write)]
        command = [sys.executable, "-c", PLACE, *map(str, theirs), executable, *flags, "about:blank"]
        null = subprocess.DEVNULL
        self._process = subprocess.Popen(command, pass_fds=theirs, stdin=null, stdout=null, stderr=null)
        for end in theirs:
            os.close(end)
        os.close(theirs_read)
        os.close(theirs_write)
        self._read, self._write = ours_read, ours_write
        self._session: str | None = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer, noting events on the way."""
        number = next(self._counter)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def open(self, path: Path) -> None:
        """Load a file and wait until it stands."""
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + 20
        while self.evaluate("document.readyState") != "complete" or self.evaluate("location.href") == "about:blank":
            if time.monotonic() > deadline:
                raise TimeoutError("the page did not load")
            time.sleep(0.05)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description"))
        return result["result"].get("value")

    def pointer(self, kind: str, x: float, y: float) -> None:
        """Move or press the mouse, as a person does."""
        pressed = kind != "mouseMoved"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if pressed else "none", clickCount=1)

    def click(self, selector: str, index: int = 0) -> None:
        """Scroll to an element and click its middle."""
        self.evaluate(f"document.querySelectorAll({selector!r})[{index}].scrollIntoView({{block: 'center'}})")
        x, y = self.middle(selector, index)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.pointer(kind, x, y)

    def middle(self, selector: str, index: int = 0) -> tuple[float, float]:
        """The middle of an element in the window."""
        box = f"document.querySelectorAll({selector!r})[{index}].getBoundingClientRect()"
        x, y = self.evaluate(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({box})")
        return x, y

    def screen(self, width: int, height: int, mobile: bool) -> None:
        """Become a phone, or a desktop again."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def close(self) -> None:
        """End the browser and forget its profile."""
        for descriptor in (self._write, self._read):
            os.close(descriptor)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 65536)
            if not part:
                raise RuntimeError("the browser has gone")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(a.get("value")) for a in parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(parameters["exceptionDetails"]["text"])
        elif method == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

"""Runs the code blocks of a Markdown page and compares what they print with what the page shows.

A page's ```python blocks share one namespace; a ```text block right after one is its output. In a ```console block,
lines that start with ``$ `` are commands and the lines after each are its output. Times, speeds and paths are
compared by shape, not by value; a line ``…`` in shown output stands for any lines.

``python -m tests.docs.pages PAGE…`` writes what was printed into the pages where it differs (a line ``?`` asks for it),
and copies pictures that a page makes and shows to docs/pictures.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """Something a page shows as printed, what was printed, and where in the page it stands."""

    what: str
    start: int
    end: int
    shown: str | None
    printed: str
    failed: bool

    @property
    def wrong(self) -> bool:
        """Whether it failed, or printed something else than the page shows (nothing shown: anything goes)."""
        return self.failed or (self.shown is not None and not matches(normal(self.shown), normal(self.printed)))


def normal(text: str) -> list[str]:
    """Output without what may differ between two runs: times, paths, spacing of tables."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(r"\b\d+(\.\d+)?(e-?\d+)?( ?(ms|µs|s|min)\b)", "TIME", text)
    text = re.sub(r'("runtime": )[\d.e-]+', r"\1TIME", text)
    text = re.sub(r"(/[\w.+-]+){2,}/", "PATH/", text)
    text = re.sub(r".*went into compiling kernels.*\n", "", text)  # the first time on a machine
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether the printed lines are the shown ones, ``…`` standing for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(matches(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and same_line(shown[0], printed[0]) and matches(shown[1:], printed[1:])


def same_line(shown: str, printed: str) -> bool:
    """Equal, where ``…`` inside a shown line stands for any text."""
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed) is not None


def run(page: Path, folder: Path) -> list[Shown]:
    """Run everything on a page inside `folder`, which gets the examples."""
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", folder / "examples")
    content = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(content))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    results = []
    for index, fence in enumerate(fences):
        where = f"{page.name}:{content[: fence.start()].count(chr(10)) + 1}"
        if fence[1] == "python":
            follower = fences[index + 1] if index + 1 < len(fences) else None
            output = follower if follower is not None and follower[1] == "text" else None
            printed, failed = _python(fence[2], namespace, folder, where)
            place = (fence.end(), fence.end()) if output is None else output.span(2)
            results.append(Shown(where, *place, None if output is None else output[2], printed, failed))
        elif fence[1] == "console":
            for command in COMMAND.finditer(fence[2]):
                printed, failed = _command(command[1], folder)
                span = (fence.start(2) + command.start(2), fence.start(2) + command.end(2))
                results.append(Shown(f"{where} $ {command[1]}", *span, command[2] or None, printed, failed))
    return results


def _python(code: str, namespace: dict[str, Any], folder: Path, where: str) -> tuple[str, bool]:
    printed = io.StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, where, "exec"), namespace)
    except Exception as error:
        return f"{printed.getvalue()}{type(error).__name__}: {error}\n", True
    finally:
        os.chdir(here)
    return printed.getvalue(), False


def _command(command: str, folder: Path) -> tuple[str, bool]:
    tools = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "MPLBACKEND": "agg"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, env=environment
    )
    output = done.stdout + done.stderr
    return output, done.returncode not in (0, 1, 2) or "Traceback" in output


def refresh(page: Path) -> int:
    """Write what was printed into a page wherever it shows something else; how often that was."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = [one for one in run(page, Path(folder)) if one.wrong]
        content = page.read_text(encoding="utf-8")
        for picture in Path(folder).glob("*.png"):
            if f"pictures/{picture.name}" in content:
                shutil.copy(picture, ROOT / "docs" / "pictures" / picture.name)
    for one in wrong:
        if one.failed:
            sys.exit(f"{one.what} failed:\n{one.printed}")
    for one in sorted(wrong, key=lambda each: -each.start):
        content = content[: one.start] + one.printed + content[one.end :]
    page.write_text(content, encoding="utf-8")
    return len(wrong)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(f"{name}: {refresh(Path(name))} outputs refreshed\n")

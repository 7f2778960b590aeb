"""The line that shows how a solve goes while it runs: in a terminal, in a notebook, nowhere else."""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from dabp.compiling import compiling
from dabp.driver.result import relative_gap
from dabp.driver.stopping import Progress
from dabp.driver.wording import number, percent
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from rich.live import Live

COMPILING = "compiling kernels, once on this machine; the time limit waits"
REFRESH_SECONDS = 0.25
"""How often a notebook's line is sent anew."""


class Screen(Protocol):
    """Where the line is."""

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Replace the text; `at_once` also if it was replaced a moment ago."""

    def close(self) -> None:
        """Nothing more will be shown."""


class LiveLine:
    """Status, cost, bound, gap and time left of a solve: one of its callbacks.

    Parameters
    ----------
    verbose
        Also a line for each member of a portfolio.
    shown
        False shows nothing, wherever it is.
    """

    def __init__(self, *, verbose: bool = False, shown: bool = True):
        self._verbose = verbose
        self._shown = shown
        self._screen: Screen | None = (_notebook() or _terminal()) if shown else None
        self._members: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> LiveLine:
        if self._screen is not None:
            self._screen.show("preparing …", at_once=True)
        if self._shown:
            compiling.notice = self.compiling
        return self

    def compiling(self) -> None:
        """Say that kernels compile, and that the time limit does not count it; where there is no screen, once."""
        if self._screen is not None:
            self._screen.show(COMPILING, at_once=True)
        elif self._shown:
            compiling.notice = None
            sys.stderr.write(f"dabp: {COMPILING}\n")

    def __call__(self, progress: Progress) -> None:
        """The driver's callback."""
        if self._screen is None:
            return
        lines = [line_of(progress)]
        if self._verbose:
            for record in progress.records:
                if "member" in record:
                    self._members[record["member"]] = record
            lines += [_member_line(name, record) for name, record in sorted(self._members.items())]
        self._screen.show("\n".join(lines))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        compiling.notice = None
        if self._screen is not None:
            self._screen.close()


def line_of(progress: Progress) -> str:
    """How a solve stands, in one line."""
    gap = relative_gap(progress.cost, progress.bound)
    parts = ["searching", f"cost {number(progress.cost)}"]
    if progress.bound is not None:
        parts.append(f"bound {number(progress.bound)}")
    if gap is not None:
        parts.append(f"gap {percent(gap)}")
    parts.append(f"iteration {progress.iterations}")
    parts.append(f"{progress.time:.0f} s" if progress.time_left == math.inf else f"{progress.time_left:.0f} s left")
    return "  ".join(parts)


def _member_line(name: str, record: dict[str, Any]) -> str:
    facts = [f"{key} {number(v) if isinstance(v, int | float) else v}" for key, v in record.items() if key != "member"]
    return shown(f"  {name:16s} {'  '.join(facts)}")


class _Terminal:
    """A line on standard error that goes away when the solve has ended."""

    def __init__(self, live: Live):
        self._live = live
        live.start()

    def show(self, text: str, *, at_once: bool = False) -> None:
        self._live.update(text)
        if at_once:
            self._live.refresh()

    def close(self) -> None:
        self._live.stop()


class _Notebook:
    """A line below the cell, the last of which stays."""

    def __init__(self, display: Any):
        self._handle = display(_Plain(""), display_id=True)
        self._shown_at, self._text = -math.inf, ""

    def show(self, text: str, *, at_once: bool = False) -> None:
        self._text = text
        now = time.monotonic()
        if at_once or now - self._shown_at >= REFRESH_SECONDS:
            self._shown_at = now
            self._handle.update(_Plain(text))

    def close(self) -> None:
        self._handle.update(_Plain(self._text.replace("searching", "ended", 1)))


class _Plain:
    """A text that a notebook shows as it is."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _notebook() -> Screen | None:
    """The notebook that this runs in, if it does; a terminal's IPython is a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return _Notebook(display)


def _terminal() -> Screen | None:
    if not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.live import Live

    # Names come from files: Rich's markup and emoji would change them or fail.
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    return _Terminal(Live("", console=console, refresh_per_second=8, transient=True))

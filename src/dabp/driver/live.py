"""The line that shows how a solve goes while it runs: in a terminal or a notebook, nowhere else."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, Any

from dabp.compiling import compiling
from dabp.driver.result import relative_gap
from dabp.driver.stopping import Progress
from dabp.driver.wording import number, percent
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from rich.live import Live


class LiveLine:
    """Status, cost, bound, gap and time left of a solve: one of its callbacks.

    Parameters
    ----------
    verbose
        Also a line for each member of `auto`.
    shown
        False shows nothing.
    """

    def __init__(self, *, verbose: bool = False, shown: bool = True):
        self._verbose = verbose
        self._shown = shown
        self._screen = (_notebook() or _terminal()) if shown else None
        self._members: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> LiveLine:
        if self._screen is not None:
            self._screen.update("preparing …", refresh=True)
        if self._shown:
            compiling.notice = self.compiling
        return self

    def compiling(self) -> None:
        """Say that kernels compile and that the time limit does not count it; without a screen only once."""
        text = "compiling kernels, once on this machine; the time limit waits"
        if self._screen is not None:
            self._screen.update(text, refresh=True)
        elif self._shown:
            compiling.notice = None
            sys.stderr.write(f"dabp: {text}\n")

    def __call__(self, progress: Progress) -> None:
        """Show the progress; the driver calls this after each block."""
        if self._screen is None:
            return
        lines = [line_of(progress)]
        if self._verbose:
            for record in progress.records:
                if "member" in record:
                    self._members[record["member"]] = record
            lines += [_member_line(name, record) for name, record in sorted(self._members.items())]
        self._screen.update("\n".join(lines))

    def __exit__(self, *_: object) -> None:
        compiling.notice = None
        if self._screen is not None:
            self._screen.stop()


def line_of(progress: Progress) -> str:
    """A solve's progress in one line."""
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
    facts = []
    for key, value in record.items():
        if key == "seconds":
            facts.append(f"{value:.1f} s")
        elif key != "member":
            facts.append(f"{key} {number(value) if isinstance(value, int | float) else value}")
    return shown(f"  {name:16s} {'  '.join(facts)}")


class _Notebook:
    """A line below the cell, the last of which stays, sent four times a second; methods are those of Rich's `Live`."""

    def __init__(self, display: Any):
        self._handle = display(_Plain(""), display_id=True)
        self._shown_at, self._text = -math.inf, ""

    def update(self, text: str, *, refresh: bool = False) -> None:
        self._text = text
        now = time.monotonic()
        if refresh or now - self._shown_at >= 0.25:
            self._shown_at = now
            self._handle.update(_Plain(text))

    def stop(self) -> None:
        self._handle.update(_Plain(self._text.replace("searching", "ended", 1)))


class _Plain:
    """A text that a notebook shows as it is."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _notebook() -> _Notebook | None:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):  # IPython in a terminal
        return None
    from IPython.display import display

    return _Notebook(display)


def _terminal() -> Live | None:
    """A line on standard error that goes away when the solve has ended."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.live import Live

    # Names come from files: Rich's markup and emoji would change them or fail.
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    live = Live("", console=console, refresh_per_second=8, transient=True)
    live.start()
    return live

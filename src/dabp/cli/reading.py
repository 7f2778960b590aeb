"""The bar that shows how far a large file is read, in a terminal and nowhere else."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from dabp.problem.shown import shown

if TYPE_CHECKING:
    from rich.progress import Progress


class ReadingBar:
    """Told of bytes read, as `dabp.read` tells its `progress`; drawn once there is something to tell."""

    def __init__(self, file: str):
        self._file = file
        self._bar: Progress | None = None
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> ReadingBar:
        return self

    def __call__(self, done: int, total: int) -> None:
        """So many of so many bytes."""
        if not self._shown:
            return
        if self._bar is None:
            self._bar = self._drawn(total)
        self._bar.update(self._bar.task_ids[0], completed=done)

    def _drawn(self, total: int) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
        bar = Progress(
            TextColumn("reading {task.description}", markup=False), *columns, console=console, transient=True
        )
        bar.add_task(shown(self._file), total=total)
        bar.start()
        return bar

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

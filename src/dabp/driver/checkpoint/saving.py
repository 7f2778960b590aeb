"""When a running solve is saved, and from where it is taken up again."""

from __future__ import annotations

import contextlib
import glob
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from dabp.driver.checkpoint import file
from dabp.driver.checkpoint.contents import Captured, adopt, restore
from dabp.driver.checkpoint.file import Origin
from dabp.driver.checkpoint.form import check
from dabp.driver.file_lock import Lock
from dabp.driver.running import RunningSolve
from dabp.errors import CheckpointError, ParameterError
from dabp.problem import Problem
from dabp.solvers.base import Search, State

SAVE_SECONDS = 3.0
"""At most so much work is lost when the plug is pulled."""
CAPTURE_SECONDS = 0.5
"""How often a state is copied aside, so that a signal finds a recent one."""


class Saving:
    """Copies the state at the search's boundaries, writes it every few seconds and at the end.

    Parameters
    ----------
    path
        Where to; None saves nothing.
    origin
        What the state belongs to: a file of another is refused.
    """

    def __init__(self, path: Path | None = None, origin: Origin | None = None):
        self._path, self._origin = path, origin or Origin("", "")
        self._contents: State | None = None
        self._captured: Captured | None = None
        self._last_capture = self._last_save = time.monotonic()
        self._failed = False

    @property
    def resumed(self) -> bool:
        """Whether the run goes on from a file."""
        return self._contents is not None

    def read(self, run: RunningSolve) -> None:
        """Look at the file to continue from; its best answer is the run's from now on."""
        if self._path is None:
            raise ParameterError("resume needs the checkpoint file to continue from")
        self._contents, warning = file.load(self._path, self._origin, lambda contents: check(contents, run.problem))
        if warning:
            warnings.warn(warning, stacklevel=4)
        adopt(self._contents, run)

    def resume(self, search: Search, run: RunningSolve, reduced: Problem) -> None:
        """Put the search and the run where the file that was read ends, if one was.

        A search that was stopped while it was prepared takes nothing up: the file stays, its best answer is known.
        """
        if self._contents is None or not search.at_boundary:
            return
        try:
            restore(self._contents, search, run, reduced)
        except CheckpointError as error:
            raise CheckpointError(f"{self._path}: {error}") from None

    def begin(self, search: Search, run: RunningSolve, reduced: Problem) -> None:
        """Before the first step: a solve that is stopped before the search's first boundary can go on from here."""
        if self._path is not None and search.at_boundary:
            self._captured = Captured(search, run, reduced)

    def boundary(self, search: Search, run: RunningSolve, reduced: Problem) -> None:
        """After a block: copy the state aside if the search is at a boundary and enough time has passed."""
        if self._path is None or not search.at_boundary:
            return
        now = time.monotonic()
        if now - self._last_capture < CAPTURE_SECONDS:
            return
        self._captured, self._last_capture = Captured(search, run, reduced), now
        if now - self._last_save >= SAVE_SECONDS:
            self._write(run)
            self._last_save = now

    def finish(self, search: Search, run: RunningSolve, reduced: Problem, *, ended: bool) -> None:
        """At the end, whatever the reason: the last boundary and the incumbent go to disk.

        `ended` says that the search itself has ended; it is then resumed from before that, and ends again.
        """
        if self._path is None:
            return
        if not ended and search.at_boundary:
            self._captured = Captured(search, run, reduced)
        self._write(run)

    def _write(self, run: RunningSolve) -> None:
        if self._path is None or self._captured is None:
            return
        try:
            file.save(self._path, self._captured.contents(run), self._origin)
        except CheckpointError as error:  # a full disk must not cost the answer
            if not self._failed:
                run.notes.append(str(error))
                warnings.warn(f"{error}; the solve goes on without it", stacklevel=4)
            self._failed = True


@contextlib.contextmanager
def owned(path: str | Path | None, *, resume: bool) -> Iterator[Path | None]:
    """Hold a place for checkpoints as long as the solve runs; refuse one that is not free, before anything is solved.

    What is there is only ever replaced if it is a checkpoint that is continued, or empty.
    """
    if path is None:
        yield None
        return
    path = Path(path)
    if path.is_dir() or not path.absolute().parent.is_dir():
        reason = "it is a folder" if path.is_dir() else "its folder does not exist"
        raise CheckpointError(f"{path}: cannot write the checkpoint: {reason}")
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(Lock(path))
        except BlockingIOError:
            raise CheckpointError(f"{path}: another solve is saving its state there; choose another file") from None
        except OSError as error:
            raise CheckpointError(f"{path}: cannot write the checkpoint: {error.strerror or error}") from None
        if not resume:
            _refuse_to_replace(path)
        _remove_leftovers(path)
        yield path


def _refuse_to_replace(path: Path) -> None:
    for each in (path, file.previous(path)):
        if not each.exists() or (each.is_file() and each.stat().st_size == 0):
            continue
        if file.is_checkpoint(each):
            raise CheckpointError(f"{each}: there is a checkpoint already; continue it (resume) or remove it first")
        raise CheckpointError(f"{each}: it is there already and is no checkpoint of dabp's; choose another file")


def _remove_leftovers(path: Path) -> None:
    """What processes that were killed while writing have left; with the lock, nobody is writing now."""
    real = Path(os.path.realpath(path))
    for each in real.parent.glob(f"{glob.escape(real.name)}.*.tmp"):
        if each.name.removeprefix(f"{real.name}.").removesuffix(".tmp").isdigit():
            with contextlib.suppress(OSError):
                each.unlink()

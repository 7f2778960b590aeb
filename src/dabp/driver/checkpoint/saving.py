"""When the state of a running solve is written to its checkpoint, and how a solve continues from one."""

from __future__ import annotations

import contextlib
import glob
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dabp.driver.arguments import as_path
from dabp.driver.checkpoint import file
from dabp.driver.checkpoint.contents import Captured, adopt, check, identity, restore
from dabp.driver.checkpoint.file import Origin
from dabp.driver.file_lock import Lock
from dabp.driver.running import RunningSolve
from dabp.errors import CheckpointError, ParameterError, named_fields
from dabp.problem import Problem
from dabp.problem.views import Label
from dabp.solvers.base import Search, State

SAVE_SECONDS = 3.0
"""Seconds between two writes of a checkpoint: the work that a crash can lose."""
CAPTURE_SECONDS = 0.5
"""Seconds between two copies of the state in memory, one of which is written when a signal arrives."""


@named_fields
@dataclass(frozen=True)
class Checkpoint:
    """A file to which a solve saves its state every few seconds and at the end."""

    path: str | Path
    """The file; the state before is in ``FILE.previous``."""
    resume: bool = False
    """Whether to continue from the file."""

    @classmethod
    def of(cls, given: object, resume: bool) -> Checkpoint | None:
        """The checkpoint among the options of `solve`, given as an object or as a path and `resume`."""
        if isinstance(given, Checkpoint):
            return cls(as_path(given.path) or "", bool(given.resume or resume))
        path = as_path(given)
        if path is None and resume:
            raise ParameterError("resume needs the checkpoint file to continue from")
        return None if path is None else cls(path, bool(resume))


class Saving:
    """Copies the state at the search's boundaries, writes it every few seconds and at the end; no file, no writes."""

    def __init__(self, checkpoint: Checkpoint | None = None, origin: Origin | None = None):
        self._path = None if checkpoint is None else Path(checkpoint.path)
        self._resume = checkpoint is not None and checkpoint.resume
        self._origin = origin or Origin("", "")
        self._contents: State | None = None
        self._captured: Captured | None = None
        self._last_capture = self._last_save = time.monotonic()
        self._failed = False

    @property
    def resumed(self) -> bool:
        """Whether the solve continues from a file."""
        return self._contents is not None

    def read(self, run: RunningSolve) -> None:
        """Read the file to continue from; its best answer becomes the run's."""
        if self._path is None or not self._resume:
            return
        self._contents, warning = file.load(self._path, self._origin, lambda contents: check(contents, run.problem))
        if warning:
            warnings.warn(warning, stacklevel=4)
        adopt(self._contents, run)

    def resume(self, search: Search, run: RunningSolve, reduced: Problem) -> None:
        """Restore the search and the run from the file; a search whose preparation was stopped restores nothing."""
        if self._contents is None or not search.at_boundary:
            return
        try:
            restore(self._contents, search, run, reduced)
        except CheckpointError as error:
            raise CheckpointError(f"{self._path}: {error}") from None

    def begin(self, search: Search, run: RunningSolve, reduced: Problem) -> None:
        """Copy the state before the first step, for a solve that is stopped before the first boundary."""
        if self._path is not None and search.at_boundary:
            self._captured = Captured(search, run, reduced)

    def boundary(self, search: Search, run: RunningSolve, reduced: Problem) -> None:
        """After a block: copy the state if the search is at a boundary and `CAPTURE_SECONDS` have passed."""
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
        """Write the last boundary and the incumbent when the solve ends.

        If the search itself has `ended`, the state from before its end is kept, so that a resumed search ends again.
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
def saving_to(
    checkpoint: Checkpoint | None, problem: Problem, fix: Mapping[str, Label] | None, solver: str
) -> Iterator[Saving]:
    """A `Saving` whose file is locked while the solve runs; a file that is not free is refused before the solve.

    Only an empty file and a checkpoint that is continued are replaced.
    """
    if checkpoint is None:
        yield Saving()
        return
    path = Path(checkpoint.path)
    if path.is_dir() or not path.absolute().parent.is_dir():
        reason = "it is a folder" if path.is_dir() else "its folder does not exist"
        raise CheckpointError(f"{path}: cannot write the checkpoint: {reason}")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(Lock(path))
        except BlockingIOError:
            raise CheckpointError(f"{path}: another solve is saving its state there; choose another file") from None
        except OSError as error:
            raise CheckpointError(f"{path}: cannot write the checkpoint: {error.strerror or error}") from None
        if not checkpoint.resume:
            _refuse_to_replace(path)
        _remove_leftovers(path)
        yield Saving(checkpoint, Origin(identity(problem, fix), solver))


def _refuse_to_replace(path: Path) -> None:
    for each in (path, file.previous(path)):
        if not each.exists() or (each.is_file() and each.stat().st_size == 0):
            continue
        if file.is_checkpoint(each):
            raise CheckpointError(f"{each}: there is a checkpoint already; continue it (resume) or remove it first")
        raise CheckpointError(f"{each}: it is there already and is no checkpoint of dabp's; choose another file")


def _remove_leftovers(path: Path) -> None:
    """Remove temporary files of processes that were killed while writing; the lock says that none is writing now."""
    real = Path(os.path.realpath(path))
    for each in real.parent.glob(f"{glob.escape(real.name)}.*.tmp"):
        if each.name.removeprefix(f"{real.name}.").removesuffix(".tmp").isdigit():
            with contextlib.suppress(OSError):
                each.unlink()

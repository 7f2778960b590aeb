"""When a running solve is saved, and from where it is taken up again."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path

from dabp.driver.checkpoint import file
from dabp.driver.checkpoint.contents import Captured, identity, restore
from dabp.driver.run import Run
from dabp.errors import CheckpointError, ParameterError
from dabp.problem import Problem
from dabp.problem.views import Label
from dabp.solvers.base import Search, Solver

SAVE_SECONDS = 3.0
"""At most so much work is lost when the plug is pulled."""
CAPTURE_SECONDS = 0.5
"""How often a state is copied aside, so that a signal finds a recent one."""


class Schedule:
    """Copies the state at the search's boundaries, writes it every few seconds and at the end.

    Parameters
    ----------
    path
        Where to; None saves nothing.
    problem, solver
        What the state belongs to: a file of another is refused.
    """

    def __init__(self, path: Path | None = None, problem: str = "", solver: str = ""):
        self._path, self._problem, self._solver = path, problem, solver
        self._captured: Captured | None = None
        self._last_capture = self._last_save = time.monotonic()

    def resume(self, search: Search, run: Run) -> None:
        """Continue from the file."""
        if self._path is None:
            raise ParameterError("resume needs the checkpoint file to continue from")
        contents, warning = file.load(self._path, problem=self._problem, solver=self._solver)
        if warning:
            warnings.warn(warning, stacklevel=3)
        restore(contents, search, run)

    def boundary(self, search: Search, run: Run) -> None:
        """After a block: copy the state aside if the search is at a boundary and enough time has passed."""
        if self._path is None or not search.at_boundary:
            return
        now = time.monotonic()
        if self._captured is not None and now - self._last_capture < CAPTURE_SECONDS:
            return
        self._captured, self._last_capture = Captured(search, run), now
        if now - self._last_save >= SAVE_SECONDS:
            self._write(run)
            self._last_save = now

    def finish(self, search: Search, run: Run, *, ended: bool) -> None:
        """At the end, whatever the reason: the last boundary and the incumbent go to disk.

        `ended` says that the search itself has ended; it is then resumed from before that, and ends again.
        """
        if self._path is None:
            return
        if not ended and search.at_boundary:
            self._captured = Captured(search, run)
        self._write(run)

    def _write(self, run: Run) -> None:
        if self._path is None or self._captured is None:
            return
        try:
            file.save(self._path, self._captured.contents(run), problem=self._problem, solver=self._solver)
        except CheckpointError as error:  # a full disk must not cost the answer
            if str(error) not in run.notes:
                run.notes.append(str(error))


def schedule(
    path: str | Path | None, solver: Solver, run: Run, reduced: Problem, fix: Mapping[str, Label] | None
) -> Schedule:
    """When to save a run of `solver` on `reduced`: never without a path."""
    if path is None:
        return Schedule()
    path = Path(path)
    if not solver.checkpoints:
        raise ParameterError(f"solver {run.solver!r} does not support checkpoints")
    for wrong, reason in (
        (not path.absolute().parent.is_dir(), "its folder does not exist"),
        (path.is_dir(), "it is a folder"),
    ):
        if wrong:
            raise CheckpointError(f"{path}: cannot write the checkpoint: {reason}")
    return Schedule(path, identity(run.problem, reduced, fix), f"{solver!r} seed {run.seed}")

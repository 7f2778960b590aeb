"""When a running solve is saved, and how it is taken up again."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dabp.driver import checkpoint
from dabp.errors import CheckpointError, ParameterError
from dabp.problem import Problem
from dabp.problem.views import Label
from dabp.solvers.base import Search, Solver, State

if TYPE_CHECKING:
    from dabp.driver.solve import _Run

SAVE_SECONDS = 3.0
"""At most so much work is lost when the plug is pulled."""
CAPTURE_SECONDS = 0.5
"""How often a state is copied aside, so that a signal finds a recent one."""


class Saving:
    """Copies the state at the search's boundaries, writes it every few seconds and at the end."""

    def __init__(self, path: Path | None, problem: str, solver: str):
        self._path, self._problem, self._solver = path, problem, solver
        self._captured: dict[str, Any] | None = None
        self._trace: Callable[[], dict[str, Any]] = dict
        """Makes the columns of the trace as it was when the state was captured: they are only needed to be written."""
        self._last_capture = self._last_save = time.monotonic()

    @classmethod
    def of(
        cls,
        path: str | Path | None,
        solver: Solver,
        fix: Mapping[str, Label] | None,
        resume: bool,
        search: Search,
        run: _Run,
    ) -> Saving:
        """Prepare saving for a run, and continue it from the file if asked."""
        if path is None:
            if resume:
                raise ParameterError("resume needs the checkpoint file to continue from")
            return cls(None, "", "")
        if not solver.checkpoints:
            raise ParameterError(f"solver {run.name!r} does not support checkpoints")
        for wrong, reason in (
            (not Path(path).absolute().parent.is_dir(), "its folder does not exist"),
            (Path(path).is_dir(), "it is a folder"),
        ):
            if wrong:
                raise CheckpointError(f"{path}: cannot write the checkpoint: {reason}")
        saving = cls(Path(path), identity(run.problem, run.reduced, fix), f"{solver!r} seed {run.seed}")
        if resume:
            state, warning = checkpoint.load(saving._path or path, problem=saving._problem, solver=saving._solver)
            if warning:
                warnings.warn(warning, stacklevel=3)
            restore(state, search, run)
        return saving

    def boundary(self, search: Search, run: _Run) -> None:
        """After a block: copy the state aside if the search is at a boundary and enough time has passed."""
        if self._path is None or not search.at_boundary:
            return
        now = time.monotonic()
        if self._captured is not None and now - self._last_capture < CAPTURE_SECONDS:
            return
        self._capture(search, run)
        self._last_capture = now
        if now - self._last_save >= SAVE_SECONDS:
            self._write(run)
            self._last_save = now

    def finish(self, search: Search, run: _Run, *, ended: bool) -> None:
        """At the end, whatever the reason: the last boundary and the incumbent go to disk.

        `ended` says that the search itself has ended; it is then resumed from before that, and ends again.
        """
        if self._path is None:
            return
        if not ended and search.at_boundary:
            self._capture(search, run)
        self._write(run)

    def _capture(self, search: Search, run: _Run) -> None:
        self._captured, self._trace = capture(search, run), run.trace.so_far()

    def _write(self, run: _Run) -> None:
        if self._path is None or self._captured is None:
            return
        incumbent: State = {}
        if run.progress.assignment is not None:
            incumbent = {"incumbent": run.progress.assignment, "incumbent_cost": run.progress.cost}
        state = {**self._captured, **self._trace(), **incumbent}
        try:
            checkpoint.save(self._path, state, problem=self._problem, solver=self._solver)
        except CheckpointError as error:  # a full disk must not cost the answer
            if str(error) not in run.notes:
                run.notes.append(str(error))


def identity(problem: Problem, reduced: Problem, fix: Mapping[str, Label] | None) -> str:
    """What a state belongs to: its answers are of the problem with some variables fixed, its search of the reduced one.

    Problems that presolve settles are all reduced to the same nothing.
    """
    fixed = sorted((str(name), str(label)) for name, label in (fix or {}).items())
    return hashlib.sha256(repr((problem.digest, reduced.digest, fixed)).encode()).hexdigest()


def capture(search: Search, run: _Run) -> dict[str, Any]:
    """The state of a solve as arrays and JSON values, its trace left out."""
    progress = run.progress
    state = {f"search.{key}": _copied(value) for key, value in search.state_dict().items()}
    return {
        **state,
        "elapsed": run.earlier + progress.time,
        "iterations": progress.iterations,
        "last_improvement": progress.last_improvement,
        "bound": progress.bound,
        **({} if progress.assignment is None else {"best": progress.assignment.copy(), "best_cost": progress.cost}),
    }


def restore(state: dict[str, Any], search: Search, run: _Run) -> None:
    """Put a captured state back into a fresh search and run."""
    progress = run.progress
    run.trace.restore(state)
    run.earlier = state["elapsed"]
    progress.iterations = state["iterations"]
    progress.last_improvement = state["last_improvement"]
    progress.bound = state["bound"]
    if "best" in state:
        progress.assignment, progress.cost = state["best"], run.problem.cost(state["best"])
    if "incumbent" in state:  # found after the boundary; the replay will meet it again
        better = progress.cost is None or run.sign * state["incumbent_cost"] < run.sign * progress.cost
        if better:
            progress.assignment, progress.cost = state["incumbent"], state["incumbent_cost"]
    search.load_state_dict({k.removeprefix("search."): v for k, v in state.items() if k.startswith("search.")})


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value

"""What a checkpoint holds: a search's state, the run's, and the incumbent when it was written.

| key | meaning |
| --- | --- |
| ``search.…`` | `Search.state_dict` at a boundary of the search |
| ``elapsed``, ``iterations``, ``last_improvement``, ``bound`` | the run at that boundary |
| ``best``, ``best_cost`` | its incumbent there, if there was one |
| ``trace.…``, ``trace_records`` | its trace up to there, as `Trace.so_far` makes it |
| ``incumbent``, ``incumbent_cost`` | the incumbent when the file was written, which may be later and better |
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dabp.driver.run import Run, RunState
from dabp.problem import Problem
from dabp.problem.views import Label
from dabp.solvers.base import Search, State

_SEARCH = "search."


def identity(problem: Problem, reduced: Problem, fix: Mapping[str, Label] | None) -> str:
    """What a state belongs to: its answers are of the problem with some variables fixed, its search of the reduced one.

    Problems that presolve settles are all reduced to the same nothing.
    """
    fixed = sorted((str(name), str(label)) for name, label in (fix or {}).items())
    return hashlib.sha256(repr((problem.digest, reduced.digest, fixed)).encode()).hexdigest()


class Captured:
    """A search and its run at one boundary, copied aside; written later, if at all.

    The trace's columns are only made when they are written: copying them at every capture would cost more than the
    search.
    """

    def __init__(self, search: Search, run: Run):
        self._search = {_SEARCH + key: _copied(value) for key, value in search.state_dict().items()}
        self._run: RunState = run.state()
        self._trace: Callable[[], dict[str, Any]] = run.trace.so_far()

    def contents(self, run: Run) -> State:
        """What goes to disk, with the incumbent that the run has by now."""
        at = self._run
        best = {} if at.assignment is None else {"best": at.assignment, "best_cost": at.cost}
        progress = run.progress
        newest = (
            {} if progress.assignment is None else {"incumbent": progress.assignment, "incumbent_cost": progress.cost}
        )
        return {
            **self._search,
            "elapsed": at.elapsed,
            "iterations": at.iterations,
            "last_improvement": at.last_improvement,
            "bound": at.bound,
            **best,
            **self._trace(),
            **newest,
        }


def restore(contents: State, search: Search, run: Run) -> None:
    """Put a checkpoint's contents into a fresh search and run."""
    run.trace.restore(contents)
    run.restore(
        RunState(
            elapsed=contents["elapsed"],
            iterations=contents["iterations"],
            last_improvement=contents["last_improvement"],
            bound=contents["bound"],
            assignment=contents.get("best"),
            cost=contents.get("best_cost"),
        )
    )
    if "incumbent" in contents:  # found after the boundary; the replay will meet it again
        run.adopt(contents["incumbent"], contents["incumbent_cost"])
    state = {key.removeprefix(_SEARCH): value for key, value in contents.items() if key.startswith(_SEARCH)}
    search.load_state_dict(state)


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value

"""What a checkpoint holds: a search's state, the run's, and the incumbent when it was written.

| key | meaning |
| --- | --- |
| ``reduced`` | identifies the problem that the search sees, after what was fixed and presolve |
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

from dabp.driver.checkpoint.form import check_search
from dabp.driver.running import RunningSolve, Snapshot
from dabp.errors import CheckpointError, ProblemError
from dabp.problem import Problem
from dabp.problem.views import Label
from dabp.solvers.base import Search, State

_SEARCH = "search."


def identity(problem: Problem, fix: Mapping[str, Label] | None) -> str:
    """What answers belong to: the problem with some variables fixed. Presolve makes many problems the same nothing."""
    fixed = sorted((str(name), str(label)) for name, label in (fix or {}).items())
    return hashlib.sha256(repr((problem.facts.digest, fixed)).encode()).hexdigest()


class Captured:
    """A search and its run at one boundary, copied aside; written later, if at all.

    The trace's columns are only made when they are written: copying them at every capture would cost more than the
    search.
    """

    def __init__(self, search: Search, run: RunningSolve, reduced: Problem):
        self._search = {_SEARCH + key: _copied(value) for key, value in search.state_dict().items()}
        self._run: Snapshot = run.state()
        self._trace: Callable[[], dict[str, Any]] = run.trace.so_far()
        self._reduced = reduced.facts.digest

    def contents(self, run: RunningSolve) -> State:
        """What goes to disk, with the incumbent that the run has by now."""
        at, now = self._run, run.progress
        best = {} if at.assignment is None else {"best": at.assignment, "best_cost": at.cost}
        newest = {} if now.assignment is None else {"incumbent": now.assignment, "incumbent_cost": now.cost}
        return {
            "reduced": self._reduced,
            **self._search,
            "elapsed": at.elapsed,
            "iterations": at.iterations,
            "last_improvement": at.last_improvement,
            "bound": at.bound,
            **best,
            **self._trace(),
            **newest,
        }


def adopt(contents: State, run: RunningSolve) -> None:
    """Take over the best answer of checked contents: all that is known if the search does not come to go on."""
    for key in ("best", "incumbent"):
        if key in contents:
            run.adopt(contents[key], contents[f"{key}_cost"])


def restore(contents: State, search: Search, run: RunningSolve, reduced: Problem) -> None:
    """Put checked contents into a fresh search and run."""
    if contents["reduced"] != reduced.facts.digest:
        raise CheckpointError("its search saw the problem as another presolve leaves it")
    state = {key.removeprefix(_SEARCH): value for key, value in contents.items() if key.startswith(_SEARCH)}
    check_search(state, search, reduced)
    try:
        search.load_state_dict(state)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError, AttributeError, ProblemError) as error:
        raise CheckpointError(f"its search is not one of solver {run.solver!r} ({error!r})") from None
    for name, array in search.numbers().items():
        if not np.isfinite(array).all():
            raise CheckpointError(f"its search has numbers that are not finite: {name}")
    given, cost = run.progress.assignment, run.progress.cost
    run.trace.restore(contents)
    run.restore(
        Snapshot(
            elapsed=contents["elapsed"],
            iterations=contents["iterations"],
            last_improvement=contents["last_improvement"],
            bound=contents["bound"],
            assignment=contents.get("best"),
            cost=contents.get("best_cost"),
        )
    )
    adopt(contents, run)  # found after the boundary; the replay will meet it again
    if given is not None and cost is not None:
        run.offer(given, cost)  # a start that was given now may be better than all before


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value

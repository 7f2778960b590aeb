"""The contents of a checkpoint: the states of a search and its run, and the incumbent when the file was written.

Contents that were read are checked before anything is used: keys, types, shapes and ranges. Of the search's part only
types of arrays and assignments are checked; `Search.load_state_dict` checks the rest.

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
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dabp.driver.running import RunningSolve
from dabp.errors import CheckpointError, ProblemError
from dabp.problem import Problem
from dabp.problem.facts import within_limit
from dabp.problem.views import Label
from dabp.solvers.base import Search, State


def identity(problem: Problem, fix: Mapping[str, Label] | None) -> str:
    """A hash of the problem and its fixed variables; presolve may reduce different problems to the same one."""
    fixed = sorted((str(name), str(label)) for name, label in (fix or {}).items())
    return hashlib.sha256(repr((problem.facts.digest, fixed)).encode()).hexdigest()


class Captured:
    """A copy of a search and its run at one boundary; the trace's columns are made when the file is written."""

    def __init__(self, search: Search, run: RunningSolve, reduced: Problem):
        self._search = {
            f"search.{key}": value.copy() if isinstance(value, np.ndarray) else value
            for key, value in search.state_dict().items()
        }
        self._run = run.state()
        self._trace = run.trace.so_far()
        self._reduced = reduced.facts.digest

    def contents(self, run: RunningSolve) -> State:
        """The contents of the file, with the run's present incumbent."""
        now = run.progress
        newest = {} if now.assignment is None else {"incumbent": now.assignment, "incumbent_cost": now.cost}
        return {
            "reduced": self._reduced,
            **self._search,
            **self._run,
            **self._trace(),
            **newest,
        }


def adopt(contents: State, run: RunningSolve) -> None:
    """Take over the best answer of checked contents, which stands if the search cannot go on."""
    for key in ("best", "incumbent"):
        if key in contents:
            run.adopt(contents[key], contents[f"{key}_cost"])


def restore(contents: State, search: Search, run: RunningSolve, reduced: Problem) -> None:
    """Put checked contents into a fresh search and run."""
    if contents["reduced"] != reduced.facts.digest:
        raise CheckpointError("its search saw the problem as another presolve leaves it")
    state = {key.removeprefix("search."): value for key, value in contents.items() if key.startswith("search.")}
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
    run.restore(contents)
    adopt(contents, run)  # the incumbent was found after the boundary
    if given is not None and cost is not None:
        run.offer(given, cost)  # a start that was given now may be better than all before


def check(contents: State, problem: Problem) -> None:
    """Raise `CheckpointError` for contents that no run on `problem` can have had; costs are computed again."""
    if not isinstance(contents.get("reduced"), str):
        raise CheckpointError("it does not say what its search saw")
    _number(contents, "elapsed", float, 0.0)
    iterations = _number(contents, "iterations", int, 0)
    _number(contents, "last_improvement", int, 0, iterations)
    if contents.get("bound", 0.0) is not None:
        _number(contents, "bound", float, -math.inf)
    for key in ("best", "incumbent"):
        _check_assignment(contents, key, problem)
    _check_trace(contents)


def check_search(state: State, search: Search, reduced: Problem) -> None:
    """Raise `CheckpointError` for a state whose arrays have other types than a fresh search's, or name no values."""
    for key, like in search.state_dict().items():
        if like is not None and not _alike(like, state.get(key, like)):
            raise CheckpointError(f"its search's {key} is of another kind")
    for key in search.state_assignments:
        values = state.get(key)
        if values is not None and not (
            isinstance(values, np.ndarray) and values.ndim in (1, 2) and _fits(values, reduced.domain_sizes)
        ):
            raise CheckpointError(f"its search's {key} is no assignment of this problem")


def _fits(values: Any, sizes: Any) -> bool:
    """Whether an array, or each row of one, has a value index for each domain size."""
    if values.dtype.kind != "i" or values.shape[-1] != len(sizes):
        return False
    return bool((values >= 0).all() and (values < sizes).all())


def _alike(like: Any, value: Any) -> bool:
    """Whether two values are arrays of one type and number of axes, or numbers, or of the same class."""
    if isinstance(like, np.ndarray) or isinstance(value, np.ndarray):
        both = isinstance(like, np.ndarray) and isinstance(value, np.ndarray)
        return both and (like.dtype, like.ndim) == (value.dtype, value.ndim)
    if isinstance(like, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(like) is type(value)


def _number(contents: State, key: str, kind: type, low: float, high: float = math.inf) -> float:
    value: Any = contents.get(key)
    wanted = (int, float) if kind is float else (int,)
    if isinstance(value, bool) or not isinstance(value, wanted) or not math.isfinite(value) or not low <= value <= high:
        raise CheckpointError(f"its {key} is {value!r}, which cannot be")
    return value


def _check_assignment(contents: State, key: str, problem: Problem) -> None:
    """Check that an assignment is feasible and has the cost that the file says, which is replaced by the exact one."""
    values = contents.get(key)
    if values is None:
        if key in contents or f"{key}_cost" in contents:
            raise CheckpointError(f"its {key} is not complete")
        return
    sizes = problem.auxiliaries.visible(problem.domain_sizes)
    if not (isinstance(values, np.ndarray) and values.dtype == np.int64 and values.ndim == 1 and _fits(values, sizes)):
        raise CheckpointError(f"its {key} is no assignment of this problem")
    said = _number(contents, f"{key}_cost", float, -math.inf)
    cost = float(problem.cost(values))
    if not abs(cost - said) <= problem.facts.rounding(cost) or not within_limit(problem, cost, values):
        raise CheckpointError(f"its {key} costs {cost}, not {said}")
    contents[f"{key}_cost"] = cost


def _check_trace(contents: State) -> None:
    widths = {"trace.costs": 0, "trace.kept": 0, "trace.blocks": 2, "trace.improvements": 3, "trace.bounds": 3}
    for key, width in widths.items():
        column = contents.get(key)
        dtype = np.int64 if key == "trace.kept" else np.float64
        if (
            not isinstance(column, np.ndarray)
            or column.dtype != dtype
            or column.shape[1:] != ((width,) if width else ())
            or np.isnan(column).any()
            or (key != "trace.costs" and (np.abs(column) > 1e300).any())  # costs may be infinite, seconds not
        ):
            raise CheckpointError(f"its {key} is not a column of a trace")
    blocks, kept = contents["trace.blocks"], contents["trace.kept"]
    counts = np.diff(blocks[:, 1], prepend=0.0)
    whole = len(kept) == len(blocks) and kept.sum() == len(contents["trace.costs"])
    if not whole or (counts < 1).any() or not ((kept == counts) | (kept == 1)).all():
        raise CheckpointError("the blocks of its trace do not fit its costs")
    records = contents.get("trace_records")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise CheckpointError("its trace_records are not those of a trace")

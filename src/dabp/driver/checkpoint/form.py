"""The form of a checkpoint's contents: keys, types, shapes and ranges, looked at before anything is used.

Of a search's own part the kinds of its arrays and its assignments are looked at; the rest is its `load_state_dict`'s.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dabp.errors import CheckpointError
from dabp.problem import Problem
from dabp.problem.facts import within_limit
from dabp.solvers.base import Search, State

_COLUMNS = {"trace.costs": 1, "trace.kept": 1, "trace.blocks": 2, "trace.improvements": 3, "trace.bounds": 3}
"""The trace's arrays: how many numbers a row has."""


_MOMENTS = 1e300
"""No second, iteration or best cost of a trace is beyond this."""


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
    """Raise `CheckpointError` for a state whose arrays are not of the kinds a fresh search has, or name no values."""
    for key, like in search.state_dict().items():
        value: Any = state.get(key, like)
        if like is not None and not _alike(like, value):
            raise CheckpointError(f"its search's {key} is of another kind")
    for key in search.state_assignments:
        values = state.get(key)
        if values is None:
            continue
        fits = isinstance(values, np.ndarray) and values.dtype.kind == "i" and 1 <= values.ndim <= 2
        if not fits or values.shape[-1] != reduced.num_variables or (values < 0).any():
            raise CheckpointError(f"its search's {key} is no assignment of this problem")
        if (values >= reduced.domain_sizes).any():
            raise CheckpointError(f"its search's {key} is no assignment of this problem")


def _alike(like: Any, value: Any) -> bool:
    """Whether two values are of one kind: arrays of one type and with as many axes, whole numbers, numbers, lists."""
    if isinstance(like, np.ndarray) or isinstance(value, np.ndarray):
        kinds = [(each.dtype, each.ndim) if isinstance(each, np.ndarray) else None for each in (like, value)]
        return kinds[0] == kinds[1]
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
    """An assignment of the problem, feasible, at the cost that is said of it."""
    values = contents.get(key)
    if values is None:
        if key in contents or f"{key}_cost" in contents:
            raise CheckpointError(f"its {key} is not complete")
        return
    fits = (
        isinstance(values, np.ndarray)
        and values.dtype == np.int64
        and values.shape == (problem.auxiliaries.num_visible,)
    )
    if not fits or (values < 0).any() or (values >= problem.auxiliaries.visible(problem.domain_sizes)).any():
        raise CheckpointError(f"its {key} is no assignment of this problem")
    said = _number(contents, f"{key}_cost", float, -math.inf)
    cost = float(problem.cost(values))
    if not abs(cost - said) <= problem.facts.rounding(cost) or not within_limit(problem, cost, values):
        raise CheckpointError(f"its {key} costs {cost}, not {said}")
    contents[f"{key}_cost"] = cost


def _check_trace(contents: State) -> None:
    for key, width in _COLUMNS.items():
        column = contents.get(key)
        shape = (-1,) if width == 1 else (-1, width)
        if not isinstance(column, np.ndarray) or column.shape[1:] != shape[1:] or column.ndim != len(shape):
            raise CheckpointError(f"its {key} is not a column of a trace")
        if column.dtype != (np.int64 if key == "trace.kept" else np.float64) or np.isnan(column).any():
            raise CheckpointError(f"its {key} is not a column of a trace")
        if key != "trace.costs" and (np.abs(column) > _MOMENTS).any():  # a cost may be infinite, a moment not
            raise CheckpointError(f"its {key} is not a column of a trace")
    blocks, kept = contents["trace.blocks"], contents["trace.kept"]
    counts = np.diff(blocks[:, 1], prepend=0.0)
    whole = len(kept) == len(blocks) and kept.sum() == len(contents["trace.costs"])
    if not whole or (counts < 1).any() or not ((kept == counts) | (kept == 1)).all():
        raise CheckpointError("the blocks of its trace do not fit its costs")
    records = contents.get("trace_records")
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise CheckpointError("its trace_records are not those of a trace")

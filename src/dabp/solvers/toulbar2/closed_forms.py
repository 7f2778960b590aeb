"""Large tables with a short form: x at least y + c, x and y apart, x and y apart unless one has its last value.

toulbar2 has functions for them. With a thousand values for each variable a table has eight megabytes, which would be
sent through a pipe and posted cell by cell. Short forms are recognised in large tables whose costs depend on x − y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.guard import Guard

MIN_CELLS = 4_096
"""The fewest cells of a table whose short form is searched for."""

Table = NDArray[np.float64]
Post = list[Any]
"""A kind, the places of its two variables in the scope (0 or 1), and its parameters."""


def closed_forms(problem: Problem, guard: Guard) -> dict[int, list[Post]]:
    """Binary factors with a short form → its posts."""
    known: dict[tuple[int, int], list[Post]] = {}
    found: dict[int, list[Post]] = {}
    group = next((group for group in problem.facts.arity_groups if group.variables.shape[1] == 2), None)
    if group is None:
        return found
    shapes = problem.domain_sizes[group.variables]
    large = (shapes.prod(axis=1) >= MIN_CELLS) & (shapes.min(axis=1) > 2)
    for row in np.flatnonzero(large).tolist():
        if guard.over:
            break
        factor, rows = int(group.factors[row]), int(shapes[row, 0])
        key = (int(problem.factor_table[factor]), rows)
        if key not in known:
            known[key] = closed_form(problem.cells(factor).reshape(rows, -1))
        if known[key]:
            scope = group.variables[row].tolist()
            found[factor] = [[kind, scope[x], scope[y], *numbers] for kind, x, y, *numbers in known[key]]
    return found


def cells_handed_over(problem: Problem, guard: Guard) -> int:
    """Cells of the tables that are sent to toulbar2: each factor's own, without those that have a short form."""
    cells = np.diff(problem.pool_offsets)[problem.factor_table]
    cells[list(closed_forms(problem, guard))] = 0
    return int(cells.sum())


def closed_form(table: Table) -> list[Post]:
    """The posts of a table of whole costs, the least of them 0; none if it has no short form."""
    if not np.array_equal(table[1, 1:-1], table[0, :-2]):  # most tables end here
        return []
    if _of_difference(table):
        return _bounded(table) or _apart(table)
    return _apart_or_out(table)


def _of_difference(table: Table) -> bool:
    """Whether costs depend on x − y alone."""
    return bool(np.array_equal(table[1, 1:], table[0, :-1]) and np.array_equal(table[1:, 1:], table[:-1, :-1]))


def _profile(table: Table) -> tuple[Table, NDArray[np.int64]]:
    """Costs by the difference x − y, and the differences."""
    return np.concatenate([table[0, :0:-1], table[:, 0]]), np.arange(1 - table.shape[1], len(table))


def _bounded(table: Table) -> list[Post]:
    """``low ≤ x − y ≤ high``, violated by up to some delta at that cost."""
    costs, difference = _profile(table)
    free = np.flatnonzero(costs == 0)
    if not len(free):
        return []
    low, high = int(difference[free[0]]), int(difference[free[-1]])
    posts: list[Post] = []
    missed = np.maximum(np.maximum(low - difference, difference - high), 0)
    for below, post in ((True, [">=", 0, 1, low]), (False, [">=", 1, 0, -high])):
        side = difference < low if below else difference > high
        if side.any():
            finite = side & np.isfinite(costs)
            delta = int(missed[finite].max(initial=0))
            missed = np.where(side & (missed > delta), np.inf, missed)
            posts.append([*post, delta])
    return posts if np.array_equal(costs, missed) else []


def _apart(table: Table) -> list[Post]:
    """``x − y`` outside an interval, or else a penalty."""
    costs, difference = _profile(table)
    taken = np.flatnonzero(costs)
    if not len(taken) or len(taken) != taken[-1] - taken[0] + 1 or (costs[taken] != costs[taken[0]]).any():
        return []
    low, high = int(difference[taken[0]]) - 1, int(difference[taken[-1]]) + 1
    return [["disj", 0, 1, -low, high, float(costs[taken[0]])]]


def _apart_or_out(table: Table) -> list[Post]:
    """``x − y`` outside an interval, or x or y at its last allowed value, which has a cost."""
    finite = np.isfinite(table)
    rows, columns = np.flatnonzero(finite.any(axis=1)), np.flatnonzero(finite.any(axis=0))
    if len(rows) < 3 or len(columns) < 3:
        return []
    table = table[: rows[-1] + 1, : columns[-1] + 1]
    inner, x_cost, y_cost = table[:-1, :-1], float(table[-1, 0]), float(table[0, -1])
    escapes = (table[-1, :-1] == x_cost).all() and (table[:-1, -1] == y_cost).all()
    if not (escapes and table[-1, -1] == x_cost + y_cost < np.inf and _of_difference(inner)):
        return []
    post = _apart(inner)
    if not post or post[0][-1] != np.inf:
        return []
    return [["sdisj", *post[0][1:-1], len(table) - 1, table.shape[1] - 1, x_cost, y_cost]]

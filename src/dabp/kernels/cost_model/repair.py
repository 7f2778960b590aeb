# mypy: disable-error-code="untyped-decorator"
"""The compiled half of a GAT-PCM-LNS cycle: a pseudo-tree of the destroyed variables, and their repair along it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.cost_model.cost_model import (
    Array,
    LevelTables,
    Parameters,
    embed_value,
    empty_nodes,
    predict_value,
)
from dabp.kernels.decorators import inner, kernel

Indices = NDArray[np.int64]


class Structure(NamedTuple):
    """A problem: pairwise tables by variable, wider factors apart.

    "Penalised" costs have a finite stand-in for forbidden, above any finite total; an "amount" is a cost in the model's
    units. Variable v's neighbours are entries ``begin[v]:begin[v + 1]`` of the `neighbour…` arrays (each pairwise
    constraint is there twice); the cost of value a of v with value b of the neighbour is at
    ``neighbour_base + a * neighbour_own + b * neighbour_other`` of `penalised`, `amount` and `level`.
    """

    sizes: Indices  # domain sizes, [N]
    first_value: Indices  # where a variable's values begin in arrays over all values, [N + 1]
    begin: Indices  # where a variable's neighbours begin, [N + 1]
    neighbour: Indices  # the other variable
    neighbour_base: Indices  # where the constraint's table begins
    neighbour_own: Indices  # cells that a step of v's value moves
    neighbour_other: Indices  # cells that a step of the neighbour's value moves
    penalised: NDArray[np.float64]  # costs of all pairs of values
    amount: Array  # the same in the model's units
    level: NDArray[np.int32]  # which of `level_amount` comes nearest
    level_amount: Array  # the different costs that the model tells apart, in its units
    unary_penalised: NDArray[np.float64]  # costs of unary factors, by value
    unary_amount: Array  # the same in the model's units
    has_unary: NDArray[np.bool_]  # whether a variable has any, [N]
    wide_begin: Indices
    """Variable v is in the wider factors ``wide_factor[wide_begin[v]:wide_begin[v + 1]]``, [N + 1]."""
    wide_factor: Indices  # which of the wider factors
    wide_base: Indices  # by wider factor: its place in `wide_penalised`
    wide_scope_begin: Indices  # by wider factor: where its scope begins in the next two
    wide_variable: Indices  # the variables of the scopes
    wide_stride: Indices  # cells that a step of each one's value moves
    wide_penalised: NDArray[np.float64]  # costs of the wider factors
    wide_amount: Array  # the same in the model's units


class Cycle(NamedTuple):
    """Where a cycle of the search stands; the last four are kept for destroyed variables only."""

    values: Indices  # the assignment, [N]
    position: Indices  # the place in the order of repair, −1 for those that were not destroyed, [N]
    penalised: NDArray[np.float64]  # costs by value with everything assigned, [values]
    amount: Array  # the same in the model's units, [values]
    assigned: NDArray[np.bool_]  # whether there is anything assigned, [N]


@kernel
def destroy(problem: Structure, cycle: Cycle, destroyed: NDArray[np.bool_], priority: Indices) -> Indices:
    """Order the destroyed variables along a depth-first pseudo-tree and sum their costs with all others.

    `cycle` has the assignment, its other arrays are filled for destroyed variables; `priority` orders the roots. The
    result has the components one after the other, each from its root; the neighbours of a variable that come later in
    this order are its descendants, the destroyed ones that come earlier its ancestors.
    """
    order: Indices = _depth_first(problem, cycle.position, destroyed, priority)
    for v in order:
        for i in range(problem.first_value[v], problem.first_value[v + 1]):
            cycle.penalised[i], cycle.amount[i] = problem.unary_penalised[i], problem.unary_amount[i]
        cycle.assigned[v] = problem.has_unary[v]
        for e in range(problem.begin[v], problem.begin[v + 1]):
            other = problem.neighbour[e]
            if not destroyed[other]:
                cell = problem.neighbour_base[e] + cycle.values[other] * problem.neighbour_other[e]
                _assign(problem, cycle, v, cell, problem.neighbour_own[e])
    return order


@inner
def _depth_first(problem: Structure, position: Indices, destroyed: NDArray[np.bool_], priority: Indices) -> Indices:
    """The destroyed variables in the order in which a depth-first walk meets them; fills `position`."""
    num_variables = len(problem.sizes)
    count = 0
    for i in range(num_variables):
        count += destroyed[i]
        position[i] = -1
    order = np.empty(count, np.int64)
    stack = np.empty(count + 1, np.int64)
    next_edge = problem.begin[:-1].copy()
    placed = 0
    for i in range(num_variables):
        root = priority[i]
        if not destroyed[root] or position[root] >= 0:
            continue
        stack[0], depth = root, 1
        position[root], order[placed] = placed, root
        placed += 1
        while depth:
            top = stack[depth - 1]
            if next_edge[top] == problem.begin[top + 1]:
                depth -= 1
                continue
            other = problem.neighbour[next_edge[top]]
            next_edge[top] += 1
            if destroyed[other] and position[other] < 0:
                position[other], order[placed] = placed, other
                placed += 1
                stack[depth] = other
                depth += 1
    return order


@inner
def _assign(problem: Structure, cycle: Cycle, v: int, cell: int, stride: int) -> None:
    """Add to variable v's costs a row of pairs that begins at `cell`."""
    for i in range(problem.first_value[v], problem.first_value[v + 1]):
        cycle.penalised[i] += problem.penalised[cell]
        cycle.amount[i] += problem.amount[cell]
        cell += stride
    cycle.assigned[v] = True


@inner
def _add_wide(problem: Structure, cycle: Cycle, v: int) -> None:
    """Add the slices of factors over three or more variables at the other variables' current values."""
    for k in range(problem.wide_begin[v], problem.wide_begin[v + 1]):
        factor = problem.wide_factor[k]
        cell, own = problem.wide_base[factor], 0
        for s in range(problem.wide_scope_begin[factor], problem.wide_scope_begin[factor + 1]):
            if problem.wide_variable[s] == v:
                own = problem.wide_stride[s]
            else:
                cell += cycle.values[problem.wide_variable[s]] * problem.wide_stride[s]
        for i in range(problem.first_value[v], problem.first_value[v + 1]):
            cycle.penalised[i] += problem.wide_penalised[cell]
            cycle.amount[i] += problem.wide_amount[cell]
            cell += own
        cycle.assigned[v] = True


@kernel
def repair(
    problem: Structure, cycle: Cycle, model: Parameters, tables: LevelTables, order: Indices,
    begin: int, end: int,
) -> None:  # fmt: skip
    """Give ``order[begin:end]`` new values: leaves their exact best, the others the least predicted cost."""
    for place in range(begin, end):
        target = order[place]
        _add_wide(problem, cycle, target)
        first, last = problem.first_value[target], problem.first_value[target + 1]
        below = np.int64(0)  # a literal would have `predict` compiled for it, too
        for e in range(problem.begin[target], problem.begin[target + 1]):
            if cycle.position[problem.neighbour[e]] > place:
                below += problem.sizes[problem.neighbour[e]]
        if below == 0 or last - first == 1:
            cycle.values[target] = np.argmin(cycle.penalised[first:last])
        else:
            cycle.values[target] = np.argmin(predict(problem, cycle, model, tables, target, below))
        for e in range(problem.begin[target], problem.begin[target + 1]):
            other = problem.neighbour[e]
            if cycle.position[other] > place:
                cell = problem.neighbour_base[e] + cycle.values[target] * problem.neighbour_own[e]
                _assign(problem, cycle, other, cell, problem.neighbour_other[e])


@inner
def predict(problem: Structure, cycle: Cycle, model: Parameters, tables: LevelTables, target: int, below: int) -> Array:
    """Predicted cost of each value of a target with `below` values in its neighbours among its descendants."""
    size = problem.sizes[target]
    levels, done = _levels(problem, size, below), 0
    second, third = empty_nodes(below + 1), empty_nodes(below + 1)
    for e in range(problem.begin[target], problem.begin[target + 1]):
        child = problem.neighbour[e]
        if cycle.position[child] <= cycle.position[target]:
            continue
        _fill_levels(problem, e, target, levels, done)
        own_levels = _levels_below(problem, child, cycle.position)
        seen = own_levels.shape[1] - 1 + cycle.assigned[child]
        for b in range(problem.sizes[child]):
            amount = cycle.amount[problem.first_value[child] + b]
            embed_value(amount, own_levels[b, :seen], tables, model, second, third, done)
            done += 1
    pairs, last = empty_nodes(below + 2), empty_nodes(below + 2)
    predictions, has_unary = np.empty(size, np.float32), cycle.assigned[target]
    seen = levels.shape[1] - 1 + has_unary
    for a in range(size):
        amount = cycle.amount[problem.first_value[target] + a]
        cost = embed_value(amount, levels[a, :seen], tables, model, second, third, below)
        own = levels[a, :below]
        predictions[a] = predict_value(own, has_unary, cost, tables, model, second, third, pairs, last)
    return predictions


@inner
def _levels(problem: Structure, size: int, below: int) -> Indices:
    """Space for the levels of each value's pairs with values below, then rows of `LevelTables` as in `embed_value`."""
    levels = np.empty((size, below + 2), np.int64)
    levels[:, below] = len(problem.level_amount)
    levels[:, below + 1] = len(problem.level_amount) + 1
    return levels


@inner
def _fill_levels(problem: Structure, e: int, variable: int, levels: Indices, done: int) -> None:
    """Write the levels of a variable's pairs with the values of its neighbour e from column `done` on."""
    for b in range(problem.sizes[problem.neighbour[e]]):
        cell = problem.neighbour_base[e] + b * problem.neighbour_other[e]
        for a in range(problem.sizes[variable]):
            levels[a, done + b] = problem.level[cell]
            cell += problem.neighbour_own[e]


@inner
def _levels_below(problem: Structure, variable: int, position: Indices) -> Indices:
    """The levels of each value's pairs with values of neighbours further down, as `_levels` lays them out."""
    count = 0
    for e in range(problem.begin[variable], problem.begin[variable + 1]):
        if position[problem.neighbour[e]] > position[variable]:
            count += problem.sizes[problem.neighbour[e]]
    levels: Indices = _levels(problem, problem.sizes[variable], count)
    done = 0
    for e in range(problem.begin[variable], problem.begin[variable + 1]):
        if position[problem.neighbour[e]] > position[variable]:
            _fill_levels(problem, e, variable, levels, done)
            done += problem.sizes[problem.neighbour[e]]
    return levels

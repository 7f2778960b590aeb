"""The compiled half of a GAT-PCM-LNS cycle: a pseudo-tree of the destroyed variables, and their repair along it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.cost_model.cost_model import HEADS, LAST_HEADS, WIDTH, embed_value, predict_value
from dabp.kernels.decorators import kernel

Array = NDArray[Any]


@kernel
def destroy(
    problem: Any, destroyed: Array, priority: Array, values: Array, position: Array, penalised: Array, amount: Array,
    assigned: Array,
) -> Array:  # fmt: skip
    """Order the destroyed variables along a depth-first pseudo-tree and sum their costs with all others.

    Parameters
    ----------
    problem
        A `solvers.gat_pcm.structure.Structure`.
    destroyed, priority
        Which variables, and in what order they are tried as roots.
    values
        The current assignment.
    position, penalised, amount, assigned
        Filled for destroyed variables: the place in the order (-1 for the others), costs by value with everything
        assigned (exact and in the model's units), whether there is anything assigned.

    Returns
    -------
    order
        Components one after the other, each from its root; the neighbours of a variable that come later in this
        order are its descendants, the destroyed ones that come earlier its ancestors.
    """
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
    for v in order:
        for i in range(problem.first_value[v], problem.first_value[v + 1]):
            penalised[i], amount[i] = problem.unary_penalised[i], problem.unary_amount[i]
        assigned[v] = problem.has_unary[v]
        for e in range(problem.begin[v], problem.begin[v + 1]):
            other = problem.neighbour[e]
            if not destroyed[other]:
                cell = problem.neighbour_base[e] + values[other] * problem.neighbour_other[e]
                _assign(problem, cell, problem.neighbour_own[e], v, penalised, amount, assigned)
    return order


@kernel
def _assign(problem: Any, cell: int, stride: int, v: int, penalised: Array, amount: Array, assigned: Array) -> None:
    """Add to variable v's costs a row of pairs that begins at `cell`."""
    for i in range(problem.first_value[v], problem.first_value[v + 1]):
        penalised[i] += problem.penalised[cell]
        amount[i] += problem.amount[cell]
        cell += stride
    assigned[v] = True


@kernel
def _add_wide(problem: Any, v: int, values: Array, penalised: Array, amount: Array, assigned: Array) -> None:
    """Add the slices of factors over three or more variables at the other variables' current values."""
    for k in range(problem.wide_begin[v], problem.wide_begin[v + 1]):
        factor = problem.wide_factor[k]
        cell, own = problem.wide_base[factor], 0
        for s in range(problem.wide_scope_begin[factor], problem.wide_scope_begin[factor + 1]):
            if problem.wide_variable[s] == v:
                own = problem.wide_stride[s]
            else:
                cell += values[problem.wide_variable[s]] * problem.wide_stride[s]
        for i in range(problem.first_value[v], problem.first_value[v + 1]):
            penalised[i] += problem.wide_penalised[cell]
            amount[i] += problem.wide_amount[cell]
            cell += own
        assigned[v] = True


@kernel
def repair(
    problem: Any, weights: Any, tables: Any, order: Array, begin: int, end: int, position: Array, values: Array,
    penalised: Array, amount: Array, assigned: Array,
) -> None:  # fmt: skip
    """Give ``order[begin:end]`` new values: leaves their exact best, the others the least predicted cost."""
    for place in range(begin, end):
        target = order[place]
        _add_wide(problem, target, values, penalised, amount, assigned)
        first, last = problem.first_value[target], problem.first_value[target + 1]
        below = 0
        for e in range(problem.begin[target], problem.begin[target + 1]):
            if position[problem.neighbour[e]] > place:
                below += problem.sizes[problem.neighbour[e]]
        if below == 0 or last - first == 1:
            values[target] = np.argmin(penalised[first:last])
        else:
            values[target] = np.argmin(predict(problem, weights, tables, target, below, position, amount, assigned))
        for e in range(problem.begin[target], problem.begin[target + 1]):
            other = problem.neighbour[e]
            if position[other] > place:
                cell = problem.neighbour_base[e] + values[target] * problem.neighbour_own[e]
                _assign(problem, cell, problem.neighbour_other[e], other, penalised, amount, assigned)


@kernel
def predict(
    problem: Any, weights: Any, tables: Any, target: int, below: int, position: Array, amount: Array, assigned: Array
) -> Array:
    """Predicted cost of each value of a target with `below` values in its neighbours among its descendants."""
    size = problem.sizes[target]
    levels = np.empty((size, below), np.int32)
    below_projected = np.empty((below, 2, WIDTH), np.float32)
    below_scores = np.empty((below, 4, HEADS), np.float32)
    unary = np.empty((2, WIDTH), np.float32)

    done = 0
    for e in range(problem.begin[target], problem.begin[target + 1]):
        child = problem.neighbour[e]
        if position[child] <= position[target]:
            continue
        own_levels = _levels_below(problem, child, position)
        score = np.empty(own_levels.shape[1], np.float32)
        for b in range(problem.sizes[child]):
            for a in range(size):
                cell = problem.neighbour_base[e] + a * problem.neighbour_own[e] + b * problem.neighbour_other[e]
                levels[a, done] = problem.level[cell]
            embed_value(
                amount[problem.first_value[child] + b], assigned[child], own_levels[b], problem.level_amount, tables,
                weights, score, below_projected[done], below_scores[done], unary,
            )  # fmt: skip
            done += 1

    projected, scores = np.empty((2, WIDTH), np.float32), np.empty((4, HEADS), np.float32)
    pair_projected, pair_embedding = np.empty((below, WIDTH), np.float32), np.empty((below, WIDTH), np.float32)
    pair_scores, pair_last = np.empty((below, HEADS), np.float32), np.empty((below, LAST_HEADS), np.float32)
    score, everyone = np.empty(below, np.float32), np.arange(below)
    predictions = np.empty(size, np.float32)
    for a in range(size):
        embed_value(
            amount[problem.first_value[target] + a], assigned[target], levels[a], problem.level_amount, tables,
            weights, score, projected, scores, unary,
        )  # fmt: skip
        predictions[a] = predict_value(
            projected, scores, unary, assigned[target], levels[a], below_projected, below_scores, tables, weights,
            everyone, pair_projected, pair_scores, pair_embedding, pair_last, score,
        )  # fmt: skip
    return predictions


@kernel
def _levels_below(problem: Any, variable: int, position: Array) -> Array:
    """The levels of each value's pairs with values of neighbours further down, [values, pairs]."""
    count = 0
    for e in range(problem.begin[variable], problem.begin[variable + 1]):
        if position[problem.neighbour[e]] > position[variable]:
            count += problem.sizes[problem.neighbour[e]]
    levels = np.empty((problem.sizes[variable], count), np.int32)
    done = 0
    for e in range(problem.begin[variable], problem.begin[variable + 1]):
        other = problem.neighbour[e]
        if position[other] <= position[variable]:
            continue
        for b in range(problem.sizes[other]):
            cell = problem.neighbour_base[e] + b * problem.neighbour_other[e]
            for a in range(problem.sizes[variable]):
                levels[a, done] = problem.level[cell]
                cell += problem.neighbour_own[e]
            done += 1
    return levels

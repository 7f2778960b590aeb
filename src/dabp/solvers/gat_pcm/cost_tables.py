"""A problem as the search and its compiled kernels see it: pairwise tables by variable, wider factors apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.cost_model.repair import Structure
from dabp.problem import Problem
from dabp.problem.columns import Indices, cell_strides, offsets_of, ragged_positions
from dabp.problem.guard import Guard
from dabp.solvers.stopped import ask

MAX_LEVELS = 4096
"""Different costs in the model's tables; if there are more, costs are rounded to as many even steps."""

BLOCK_CELLS = 2**20
"""Cells that are processed between two checks of the guard; this bounds the index arrays, too."""


def structure(problem: Problem, cost_scale: float | None = None, guard: Guard | None = None) -> Structure:
    """Compile a minimisation problem; `cost_scale` is the cost that is 1 in the model's units.

    By default that is the largest spread of finite costs in a factor of two or more variables (100 in the paper's
    benchmarks). A factor with negative costs is shifted to start at zero for the model, which leaves the order of
    predictions alone. Raises `Stopped` if the guard does not let it go on.
    """
    guard = Guard() if guard is None else guard
    ask(guard)
    units = _Units.of(problem, cost_scale)
    sizes = problem.domain_sizes
    first_value = offsets_of(sizes)
    ends, penalised, amount = _pairs(problem, units, guard)
    level, level_amount = _levels(amount, guard)
    return Structure(
        sizes=sizes,
        first_value=first_value,
        **_neighbours(ends, sizes),
        penalised=penalised,
        amount=amount,
        level=level,
        level_amount=level_amount,
        **_unary(problem, units, first_value),
        **_wide(problem, units, guard),
    )


@dataclass(frozen=True)
class _Units:
    """Penalised costs and amounts of a factor's cells."""

    low: NDArray[np.float64]  # the least finite cost of each factor, but not above 0, [F]
    scale: float  # the cost that is 1 for the model
    penalty: float  # what a forbidden combination costs

    @classmethod
    def of(cls, problem: Problem, cost_scale: float | None) -> _Units:
        finite = np.where(np.isfinite(problem.pool), problem.pool, 0.0)
        low = np.minimum(0.0, problem.facts.per_table(np.minimum, finite))[problem.factor_table]
        spread = problem.facts.per_table(np.maximum, finite)[problem.factor_table] - low
        largest = float(spread[problem.arities >= 2].max(initial=0.0))
        return cls(low, cost_scale or largest or 1.0, 1.0 + float(spread.sum()))

    def cells(self, problem: Problem, factors: Indices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Penalised costs and amounts of all cells of some factors, one factor after the other.

        The model reads a forbidden combination as twice the largest cost of its training.
        """
        tables = problem.factor_table[factors]
        costs = problem.pool[ragged_positions(problem.pool_offsets, tables)]
        low = np.repeat(self.low[factors], np.diff(problem.pool_offsets)[tables])
        finite = np.isfinite(costs)
        return np.where(finite, costs, self.penalty), np.where(finite, (costs - low) / self.scale, 2.0)


def _unary(problem: Problem, units: _Units, first_value: Indices) -> dict[str, NDArray[Any]]:
    """The summed costs of unary factors, by value."""
    factors = np.flatnonzero(problem.arities == 1)
    variables = problem.scope_variables[problem.scope_offsets[factors]]
    target = ragged_positions(first_value, variables)
    penalised, amount = np.zeros(first_value[-1]), np.zeros(first_value[-1])
    for total, part in zip((penalised, amount), units.cells(problem, factors), strict=True):
        np.add.at(total, target, part)
    has = np.zeros(problem.num_variables, dtype=bool)
    has[variables] = True
    return {"unary_penalised": penalised, "unary_amount": amount.astype(np.float32), "has_unary": has}


def _pairs(problem: Problem, units: _Units, guard: Guard) -> tuple[Indices, NDArray[np.float64], NDArray[np.float32]]:
    """The pairs of variables that share a pairwise factor, [P, 2], and the summed costs of their pairs of values.

    The lesser variable of a pair is its first, and its values are the rows of the pair's table.
    """
    factors = np.flatnonzero(problem.arities == 2)
    scope = problem.scope_variables[problem.scope_offsets[factors][:, None] + np.arange(2)]
    keys = scope.min(axis=1) * problem.num_variables + scope.max(axis=1)
    _, first, pair_of = np.unique(keys, return_index=True, return_inverse=True)
    appearance = np.argsort(first, kind="stable")  # pairs in the order in which the factors name them
    rank = np.empty(len(first), dtype=np.int64)
    rank[appearance] = np.arange(len(first))
    ends = np.sort(scope[first[appearance]], axis=1)
    starts = offsets_of(problem.domain_sizes[ends].prod(axis=1))

    penalised, amount = np.zeros(starts[-1]), np.zeros(starts[-1])
    cells = problem.domain_sizes[scope].prod(axis=1)
    for block in np.split(np.arange(len(factors)), _cuts(cells)):
        ask(guard)
        target = _targets(problem.domain_sizes[scope[block]], scope[block], starts[rank[pair_of[block]]])
        for total, part in zip((penalised, amount), units.cells(problem, factors[block]), strict=True):
            np.add.at(total, target, part)
    return ends, penalised, amount.astype(np.float32)


def _cuts(cells: Indices) -> Indices:
    """Where to part factors into blocks of about `BLOCK_CELLS` cells."""
    return np.flatnonzero(np.diff(np.cumsum(cells) // BLOCK_CELLS)) + 1


def _targets(shapes: Indices, scope: Indices, starts: Indices) -> Indices:
    """Where the cells of some pairwise factors belong, the table of each one's pair beginning at `starts`."""
    rows, columns = shapes.T
    cells = rows * columns
    within = np.arange(cells.sum()) - np.repeat(offsets_of(cells)[:-1], cells)
    row, column = within // np.repeat(columns, cells), within % np.repeat(columns, cells)
    straight = np.repeat(scope[:, 0] < scope[:, 1], cells)
    return np.repeat(starts, cells) + np.where(straight, within, column * np.repeat(rows, cells) + row)


def _levels(amounts: NDArray[np.float32], guard: Guard) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The different amounts, or even steps over their range if they are too many, and which comes nearest to each."""
    blocks = [slice(start, start + BLOCK_CELLS) for start in range(0, len(amounts), BLOCK_CELLS)]
    values, rounded = np.zeros(0, dtype=np.float32), False
    for block in blocks:
        ask(guard)
        values = np.union1d(values, amounts[block])
        rounded = len(values) > MAX_LEVELS
        if rounded:
            values = np.linspace(amounts.min(), amounts.max(), MAX_LEVELS, dtype=np.float32)
            break
    level = np.empty(len(amounts), dtype=np.int32)
    for block in blocks:
        ask(guard)
        if rounded:
            level[block] = np.rint((amounts[block] - values[0]) / (values[-1] - values[0]) * (MAX_LEVELS - 1))
        else:
            level[block] = np.searchsorted(values, amounts[block])
    return level, values


def _neighbours(ends: Indices, sizes: Indices) -> dict[str, NDArray[Any]]:
    """Each pair from both of its ends, sorted by the end it starts at."""
    base = offsets_of(sizes[ends].prod(axis=1))[:-1]
    columns, ones = sizes[ends[:, 1]], np.ones(len(ends), dtype=np.int64)
    owner = np.concatenate([ends[:, 0], ends[:, 1]])
    order = np.argsort(owner, kind="stable")
    return {
        "begin": offsets_of(np.bincount(owner, minlength=len(sizes))),
        "neighbour": np.concatenate([ends[:, 1], ends[:, 0]])[order],
        "neighbour_base": np.concatenate([base, base])[order],
        "neighbour_own": np.concatenate([columns, ones])[order],
        "neighbour_other": np.concatenate([ones, columns])[order],
    }


def _wide(problem: Problem, units: _Units, guard: Guard) -> dict[str, NDArray[Any]]:
    """Factors of three or more variables as they are."""
    factors = np.flatnonzero(problem.arities > 2)
    entries = ragged_positions(problem.scope_offsets, factors)
    variables = problem.scope_variables[entries]
    owner = np.repeat(np.arange(len(factors)), problem.arities[factors])
    order = np.argsort(variables, kind="stable")
    lengths = np.diff(problem.pool_offsets)[problem.factor_table[factors]]
    penalised, amount = np.empty(lengths.sum()), np.empty(lengths.sum(), dtype=np.float32)
    bases = offsets_of(lengths)
    for block in np.split(np.arange(len(factors)), _cuts(lengths)):
        ask(guard)
        if len(block):
            place = slice(bases[block[0]], bases[block[-1] + 1])
            penalised[place], amount[place] = units.cells(problem, factors[block])
    return {
        "wide_begin": offsets_of(np.bincount(variables, minlength=problem.num_variables)),
        "wide_factor": owner[order],
        "wide_base": bases[:-1],
        "wide_scope_begin": offsets_of(problem.arities[factors]),
        "wide_variable": variables,
        "wide_stride": cell_strides(problem)[entries],
        "wide_penalised": penalised,
        "wide_amount": amount,
    }

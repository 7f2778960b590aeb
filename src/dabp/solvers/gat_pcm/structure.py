"""A problem as the search and its compiled kernels see it: pairwise tables by variable, wider factors apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem

MAX_LEVELS = 4096
"""Different costs that the model tells apart; beyond these, costs are rounded to as many even steps."""


class Structure(NamedTuple):
    """Plain arrays. "Penalised" costs have a finite stand-in for forbidden, above any finite total.

    Variable v's neighbours are entries ``begin[v]:begin[v + 1]`` of the `neighbour…` arrays (each pairwise
    constraint is there twice); the cost of value a of v with value b of the neighbour is at
    ``neighbour_base + a * neighbour_own + b * neighbour_other`` of `penalised`, `amount` and `level`.
    """

    sizes: NDArray[np.int64]
    first_value: NDArray[np.int64]
    """Where a variable's values begin in arrays over all values, [N + 1]."""
    begin: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    neighbour_base: NDArray[np.int64]
    neighbour_own: NDArray[np.int64]
    neighbour_other: NDArray[np.int64]
    penalised: NDArray[np.float64]
    """Costs of all pairs."""
    amount: NDArray[np.float32]
    """The same in the model's units."""
    level: NDArray[np.int32]
    """Which of `level_amount` comes nearest."""
    level_amount: NDArray[np.float32]
    unary_penalised: NDArray[np.float64]
    """Costs of unary factors, by value."""
    unary_amount: NDArray[np.float32]
    has_unary: NDArray[np.bool_]
    wide_begin: NDArray[np.int64]
    """Variable v is in the wider factors ``wide_factor[wide_begin[v]:wide_begin[v + 1]]``."""
    wide_factor: NDArray[np.int64]
    wide_base: NDArray[np.int64]
    """By wider factor: its place in `wide_penalised`."""
    wide_scope_begin: NDArray[np.int64]
    wide_variable: NDArray[np.int64]
    wide_stride: NDArray[np.int64]
    wide_penalised: NDArray[np.float64]
    wide_amount: NDArray[np.float32]


def structure(problem: Problem, cost_scale: float | None = None) -> Structure:
    """Compile a minimisation problem; `cost_scale` is the cost that is 1 in the model's units.

    By default that is the largest spread of finite costs in a factor of two or more variables (100 in the paper's
    benchmarks). A factor with negative costs is shifted to start at zero for the model, which leaves the order of
    predictions alone.
    """
    sizes = problem.domain_sizes
    first_value = np.concatenate([[0], np.cumsum(sizes)])
    low, high = _ranges(problem)
    spread = high - low
    wide = spread[problem.arities >= 2]
    scale = cost_scale or float(wide.max(initial=0.0)) or 1.0
    penalty = 1.0 + float(spread.sum())

    unary = np.zeros(first_value[-1])
    unary_amount = np.zeros(first_value[-1])
    has_unary = np.zeros(len(sizes), dtype=bool)
    pairs: dict[tuple[int, int], list[int]] = {}
    wide_factors: list[int] = []
    for f, arity in enumerate(problem.arities.tolist()):
        scope = problem.scope(f).tolist()
        if arity == 1:
            place = slice(first_value[scope[0]], first_value[scope[0] + 1])
            unary[place] += _penalised(problem.table(f), penalty)
            unary_amount[place] += _amount(problem.table(f), low[f], scale)
            has_unary[scope[0]] = True
        elif arity == 2:
            pairs.setdefault((min(scope), max(scope)), []).append(f)
        elif arity > 2:
            wide_factors.append(f)

    ends = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
    penalised, amount = [np.zeros(0)], [np.zeros(0)]
    for (i, j), factors in pairs.items():
        shape = (sizes[i], sizes[j])
        exact, scaled = np.zeros(shape), np.zeros(shape)
        for f in factors:
            table = problem.table(f) if problem.scope(f)[0] == i else problem.table(f).T
            exact += _penalised(table, penalty)
            scaled += _amount(table, low[f], scale)
        penalised.append(exact.ravel())
        amount.append(scaled.ravel())
    amounts = np.concatenate(amount).astype(np.float32)
    level, level_amount = _levels(amounts)
    return Structure(
        sizes=sizes,
        first_value=first_value,
        **_neighbours(ends, sizes),
        penalised=np.concatenate(penalised),
        amount=amounts,
        level=level,
        level_amount=level_amount,
        unary_penalised=unary,
        unary_amount=unary_amount.astype(np.float32),
        has_unary=has_unary,
        **_wide(problem, wide_factors, low, scale, penalty),
    )


def _ranges(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least (but not above 0) and largest finite cost of each factor."""
    finite = np.where(np.isfinite(problem.pool), problem.pool, 0.0)
    low, high = np.minimum(0.0, problem.per_table(np.minimum, finite)), problem.per_table(np.maximum, finite)
    return low[problem.factor_table], high[problem.factor_table]


def _penalised(table: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    return np.where(np.isfinite(table), table, penalty)


def _amount(table: NDArray[np.float64], low: float, scale: float) -> NDArray[np.float64]:
    # Forbidden looks to the model like twice the largest cost that it met in training.
    return np.where(np.isfinite(table), (table - low) / scale, 2.0)


def _levels(amounts: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    values, index = np.unique(amounts, return_inverse=True)
    if len(values) <= MAX_LEVELS:
        return index.astype(np.int32), values
    values = np.linspace(values[0], values[-1], MAX_LEVELS, dtype=np.float32)
    nearest = np.rint((amounts - values[0]) / (values[-1] - values[0]) * (MAX_LEVELS - 1))
    return nearest.astype(np.int32), values


def _neighbours(ends: NDArray[np.int64], sizes: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    cells = sizes[ends].prod(axis=1)
    base = np.cumsum(cells) - cells
    columns, ones = sizes[ends[:, 1]], np.ones(len(ends), dtype=np.int64)
    owner = np.concatenate([ends[:, 0], ends[:, 1]])
    order = np.argsort(owner, kind="stable")
    return {
        "begin": np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(sizes)))]),
        "neighbour": np.concatenate([ends[:, 1], ends[:, 0]])[order],
        "neighbour_base": np.concatenate([base, base])[order],
        "neighbour_own": np.concatenate([columns, ones])[order],
        "neighbour_other": np.concatenate([ones, columns])[order],
    }


def _wide(
    problem: Problem, factors: list[int], low: NDArray[np.float64], scale: float, penalty: float
) -> dict[str, NDArray[Any]]:
    scopes = [problem.scope(f) for f in factors]
    tables = [problem.table(f) for f in factors]
    variables = np.concatenate([*scopes, np.zeros(0, dtype=np.int64)])
    owner = np.repeat(np.arange(len(factors)), problem.arities[np.array(factors, dtype=np.int64)])
    order = np.argsort(variables, kind="stable")
    cells = [t.size for t in tables]
    strides = [np.array(t.strides, dtype=np.int64) // t.itemsize for t in tables]
    amounts = [_amount(t, low[f], scale).ravel() for f, t in zip(factors, tables, strict=True)]
    return {
        "wide_begin": np.concatenate([[0], np.cumsum(np.bincount(variables, minlength=problem.num_variables))]),
        "wide_factor": owner[order],
        "wide_base": np.cumsum([0, *cells])[:-1],
        "wide_scope_begin": np.cumsum([0, *(len(s) for s in scopes)]),
        "wide_variable": variables,
        "wide_stride": np.concatenate([*strides, np.zeros(0, dtype=np.int64)]),
        "wide_penalised": np.concatenate([*(_penalised(t, penalty).ravel() for t in tables), np.zeros(0)]),
        "wide_amount": np.concatenate([*amounts, np.zeros(0)]).astype(np.float32),
    }

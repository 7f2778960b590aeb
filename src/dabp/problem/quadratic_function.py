"""Quadratic functions of two-valued variables (QUBO, Ising, max-cut) as problems, and problems as such functions.

A `Quadratic` is

    E(x) = offset + Σ_i linear_i x_i + Σ_k weights_k x_{rows_k} x_{columns_k},    x ∈ {0, 1}^N or, as spins, {−1, +1}^N.

Equal weights share one table, so that a million couplings of a few different weights take little more memory than
their indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.columns import Indices, handed_over, offsets_of
from dabp.problem.validation import EXACT

Floats = NDArray[np.float64]

SPINS = (-1, 1)
"""The labels of a spin."""


class Quadratic(NamedTuple):
    """A quadratic function as columns."""

    linear: Floats
    """The coefficient of each variable, [N]."""

    rows: Indices
    """The first variable of each coupling, [K]."""

    columns: Indices
    """The second variable of each coupling, [K]."""

    weights: Floats
    """The coefficient of each coupling, [K]."""

    offset: float = 0.0
    """Added to every value."""

    spin: bool = False
    """Whether values are −1 and +1 instead of 0 and 1."""


def simplified(quadratic: Quadratic) -> Quadratic:
    """The same function with each pair once, the smaller index first, squares resolved and nothing that is zero."""
    linear, rows, columns, weights, offset, spin = quadratic
    square = rows == columns
    if square.any():
        if spin:  # s² = 1
            offset += float(weights[square].sum())
        else:  # x² = x
            linear = linear + np.bincount(rows[square], weights[square], minlength=len(linear))
        rows, columns, weights = rows[~square], columns[~square], weights[~square]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    del quadratic, rows, columns
    keys = low * max(len(linear), 1) + high
    ordered = np.sort(keys)
    if bool((ordered[1:] == ordered[:-1]).any()):
        keys, inverse = np.unique(keys, return_inverse=True)
        weights = np.bincount(inverse, weights, minlength=len(keys)).astype(np.float64)
        low, high = np.divmod(keys, max(len(linear), 1))
    kept = weights != 0
    if not kept.all():
        low, high, weights = low[kept], high[kept], weights[kept]
    return Quadratic(linear, low, high, weights, offset, spin)


def problem_of(
    quadratic: Quadratic, *, maximize: bool = False, variable_names: Sequence[str] | None = None, name: str = "problem"
) -> Problem:
    """The problem whose cost is a quadratic function: a unary and a pairwise factor for each term that is not zero."""
    for part in (quadratic.linear, quadratic.weights):
        if not np.isfinite(part).all():
            raise ProblemError(f"a coefficient is {part[~np.isfinite(part)][0]}; all must be finite")
    with np.errstate(over="ignore"):
        total = np.abs(quadratic.linear).sum() + np.abs(quadratic.weights).sum() + abs(quadratic.offset)
    if total >= EXACT:
        raise ProblemError("coefficients are so large that their sums are not exact in float64 (2^53 and beyond)")
    linear, rows, columns, weights, offset, spin = simplified(quadratic)
    del quadratic
    fields = np.flatnonzero(linear)
    unary, unary_table = np.unique(linear[fields], return_inverse=True)
    pairs, pair_table = np.unique(weights, return_inverse=True)
    one = np.array([-1.0, 1.0]) if spin else np.array([0.0, 1.0])
    pool = np.concatenate([np.outer(unary, one).ravel(), np.outer(pairs, np.outer(one, one)).ravel()])
    pool += 0.0  # no negative zeros
    pool.flags.writeable = False
    count = len(linear)
    scopes = np.empty(len(fields) + 2 * len(weights), dtype=np.int64)
    scopes[: len(fields)], scopes[len(fields) :: 2], scopes[len(fields) + 1 :: 2] = fields, rows, columns
    del rows, columns
    return Problem(
        np.full(count, 2, dtype=np.int64),
        handed_over(scopes),
        handed_over(offsets_of(np.repeat([1, 2], [len(fields), len(weights)]))),
        pool,
        offsets_of(np.repeat([2, 4], [len(unary), len(pairs)])),
        handed_over(np.concatenate([unary_table, len(unary) + pair_table])),
        constant=offset,
        maximize=maximize,
        variable_names=variable_names,
        labels=[SPINS] * count if spin else None,
        name=name,
    )


def cut_problem(size: int, rows: Indices, columns: Indices, weights: Floats, *, name: str = "problem") -> Problem:
    """Max-cut: the largest total weight of edges whose ends differ."""
    none = np.zeros(size)
    _, low, high, merged, _, _ = simplified(Quadratic(none, rows, columns, weights)._replace(spin=True))
    different, table = np.unique(merged, return_inverse=True)
    scopes = np.empty(2 * len(merged), dtype=np.int64)
    scopes[::2], scopes[1::2] = low, high
    del low, high
    return Problem(
        np.full(size, 2, dtype=np.int64),
        handed_over(scopes),
        handed_over(np.arange(0, 2 * len(merged) + 1, 2)),
        np.outer(different, [0.0, 1.0, 1.0, 0.0]).ravel() + 0.0,
        np.arange(0, 4 * len(different) + 1, 4),
        handed_over(table),
        maximize=True,
        name=name,
    )


def quadratic_of(problem: Problem, *, spin: bool) -> Quadratic:
    """The quadratic function that a problem's cost is, of 0 and 1 or of spins; the second value is the larger one.

    Refused are variables of other than two values, factors of three variables and more, and forbidden combinations.
    """
    if (problem.domain_sizes != 2).any():
        at = int(np.argmax(problem.domain_sizes != 2))
        count = problem.domain_sizes[at]
        raise ProblemError(
            f"a quadratic function has variables of two values; {problem.names.variable(at)!r} has {count}"
        )
    if (problem.arities > 2).any():
        at = int(np.argmax(problem.arities > 2))
        raise ProblemError(
            f"a quadratic function has terms of two variables at most; factor {problem.names.factor(at)!r} has "
            f"{problem.arities[at]}"
        )
    if not np.isfinite(problem.pool).all():
        raise ProblemError("a quadratic function cannot forbid combinations; this problem does")
    linear = np.zeros(problem.num_variables)
    offset = problem.constant
    rows = columns = np.zeros(0, dtype=np.int64)
    weights = np.zeros(0)
    scale = 0.5 if spin else 1.0
    for group in problem.facts.arity_groups:
        arity = group.variables.shape[1]
        cells = problem.pool[group.bases[:, None] + np.arange(2**arity)].reshape(-1, *(2,) * arity)
        if arity == 0:
            offset += float(cells.sum())
        elif arity == 1:
            offset += float((cells.mean(axis=1) if spin else cells[:, 0]).sum())
            linear += np.bincount(group.variables[:, 0], scale * (cells[:, 1] - cells[:, 0]), minlength=len(linear))
        else:
            rows, columns = group.variables.T
            weights = scale**2 * (cells[:, 1, 1] - cells[:, 1, 0] - cells[:, 0, 1] + cells[:, 0, 0])
            offset += float((cells.mean(axis=(1, 2)) if spin else cells[:, 0, 0]).sum())
            first, second = cells[:, 1] - cells[:, 0], cells[:, :, 1] - cells[:, :, 0]
            for variables, step in ((rows, first), (columns, second)):
                part = scale * (step.mean(axis=1) if spin else step[:, 0])
                linear += np.bincount(variables, part, minlength=len(linear))
    return simplified(Quadratic(linear, rows, columns, weights, offset, spin))

"""A problem's two-valued part as a quadratic form of spins, ½ Σ_ij J_ij s_i s_j + offset, never above its cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dabp.kernels.elimination.ordering import least_degree
from dabp.kernels.semidefinite.mixing import Matrix
from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of
from dabp.problem.exactness import UNIT_ROUNDOFF
from dabp.problem.quadratic_function import Quadratic, simplified

WIDEST_FRONT = 500
"""Neighbours from which on a variable is eliminated in no particular order."""

ORDER_WORK = 100_000_000
"""Operations of the search for an order."""


class Spins(NamedTuple):
    """The form; row i of J belongs to the variable ``variable[i]``, the spin of value 1 is +1."""

    matrix: Matrix
    variable: Indices
    """The variable of each row; the number of variables for the row of the fields, whose spin is +1."""
    offset: float
    error: float
    """By how much rounding of J and of the offset may raise the form."""


def spins_of(problem: Problem) -> Spins:
    """The form of all factors between variables of two values; others count with their least cost.

    Forbidden combinations have a finite cost in it, twice the range of finite costs above the largest.
    """
    lowest, highest = problem.facts.finite_extremes
    used = problem.factor_table
    top = float(highest[used].max(initial=0.0))
    cap = top + 2.0 * max(1.0, top - float(lowest[used].min(initial=0.0)))
    count = problem.num_variables
    linear = np.zeros(count)
    rows = columns = np.zeros(0, dtype=np.int64)
    weights, offset = np.zeros(0), problem.constant
    for group in problem.facts.arity_groups:
        arity = group.variables.shape[1]
        fits = (problem.domain_sizes[group.variables] == 2).all(axis=1) & (arity in (1, 2))
        offset += float(lowest[used[group.factors[~fits]]].sum())
        if not fits.any():
            continue
        cells = problem.pool[group.bases[fits][:, None] + np.arange(2**arity)]
        cells = np.where(np.isinf(cells), cap, cells)
        offset += float(cells.mean(axis=1).sum())
        variables = group.variables[fits]
        if arity == 1:
            linear += np.bincount(variables[:, 0], 0.5 * (cells[:, 1] - cells[:, 0]), minlength=count)
            continue
        rows, columns = variables.T
        weights = 0.25 * (cells[:, 3] + cells[:, 0] - cells[:, 1] - cells[:, 2])
        linear += np.bincount(rows, 0.25 * (cells[:, 3] + cells[:, 2] - cells[:, 1] - cells[:, 0]), minlength=count)
        linear += np.bincount(columns, 0.25 * (cells[:, 3] + cells[:, 1] - cells[:, 2] - cells[:, 0]), minlength=count)
    fields = np.flatnonzero(linear)
    form = simplified(
        Quadratic(
            np.zeros(count + 1),
            np.concatenate([rows, fields]),
            np.concatenate([columns, np.full(len(fields), count)]),
            np.concatenate([weights, linear[fields]]),
            spin=True,
        )
    )
    exact = problem.facts.integral and cap * max(1, problem.num_factors) < 2.0**50  # then nothing has been rounded
    size = float(np.abs([cap, top]).max()) * len(used) + problem.facts.magnitude
    matrix, variable = _ordered(form)
    return Spins(matrix, variable, offset, 0.0 if exact else 16 * UNIT_ROUNDOFF * (len(used) + 4) * size)


def _ordered(form: Quadratic) -> tuple[Matrix, Indices]:
    """J in an order of little fill: least degree first, and the spin of each row."""
    count = len(form.linear)
    offsets, target, _ = _rows(form.rows, form.columns, form.weights, count)
    order, done = np.empty(count, dtype=np.int64), 0
    if len(target):
        done = max(0, least_degree(offsets, target, 0, WIDEST_FRONT, ORDER_WORK, order)[0])
    chosen = order[:done]
    rest = np.setdiff1d(np.flatnonzero(np.diff(offsets)), chosen)
    variable = np.concatenate([chosen, rest[np.argsort(np.diff(offsets)[rest], kind="stable")]])
    number = np.zeros(count, dtype=np.int64)
    number[variable] = np.arange(len(variable))
    return Matrix(*_rows(number[form.rows], number[form.columns], form.weights, len(variable))), variable


def _rows(first: Indices, second: Indices, weights: np.ndarray, count: int) -> tuple[Indices, Indices, np.ndarray]:
    """Compressed rows of a symmetric matrix, columns ascending."""
    source, target = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.lexsort((target, source))
    offsets = offsets_of(np.bincount(source, minlength=count))
    return offsets, np.ascontiguousarray(target[order]), np.ascontiguousarray(np.tile(weights, 2)[order])

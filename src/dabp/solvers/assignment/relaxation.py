"""A permutation problem as leaders and pairs, in integers: what the assignment bound works on."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.assignment.pairs import Tables, least_costs
from dabp.presolve.merging import merge_factors
from dabp.problem import Problem
from dabp.problem.columns import Indices, nullary_constant, ragged_positions, unary_costs
from dabp.problem.facts import derived
from dabp.solvers.local_costs.exchanges import labelled_cliques

TOP_BITS = 44
"""A forbidden cost takes this many bits; so totals of 256 rows fit in 64."""


class Relaxation(NamedTuple):
    """The problem of the largest set of variables that must all differ; every other factor counts with its least cost.

    An assignment costs at least ``constant + total / 2**bits`` with the total of its leaders and pairs.
    """

    tables: Tables
    leaders: NDArray[np.int64]
    """What each column costs each row, [n, n]; rows beyond the members cost nothing."""
    members: Indices
    """The variables of the first rows."""
    bits: int
    constant: float
    base: int
    """The sum of the least costs of all pairs, part of every total."""
    complete: bool
    """Whether there are no other variables and factors, so that totals are costs up to rounding."""


def relaxation_of(problem: Problem) -> Relaxation | None:
    """The relaxation, None if no variables are found that must all differ."""
    problem = merge_factors(problem, folding=False)
    cliques = derived(problem, labelled_cliques)
    if not cliques:
        return None
    members, labels = max(cliques, key=lambda each: len(each.members))[:2]
    count, size = labels.shape
    value = np.zeros((size, size), dtype=np.int64)
    value[:count] = labels
    row = np.full(problem.num_variables, -1, dtype=np.int64)
    row[members] = np.arange(count)
    lowest, highest = problem.facts.finite_extremes
    factors, variables, width = _pairs(problem)
    inside = (row[variables] >= 0).all(axis=1)
    others = np.setdiff1d(np.flatnonzero(problem.arities >= 2), factors[inside])
    factors, variables, width = factors[inside], variables[inside], width[inside]
    used = problem.factor_table[factors]
    own, starts = unary_costs(problem)
    parts = [own[start:end] for start, end in itertools.pairwise(starts.tolist())]
    finite = [part[np.isfinite(part)] if np.isfinite(part).any() else np.zeros(1) for part in parts]
    span = 1.0 + float((highest - lowest)[used].sum()) + float(np.abs(lowest[used]).max(initial=0.0))
    span += sum(float(np.ptp(finite[v]) + np.abs(finite[v]).max()) for v in members)
    bits = TOP_BITS - math.ceil(math.log2(span))
    forbidden = 2**TOP_BITS

    def scaled(costs: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.where(np.isfinite(costs), np.floor(np.ldexp(costs, bits)), forbidden).astype(np.int64)

    leaders = np.zeros((size, size), dtype=np.int64)
    for i, v in enumerate(members.tolist()):
        leaders[i] = np.where(value[i] >= 0, scaled(parts[v])[value[i]], forbidden)
    rows = row[variables]
    factor = np.full((size, size), -1, dtype=np.int64)
    factor[rows[:, 0], rows[:, 1]] = factor[rows[:, 1], rows[:, 0]] = np.arange(len(rows))
    finite_pool = np.zeros(len(problem.pool))
    cells = ragged_positions(problem.pool_offsets, np.unique(used))
    finite_pool[cells] = problem.pool[cells]
    tables = Tables(
        factor=factor,
        first=np.ascontiguousarray(rows[:, 0]),
        base=problem.pool_offsets[used],
        width=width,
        least=np.zeros(len(rows), dtype=np.int64),
        value=value,
        pool=scaled(finite_pool),
        forbidden=forbidden,
    )
    least_costs(tables, np.ascontiguousarray(rows))
    constant = nullary_constant(problem) + float(lowest[problem.factor_table[others]].sum())
    constant += sum(float(finite[v].min()) for v in np.flatnonzero(row < 0))
    complete = len(others) == 0 and count == problem.num_variables
    return Relaxation(tables, leaders, members, bits, constant, int(tables.least.sum()), complete)


def _pairs(problem: Problem) -> tuple[Indices, Indices, Indices]:
    """The factors of two variables, these, and the cells between two values of the first."""
    for group in problem.facts.arity_groups:
        if group.variables.shape[1] == 2:
            return group.factors, group.variables, np.ascontiguousarray(group.strides[:, 0])
    nothing = np.zeros(0, dtype=np.int64)
    return nothing, nothing.reshape(0, 2), nothing

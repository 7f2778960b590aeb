"""What a problem is like, from a cheap look: its size, its degrees and domains, and the shapes of its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.graph.following import following
from dabp.problem import Problem
from dabp.problem.columns import Indices
from dabp.problem.facts import derived
from dabp.solvers.auto.plan import SAMPLED_TABLES, SAMPLED_VALUES, WHOLE_TABLES
from dabp.solvers.local_costs.exchanges import labelled_cliques


@dataclass(frozen=True)
class Features:
    """Sizes of the whole problem, and shares among a sample of its factors of arity 2."""

    num_variables: int
    num_edges: int
    """Pairs (factor of arity 2 or more, variable of its scope)."""
    num_messages: int
    """Costs in one message along each edge."""
    num_cells: int
    """Cells of the tables of all factors of arity 2 or more, shared ones counted for each …"""
    num_different_cells: int
    """… and counted once."""
    largest_domain: int
    largest_arity: int
    degree: float
    """Edges of a variable, on average."""
    attractive: float
    """Share of tables for which agreeing is never worse: T(a, a) + T(b, b) ≤ T(a, b) + T(b, a).

    Of those between two of the largest domains, where these are enough to tell. Also what is left of a Potts table when
    presolve has removed values from its two variables."""
    repulsive: float
    """Share of tables in which any agreement costs more than any disagreement, as in colourings."""
    potts: float
    """Share of tables with one cost for agreeing and another for any disagreement."""
    submodular: float
    """Share of tables with T(a, b) + T(a+1, b+1) ≤ T(a, b+1) + T(a+1, b): those a single cut minimises."""
    crisp: float
    """Share of tables that forbid something."""
    hard: float
    """Share of all factors of arity 2 or more that forbid something."""
    following: float
    """Share of variables that follow from others, as partial sums do."""
    exchanging: float
    """Share of variables in sets that must all differ and nearly take all values, so that they can but exchange."""
    unit_costs: bool
    """Whether the sampled costs are integers that differ by at most 2 in any table, as in max-cut."""
    digits: float
    """Decimal digits of the number of assignments."""


def features_of(problem: Problem) -> Features:
    """Look at a problem: at the tables of `SAMPLED_TABLES` factors at most, and `SAMPLED_VALUES` of each variable."""
    arities, sizes = problem.arities, problem.domain_sizes
    higher = np.flatnonzero(arities >= 2)
    edges = int(arities[higher].sum())
    cells, tables = np.diff(problem.pool_offsets), problem.factor_table[higher]
    used = np.zeros(len(cells), dtype=bool)
    used[tables] = True
    stacks = _stacks(problem, _sample(np.flatnonzero(arities == 2)))
    return Features(
        num_variables=problem.num_variables,
        num_edges=edges,
        num_messages=_values_along(problem, edges),
        num_cells=int(cells[tables].sum()),
        num_different_cells=int(cells[used].sum()),
        largest_domain=int(sizes.max(initial=1)),
        largest_arity=int(arities.max(initial=0)),
        degree=edges / max(1, problem.num_variables),
        attractive=_share(_whole(stacks), is_attractive),
        repulsive=_share(stacks, is_repulsive),
        potts=_share(stacks, is_potts),
        submodular=_share(stacks, is_submodular),
        crisp=(crisp := _share(stacks, _forbids)),
        hard=float(problem.facts.forbidding[tables].mean()) if len(tables) else 0.0,
        following=_following(problem),
        exchanging=_exchanging(problem) if crisp else 0.0,
        unit_costs=bool(stacks) and problem.facts.integral and all(_narrow(stack.tables).all() for stack in stacks),
        digits=float(np.log10(sizes).sum()),
    )


def _values_along(problem: Problem, edges: int) -> int:
    """The domain sizes along all edges added up: where there is one size for all, nothing is looked up."""
    sizes = problem.domain_sizes
    if len(sizes) and (sizes == sizes[0]).all():
        return edges * int(sizes[0])
    unary = problem.scope_variables[problem.scope_offsets[:-1][problem.arities == 1]]
    return int(sizes[problem.scope_variables].sum()) - int(sizes[unary].sum())


def _exchanging(problem: Problem) -> float:
    return sum(len(clique.members) for clique in derived(problem, labelled_cliques)) / problem.num_variables


def _following(problem: Problem) -> float:
    return len(derived(problem, following).definitions) / max(1, problem.num_variables)


def is_attractive(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether agreeing is never worse than disagreeing and better somewhere, or it is part of a Potts table.

    Of one table [D, E] or of many [..., D, E].
    """
    part = _is_part_of_potts(tables)
    if tables.shape[-2] != tables.shape[-1]:
        return part
    same = tables.diagonal(axis1=-2, axis2=-1)
    agree = same[..., :, None] + same[..., None, :]
    disagree = tables + tables.swapaxes(-2, -1)
    return np.asarray(part | ((agree <= disagree).all(axis=(-2, -1)) & (agree < disagree).any(axis=(-2, -1))))


def _is_part_of_potts(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether all cells cost the same but some, at most one in a row and in a column, which cost less.

    With two values each, two such cells may be of a table that favours disagreement: these are told by the diagonal.
    """
    cheap = tables < tables.max(axis=(-2, -1), keepdims=True)
    count = cheap.sum(axis=(-2, -1))
    apart = (cheap.sum(axis=-2).max(axis=-1) <= 1) & (cheap.sum(axis=-1).max(axis=-1) <= 1)
    return np.asarray(apart & ((count == 1) if tables.shape[-2:] == (2, 2) else (count > 0)))


def is_potts(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether there is one cost for agreeing and a higher one for any disagreement; of tables [..., D, D]."""
    size = tables.shape[-1]
    if tables.shape[-2] != size or size < 2:
        return np.zeros(tables.shape[:-2], dtype=bool)
    apart = tables[..., ~np.eye(size, dtype=bool)]
    same = tables.diagonal(axis1=-2, axis2=-1)
    alike = (apart == apart[..., :1]).all(axis=-1) & (same == same[..., :1]).all(axis=-1)
    return np.asarray(alike & (same[..., 0] < apart[..., 0]))


def is_repulsive(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether agreeing on any value costs more than disagreeing on any two; of tables [..., D, D]."""
    size = tables.shape[-1]
    if tables.shape[-2] != size or size < 2:
        return np.zeros(tables.shape[:-2], dtype=bool)
    apart = tables[..., ~np.eye(size, dtype=bool)]
    return np.asarray(tables.diagonal(axis1=-2, axis2=-1).min(axis=-1) > apart.max(axis=-1))


def is_submodular(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether tables [..., D, E] are submodular in the order of the values; forbidden cells make them not."""
    with np.errstate(invalid="ignore"):
        cross = tables[..., :-1, :-1] + tables[..., 1:, 1:] - tables[..., :-1, 1:] - tables[..., 1:, :-1]
    slack = 1e-9 * np.maximum(1.0, np.abs(tables).max(axis=(-2, -1), keepdims=True, initial=0.0))
    return np.asarray((cross <= slack).all(axis=(-2, -1)) & ~_forbids(tables))


def _forbids(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.isinf(tables).any(axis=(-2, -1)))


def _narrow(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether costs differ by at most 2."""
    return np.asarray(tables.max(axis=(-2, -1)) <= tables.min(axis=(-2, -1)) + 2)


class _Stack(NamedTuple):
    """Different tables of one shape, [U, D, E], and how many of the sampled factors use each."""

    tables: NDArray[np.float64]
    users: Indices


def _stacks(problem: Problem, factors: Indices) -> list[_Stack]:
    """The tables of some binary factors, each looked at once."""
    shapes = problem.domain_sizes[problem.scope_variables[problem.scope_offsets[factors][:, None] + [0, 1]]]
    base = int(problem.domain_sizes.max(initial=1)) + 1
    keys = problem.factor_table[factors] * base + shapes[:, 0]  # a table may be shared by 2 × 3 and by 3 × 2 values
    used, first, users = np.unique(keys, return_index=True, return_counts=True)
    shapes, used = shapes[first], used // base
    stacks = []
    for rows, columns in np.unique(shapes, axis=0).tolist():
        chosen = np.flatnonzero((shapes == (rows, columns)).all(axis=1))
        within = _spread(rows)[:, None] * columns + _spread(columns)
        cells = problem.pool_offsets[used[chosen]][:, None, None] + within
        stacks.append(_Stack(problem.pool[cells], users[chosen]))
    return stacks


def _whole(stacks: list[_Stack]) -> list[_Stack]:
    """Tables between two of the largest domains, of which presolve has removed nothing, if they are enough to tell."""
    largest = max((max(stack.tables.shape[1:]) for stack in stacks), default=0)
    whole = [stack for stack in stacks if min(stack.tables.shape[1:]) == largest]
    return whole if sum(int(stack.users.sum()) for stack in whole) >= WHOLE_TABLES else stacks


def _spread(size: int) -> Indices:
    """The values of a domain that are looked at, evenly spread: what is Potts or submodular is so on these, too."""
    return np.linspace(0, size - 1, min(size, SAMPLED_VALUES)).astype(np.int64)


def _share(stacks: list[_Stack], holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> float:
    """The part of the sampled factors whose tables are so."""
    count = sum(int(stack.users.sum()) for stack in stacks)
    return sum(int(stack.users[holds(stack.tables)].sum()) for stack in stacks) / count if count else 0.0


def _sample(factors: Indices) -> Indices:
    """Some of them, evenly spread."""
    if len(factors) <= SAMPLED_TABLES:
        return factors
    return factors[np.linspace(0, len(factors) - 1, SAMPLED_TABLES).astype(np.int64)]

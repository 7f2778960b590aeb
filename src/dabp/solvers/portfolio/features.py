"""What a problem is like, from a cheap look: its size, its degrees and domains, and the shapes of its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices
from dabp.solvers.portfolio.plan import SAMPLED_TABLES


@dataclass(frozen=True)
class Features:
    """Sizes of the whole problem, and shares among a sample of its factors of arity 2."""

    num_variables: int
    num_edges: int
    """Pairs (factor of arity 2 or more, variable of its scope)."""
    num_messages: int
    """Costs in one message along each edge."""
    num_cells: int
    """Cells of the tables of all factors of arity 2 or more, shared ones counted for each."""
    largest_domain: int
    largest_arity: int
    degree: float
    """Edges of a variable, on average."""
    attractive: float
    """Share of tables for which agreeing is never worse: T(a, a) + T(b, b) ≤ T(a, b) + T(b, a).

    Also what is left of a Potts table when presolve has removed values from its two variables."""
    potts: float
    """Share of tables with one cost for agreeing and another for any disagreement."""
    submodular: float
    """Share of tables with T(a, b) + T(a+1, b+1) ≤ T(a, b+1) + T(a+1, b): those a single cut minimises."""
    crisp: float
    """Share of tables that forbid something."""
    unit_costs: bool
    """Whether the sampled costs are integers that differ by at most 2 in any table, as in max-cut."""
    digits: float
    """Decimal digits of the number of assignments."""


def features_of(problem: Problem) -> Features:
    """Look at a problem; the tables of at most `SAMPLED_TABLES` factors are looked at."""
    arities, sizes = problem.arities, problem.domain_sizes
    higher = np.flatnonzero(arities >= 2)
    edges = int(arities[higher].sum())
    tables = [problem.table(int(factor)) for factor in _sample(np.flatnonzero(arities == 2))]
    unary = int(sizes[problem.scope_variables[problem.scope_offsets[:-1][arities == 1]]].sum())
    return Features(
        num_variables=problem.num_variables,
        num_edges=edges,
        num_messages=int(sizes[problem.scope_variables].sum()) - unary,
        num_cells=int(np.diff(problem.pool_offsets)[problem.factor_table[higher]].sum()),
        largest_domain=int(sizes.max(initial=1)),
        largest_arity=int(arities.max(initial=0)),
        degree=edges / max(1, problem.num_variables),
        attractive=_share(tables, len(tables), is_attractive),
        potts=_share(tables, len(tables), is_potts),
        submodular=_share(tables, len(tables), is_submodular),
        crisp=_share(tables, len(tables), lambda table: bool(np.isinf(table).any())),
        unit_costs=bool(tables) and problem.integral and all(table.max() <= table.min() + 2 for table in tables),
        digits=float(np.log10(sizes).sum()),
    )


def is_attractive(table: NDArray[np.float64]) -> bool:
    """Whether agreeing is never worse than disagreeing, and better somewhere; or part of a Potts table."""
    if _is_part_of_potts(table):
        return True
    if table.shape[0] != table.shape[1]:
        return False
    agree = table.diagonal()[:, None] + table.diagonal()[None, :]
    disagree = table + table.T
    return bool((agree <= disagree).all() and (agree < disagree).any())


def _is_part_of_potts(table: NDArray[np.float64]) -> bool:
    """Whether all cells cost the same but some, at most one in a row and in a column, which cost less.

    With two values each, two such cells may be of a table that favours disagreement: these are told by the diagonal.
    """
    cheap = table < table.max()
    if not cheap.any() or cheap.sum(axis=0).max() > 1 or cheap.sum(axis=1).max() > 1:
        return False
    return bool(table.shape != (2, 2) or cheap.sum() == 1)


def is_potts(table: NDArray[np.float64]) -> bool:
    """Whether there is one cost for agreeing and a higher one for any disagreement."""
    if table.shape[0] != table.shape[1]:
        return False
    apart = table[~np.eye(len(table), dtype=bool)]
    same = table.diagonal()
    return bool(len(apart) and (apart == apart[0]).all() and (same == same[0]).all() and same[0] < apart[0])


def is_submodular(table: NDArray[np.float64]) -> bool:
    """Whether the table is submodular in the order of the values; forbidden cells make it not."""
    if np.isinf(table).any():
        return False
    cross = table[:-1, :-1] + table[1:, 1:] - table[:-1, 1:] - table[1:, :-1]
    return bool((cross <= 1e-9 * max(1.0, float(np.abs(table).max(initial=0.0)))).all())


def _share(tables: list[NDArray[np.float64]], count: int, holds: Callable[[NDArray[np.float64]], bool]) -> float:
    return sum(map(holds, tables)) / count if count else 0.0


def _sample(factors: Indices) -> Indices:
    """Some of them, evenly spread."""
    if len(factors) <= SAMPLED_TABLES:
        return factors
    return factors[np.linspace(0, len(factors) - 1, SAMPLED_TABLES).astype(np.int64)]

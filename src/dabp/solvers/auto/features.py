"""What a problem is like, from a cheap look: its kind, its size, its degrees and domains, the shapes of its tables."""

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
from dabp.solvers.local_costs.exchanges import labelled_cliques

SAMPLED_TABLES = 256
"""Factors whose tables `features_of` looks at."""

SAMPLED_VALUES = 128
"""Values of each variable that `features_of` looks at in a table."""


KINDS = ("small", "medium", "large", "image", "binary", "permutation")
"""Kinds of problem that decide the weights of members; see `kind_of`."""

MOSTLY = 0.9
"""Share from which on a problem counts as made of tables of one sort."""


@dataclass(frozen=True)
class Features:
    """Sizes of the whole problem, and shares among a sample of its factors of arity 2."""

    num_variables: int
    num_edges: int
    """Pairs (factor of arity 2 or more, variable of its scope)."""
    num_messages: int
    """Costs in one message along each edge."""
    num_cells: int
    """Cells of the tables of all factors of arity 2 or more; shared tables count for each factor."""
    num_different_cells: int
    """The same, shared tables counted once."""
    largest_domain: int
    largest_arity: int
    degree: float
    """Edges of a variable, on average."""
    attractive: float
    """Share of tables for which agreeing is never worse: T(a, a) + T(b, b) ≤ T(a, b) + T(b, a).

    Of the tables between two of the largest domains, where these are enough to tell. Also what is left of a Potts table
    when presolve has removed values from its two variables."""
    repulsive: float
    """Share of tables in which any agreement costs more than any disagreement, as in colourings."""
    crisp: float
    """Share of tables that forbid something."""
    hard: float
    """Share of all factors of arity 2 or more that forbid something."""
    following: float
    """Share of variables that follow from others, as partial sums do."""
    exchanging: float
    """Share of variables in sets that must all differ and nearly take all values, so that they can only exchange."""


def features_of(problem: Problem) -> Features:
    """Look at a problem: at the tables of `SAMPLED_TABLES` factors at most, and `SAMPLED_VALUES` of each variable."""
    arities, sizes = problem.arities, problem.domain_sizes
    higher = np.flatnonzero(arities >= 2)
    edges = int(arities[higher].sum())
    cells, tables = np.diff(problem.pool_offsets), problem.factor_table[higher]
    used = np.zeros(len(cells), dtype=bool)
    used[tables] = True
    stacks = _stacks(problem, _sample(np.flatnonzero(arities == 2)))
    crisp = _share(stacks, _forbids)
    cliques = derived(problem, labelled_cliques) if crisp else ()
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
        crisp=crisp,
        hard=float(problem.facts.forbidding[tables].mean()) if len(tables) else 0.0,
        following=len(derived(problem, following).definitions) / max(1, problem.num_variables),
        exchanging=sum(len(clique.members) for clique in cliques) / max(1, problem.num_variables),
    )


def kind_of(features: Features) -> tuple[str, str]:
    """The kind of problem, of `KINDS`, and why in words.

    - ``image``: attractive tables on a sparse graph. Its relaxation is nearly tight: the dual comes first, then
      labellings read from it and moves that change many variables at once.
    - ``permutation``: variables that must all differ and nearly take all values: annealing exchanges values.
    - ``binary``: two values each, not attractive, little forbidden: local search makes millions of moves a second.
      Where most is forbidden (independent sets, covers), BP is better.
    - ``large``: from 600 variables on: long runs of BP, reinforced and learned, and annealing.
    - ``medium``: from 150 variables on: slow annealing; single runs of BP vary, tabu search looks at all moves.
    - ``small``: the rest: many short runs of local search and of BP.
    """
    pairwise, count = features.largest_arity <= 2, features.num_variables
    if pairwise and count >= 200 and features.degree <= 30 and features.attractive >= MOSTLY:
        return "image", f"{features.attractive:.0%} of the tables favour agreement: the dual comes first"
    if features.exchanging >= 0.5:
        return "permutation", f"{features.exchanging:.0%} of the variables must all differ: annealing exchanges values"
    if pairwise and features.largest_domain <= 2 and features.crisp < MOSTLY:
        return "binary", "two values a variable: local search comes first"
    if count >= 600:
        return "large", f"{count:,} variables: long runs of belief propagation come first"
    if count >= 150:
        return "medium", f"{count:,} variables: annealing comes first"
    return "small", f"{count:,} variables: local search and short runs of belief propagation"


def _values_along(problem: Problem, edges: int) -> int:
    sizes = problem.domain_sizes
    if len(sizes) and (sizes == sizes[0]).all():
        return edges * int(sizes[0])
    unary = problem.scope_variables[problem.scope_offsets[:-1][problem.arities == 1]]
    return int(sizes[problem.scope_variables].sum()) - int(sizes[unary].sum())


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

    With two values each, two such cells may be of a table that favours disagreement: the diagonal decides there.
    """
    cheap = tables < tables.max(axis=(-2, -1), keepdims=True)
    count = cheap.sum(axis=(-2, -1))
    apart = (cheap.sum(axis=-2).max(axis=-1) <= 1) & (cheap.sum(axis=-1).max(axis=-1) <= 1)
    return np.asarray(apart & ((count == 1) if tables.shape[-2:] == (2, 2) else (count > 0)))


def is_repulsive(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether agreeing on any value costs more than disagreeing on any two; of tables [..., D, D]."""
    size = tables.shape[-1]
    if tables.shape[-2] != size or size < 2:
        return np.zeros(tables.shape[:-2], dtype=bool)
    apart = tables[..., ~np.eye(size, dtype=bool)]
    return np.asarray(tables.diagonal(axis1=-2, axis2=-1).min(axis=-1) > apart.max(axis=-1))


def _forbids(tables: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.isinf(tables).any(axis=(-2, -1)))


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
    """Tables between two of the largest domains, which presolve left whole, if there are at least 8."""
    largest = max((max(stack.tables.shape[1:]) for stack in stacks), default=0)
    whole = [stack for stack in stacks if min(stack.tables.shape[1:]) == largest]
    return whole if sum(int(stack.users.sum()) for stack in whole) >= 8 else stacks


def _spread(size: int) -> Indices:
    """The values of a domain that are looked at, evenly spread."""
    return np.linspace(0, size - 1, min(size, SAMPLED_VALUES)).astype(np.int64)


def _share(stacks: list[_Stack], holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]]) -> float:
    count = sum(int(stack.users.sum()) for stack in stacks)
    return sum(int(stack.users[holds(stack.tables)].sum()) for stack in stacks) / count if count else 0.0


def _sample(factors: Indices) -> Indices:
    if len(factors) <= SAMPLED_TABLES:
        return factors
    return factors[np.linspace(0, len(factors) - 1, SAMPLED_TABLES).astype(np.int64)]

"""Hard constraints: factors that forbid something, those of one name together, and problems with some of them only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.facts import minimized


@dataclass(frozen=True)
class Constraint:
    """Something that can be violated: a factor with forbidden combinations, or several of one name."""

    name: str
    factors: tuple[int, ...]


def hard_tables(problem: Problem) -> NDArray[np.bool_]:
    """Whether each table forbids something, [T]."""
    return np.asarray(problem.facts.per_table(np.logical_or, np.isinf(problem.pool)), dtype=np.bool_)


def hard_constraints(problem: Problem) -> list[Constraint]:
    """What can be violated, in order; definitions of auxiliary variables hold by themselves and are none."""
    hard = hard_tables(problem)[problem.factor_table]
    hard[problem.auxiliaries.definitions] = False
    found: dict[str, list[int]] = {}
    for factor in np.flatnonzero(hard).tolist():
        found.setdefault(problem.names.factor(factor), []).append(factor)
    return [Constraint(name, tuple(factors)) for name, factors in found.items()]


def violated(problem: Problem, constraints: Sequence[Constraint], assignment: ArrayLike) -> list[Constraint]:
    """Those that an assignment violates."""
    broken = np.isinf(problem.factor_costs(assignment))
    return [one for one in constraints if broken[list(one.factors)].any()]


def with_only(problem: Problem, constraints: Iterable[Constraint]) -> Problem:
    """The problem with these hard constraints and no others.

    Costs are 0, except where a limit on the total makes them part of what is feasible: what was forbidden then costs as
    little as anything of its table.
    """
    kept = np.zeros(problem.num_factors, dtype=np.bool_)
    kept[problem.auxiliaries.definitions] = True
    for one in constraints:
        kept[list(one.factors)] = True
    least = minimized(problem)
    if problem.limit is not None:
        return _softened(least, kept)
    chosen = np.flatnonzero(kept)
    place = np.cumsum(kept) - 1
    definitions = place[problem.auxiliaries.definitions]
    statements = [
        one._replace(factors=tuple(place[list(one.factors)].tolist()))
        for one in problem.auxiliaries.statements
        if one.factors and one.function.hard and kept[list(one.factors)].all()
    ]
    return Problem(
        problem.domain_sizes,
        problem.scope_variables[ragged_positions(problem.scope_offsets, chosen)],
        offsets_of(problem.arities[chosen]),
        np.where(np.isinf(problem.pool), np.inf, 0.0),
        problem.pool_offsets,
        problem.factor_table[chosen],
        variable_names=problem.names.variable_names,
        labels=problem.names.value_labels,
        name=problem.name,
        keys=problem.names.keys,
        definitions=definitions,
        statements=statements,
    )


def _softened(problem: Problem, kept: NDArray[np.bool_]) -> Problem:
    """A minimisation with all its costs, and nothing forbidden but by the factors that are kept."""
    finite = np.where(np.isinf(problem.pool), np.inf, problem.pool)
    lowest = problem.facts.per_table(np.minimum, finite)
    lowest[np.isinf(lowest)] = 0.0
    soft = np.where(np.isinf(problem.pool), np.repeat(lowest, np.diff(problem.pool_offsets)), problem.pool)
    tables: Indices = problem.factor_table + np.where(kept, 0, len(problem.pool_offsets) - 1)
    lengths = np.diff(problem.pool_offsets)
    return problem.replace(
        pool=np.concatenate([problem.pool, soft]),
        pool_offsets=offsets_of(np.concatenate([lengths, lengths])),
        factor_table=tables,
    )

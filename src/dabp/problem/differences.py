"""A problem whose answers differ from given ones in at least some number of variables.

For each given answer a the number of variables in which x differs is counted by a chain of auxiliary variables,

    s_i = min(h, s_{i−1} + [x_i ≠ a_i]),

and what ends below h is forbidden. The tables depend on the domain size and the value a_i alone, and are shared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, offsets_of


def differing(problem: Problem, answers: Sequence[Assignment], distance: int, among: Indices) -> Problem:
    """`problem` restricted to assignments that differ from each answer in at least `distance` of the variables `among`.

    Costs, direction and visible variables stay the same; new auxiliary variables come last.
    """
    worst = -np.inf if problem.maximize else np.inf
    scopes: list[list[int]] = []
    tables: list[int] = []
    definitions: list[int] = []
    pool: dict[tuple[int, int, int, bool], int] = {}
    cells: list[np.ndarray] = []
    sizes = problem.domain_sizes.tolist()

    def table(before: int, size: int, value: int, last: bool) -> int:
        """The number of a chain's table: states before, domain size, the answer's value, and whether it is the last."""
        key = (before, size, value, last)
        if key not in pool:
            states = np.arange(before)[:, None] + (np.arange(size) != value)
            states = np.minimum(states, distance)
            if last:
                new = np.where(states < distance, worst, 0.0)
            else:
                new = np.where(np.arange(distance + 1) == states[..., None], 0.0, worst)
            pool[key] = len(problem.pool_offsets) - 1 + len(cells)
            cells.append(new.ravel())
        return pool[key]

    for answer in answers:
        state: list[int] = []
        for i, variable in enumerate(among.tolist()):
            last = i == len(among) - 1
            before = distance + 1 if state else 1
            tables.append(table(before, int(problem.domain_sizes[variable]), int(answer[variable]), last))
            scope = [*state, variable]
            if not last:
                state = [len(sizes)]
                sizes.append(distance + 1)
                scope += state
                definitions.append(problem.num_factors + len(scopes))
            scopes.append(scope)
    arities = np.concatenate([problem.arities, [len(scope) for scope in scopes]])
    lengths = np.concatenate([np.diff(problem.pool_offsets), [len(part) for part in cells]])
    names = problem.names
    added = len(sizes) - problem.num_variables
    hidden = _free_names(problem, added)
    return Problem(
        sizes,
        np.concatenate([problem.scope_variables, *(np.array(scope) for scope in scopes)]),
        offsets_of(arities.astype(np.int64)),
        np.concatenate([problem.pool, *cells]),
        offsets_of(lengths.astype(np.int64)),
        np.concatenate([problem.factor_table, tables]),
        constant=problem.constant,
        maximize=problem.maximize,
        variable_names=None if names.variable_names is None else [*names.variables, *hidden],
        labels=None if names.value_labels is None else [*names.value_labels, *([None] * added)],
        limit=problem.limit,
        name=problem.name,
        keys=None if names.keys is None else [*names.keys, *hidden],
        definitions=np.concatenate([problem.auxiliaries.definitions, definitions]),
    )


def _free_names(problem: Problem, count: int) -> list[str]:
    """Names that no variable has."""
    taken = set(problem.names.variables)
    candidates = (f"difference{number}" for number in range(1, count + len(taken) + 1))
    return [name for name in candidates if name not in taken][:count]

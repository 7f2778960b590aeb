"""A problem whose answers differ from given ones in at least some number of variables.

For each given answer a the number of variables in which x differs is counted by a chain of auxiliary variables,

    s_i = min(h, s_{i−1} + [x_i ≠ a_i]),

and what ends below h is forbidden. The tables depend on the domain size and the value a_i alone, and are shared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, offsets_of


class _Tables:
    """The different tables of the chains, after those of the problem."""

    def __init__(self, problem: Problem, distance: int):
        self._worst = -np.inf if problem.maximize else np.inf
        self._first, self._distance = len(problem.pool_offsets) - 1, distance
        self._numbers: dict[tuple[int, int, int, bool], int] = {}
        self.cells: list[NDArray[np.float64]] = []

    def number(self, before: int, size: int, value: int, last: bool) -> int:
        """The table for this many states before, a domain size and the answer's value; the last one ends the chain."""
        key = (before, size, value, last)
        if key not in self._numbers:
            states = np.minimum(np.arange(before)[:, None] + (np.arange(size) != value), self._distance)
            allowed = states == self._distance if last else np.arange(self._distance + 1) == states[..., None]
            self._numbers[key] = self._first + len(self.cells)
            self.cells.append(np.where(allowed, 0.0, self._worst).ravel())
        return self._numbers[key]


def differing(problem: Problem, answers: Sequence[Assignment], distance: int, among: Indices) -> Problem:
    """`problem` restricted to assignments that differ from each answer in at least `distance` of the variables `among`.

    Costs, direction and visible variables stay the same; new auxiliary variables come last.
    """
    tables, sizes = _Tables(problem, distance), problem.domain_sizes.tolist()
    scopes: list[list[int]] = []
    used: list[int] = []
    definitions: list[int] = []
    for answer in answers:
        state: list[int] = []
        for variable in among.tolist():
            last = variable == int(among[-1])
            before = distance + 1 if state else 1
            used.append(tables.number(before, sizes[variable], int(answer[variable]), last))
            scope = [*state, variable]
            if not last:
                state = [len(sizes)]
                sizes.append(distance + 1)
                scope += state
                definitions.append(problem.num_factors + len(scopes))
            scopes.append(scope)
    return _extended(problem, sizes, scopes, used, tables.cells, definitions)


def _extended(
    problem: Problem,
    sizes: list[int],
    scopes: list[list[int]],
    used: list[int],
    cells: list[NDArray[np.float64]],
    definitions: list[int],
) -> Problem:
    """`problem` with more auxiliary variables, and factors that use these tables."""
    arities = np.concatenate([problem.arities, [len(scope) for scope in scopes]])
    lengths = np.concatenate([np.diff(problem.pool_offsets), [len(part) for part in cells]])
    names, added = problem.names, len(sizes) - problem.num_variables
    hidden = _free_names(problem, added)
    return Problem(
        sizes,
        np.concatenate([problem.scope_variables, *(np.array(scope) for scope in scopes)]),
        offsets_of(arities.astype(np.int64)),
        np.concatenate([problem.pool, *cells]),
        offsets_of(lengths.astype(np.int64)),
        np.concatenate([problem.factor_table, used]),
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

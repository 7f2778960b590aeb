"""Which variables follow from others: partial sums, counts, copies, whatever a table leaves one value of.

A variable *follows* from a factor if for any values of the factor's other variables at most one of its own is allowed.
Sums stated through partial sums are chains of such factors. A search that changes one variable at a time is stuck
there, as all later partial sums would have to change as well; a search that moves free variables and recomputes the
others is not.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import Indices, cells_of_tables, offsets_of

MOST_FACTORS = 10_000
"""Factors that may define a variable; with more of them no variable follows."""
MOST_CELLS = 50_000_000
"""Cells of tables that forbid something; with more of them no variable follows."""


class Definition(NamedTuple):
    """A variable that follows, the factor that determines it, and its place in the scope of that factor."""

    variable: int
    factor: int
    place: int


class Following(NamedTuple):
    """The variables that follow from others, each after those that it follows from, and the rest."""

    definitions: list[Definition]
    free: Indices


def following(problem: Problem) -> Following:
    """Choose free variables greedily, as few as possible, from which all others follow.

    Variables that alone determine most others come first, then the problem's order, in which auxiliary variables are
    last.
    """
    places = _places(problem)
    if not places:
        return Following([], np.arange(problem.num_variables))
    scopes = {factor: problem.scope_variables[slice(*problem.scope_offsets[factor : factor + 2])] for factor in places}
    at: dict[int, list[int]] = {}
    alone = np.zeros(problem.num_variables, dtype=np.int64)
    for factor, scope in scopes.items():
        for variable in scope.tolist():
            at.setdefault(variable, []).append(factor)
        if len(scope) == 2:
            for place in places[factor]:
                alone[scope[1 - place]] += 1
    unknown = {factor: len(scope) for factor, scope in scopes.items()}
    known = np.ones(problem.num_variables, dtype=bool)  # variables of no such factor are free
    known[list(at)] = False
    order = np.argsort(-alone, kind="stable")
    definitions: list[Definition] = []
    free = np.flatnonzero(known).tolist()
    for first in order[~known[order]].tolist():
        if known[first]:
            continue
        free.append(first)
        known[first] = True
        waiting = deque([first])
        while waiting:
            for factor in at.get(waiting.popleft(), ()):
                unknown[factor] -= 1
                if unknown[factor] != 1:
                    continue
                place = int(np.flatnonzero(~known[scopes[factor]])[0]) if not known[scopes[factor]].all() else -1
                if place in places[factor]:
                    variable = int(scopes[factor][place])
                    known[variable] = True
                    definitions.append(Definition(variable, factor, place))
                    waiting.append(variable)
    return Following(definitions, np.sort(np.array(free, dtype=np.int64)))


def _places(problem: Problem) -> dict[int, tuple[int, ...]]:
    """The factors from which a variable follows, and the places of such variables in their scopes."""
    sizes, forbidding = np.diff(problem.pool_offsets), np.flatnonzero(problem.facts.forbidding)
    if not len(forbidding) or int(sizes[forbidding].sum()) > MOST_CELLS:
        return {}
    allowed = sizes.copy()
    cells = np.isfinite(cells_of_tables(problem, forbidding))
    allowed[forbidding] = np.add.reduceat(cells, offsets_of(sizes[forbidding])[:-1], dtype=np.int64)
    chosen = np.flatnonzero((2 * allowed <= sizes)[problem.factor_table] & (problem.arities >= 2))
    if len(chosen) > MOST_FACTORS:
        return {}
    found: dict[tuple[int, tuple[int, ...]], tuple[int, ...]] = {}
    result = {}
    for factor in chosen.tolist():
        scope = problem.scope_variables[slice(*problem.scope_offsets[factor : factor + 2])]
        number, shape = int(problem.factor_table[factor]), tuple(problem.domain_sizes[scope].tolist())
        key = (number, shape)
        if key not in found:
            found[key] = _functional(problem, number, shape, int(allowed[number]))
        if found[key] and len(set(scope.tolist())) == len(scope):
            result[factor] = found[key]
    return result


def _functional(problem: Problem, number: int, shape: tuple[int, ...], allowed: int) -> tuple[int, ...]:
    """The axes of a table along which at most one cell of each line is allowed."""
    size = int(np.prod(shape))
    candidates = [axis for axis, length in enumerate(shape) if length > 1 and allowed * length <= size]
    if not candidates:
        return ()
    cells = np.isfinite(problem.pool[slice(*problem.pool_offsets[number : number + 2])]).reshape(shape)
    return tuple(axis for axis in candidates if int(cells.sum(axis=axis).max()) <= 1)

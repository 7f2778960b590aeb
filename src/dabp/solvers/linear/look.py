"""What the linear rows of a problem's statements show before anything else is tried.

Whether they contradict each other, and which ones do; a lower bound; an assignment, by fixing variables one part after
the other to the values that the solutions have most of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

import numpy as np

from dabp.packages import installed
from dabp.problem import Assignment, Problem
from dabp.problem.facts import minimized
from dabp.problem.guard import Guard
from dabp.solvers.base import BLOCK_SECONDS
from dabp.solvers.linear.bound import lower_bound
from dabp.solvers.linear.highs import Highs
from dabp.solvers.linear.program import Floats, Program, Tables, program_of

SHARE = 0.2
"""Share of the time left that it may take, where that is more than `LEAST_SECONDS`."""

LEAST_SECONDS = 1.0
"""Time left from which on it is tried: HiGHS starts in some tenths of a second."""

PART = 0.2
"""Part of the variables without a clear value that are fixed before the next program is solved."""

CLEAR = 1.0 - 1e-6
"""The least value of a column that counts as 1."""


class Look(NamedTuple):
    """What is found; costs are those of a minimisation."""

    names: frozenset[str] | None = None
    """Statements whose rows, with those of cliques and tables, have no solution; None if that is not shown."""
    bound: float = -math.inf
    assignment: Assignment | None = None
    """The best assignment that was found, forbidden or not; None if there is none."""


def first_look(problem: Problem, fixed: Mapping[int, int], guard: Guard) -> Look:
    """Rows alone first, then with the tables of visible variables; nothing for a problem without statements."""
    left = guard.seconds_left
    if not problem.auxiliaries.statements or not installed("highspy") or not LEAST_SECONDS <= left < math.inf:
        return Look()
    guard = guard.within(max(SHARE * left, min(LEAST_SECONDS, 0.5 * left)))
    with closing(Highs()) as highs:
        found = look(problem, highs, guard, fixed)
        if found.names is None and not guard.over:
            more = look(problem, highs, guard, fixed, tables=Tables.VISIBLE, dive=True)
            bound = max(found.bound, more.bound)
            found = Look(more.names, bound, found.assignment if more.assignment is None else more.assignment)
    return found


def look(
    problem: Problem,
    highs: Highs,
    guard: Guard,
    fixed: Mapping[int, int],
    *,
    tables: Tables = Tables.NONE,
    dive: bool = False,
) -> Look:
    """Solve the relaxation of a problem with some variables fixed."""
    program = program_of(problem, guard, tables=tables)
    for variable, value in fixed.items():
        _fix(program, program.upper, variable, value)
    if guard.over or not len(program.low):
        return Look()
    highs.start(program, guard.seconds_left)
    if not _waited(highs, guard):
        return Look()
    if infeasible(program, highs):
        assert highs.multipliers is not None
        used = np.flatnonzero(np.abs(highs.multipliers[: len(program.origin)]) > 1e-9)
        return Look(frozenset(program.origin[row] for row in used.tolist()))
    bound = -math.inf
    if highs.multipliers is not None and not highs.infeasible:
        bound = lower_bound(program, highs.multipliers)
    if highs.values is None:
        return Look(bound=bound)
    if dive:
        return Look(bound=bound, assignment=_dived(problem, program, highs, guard))
    return Look(bound=bound, assignment=rounded(problem, program, highs.values))


def infeasible(program: Program, highs: Highs) -> bool:
    """Whether the multipliers prove that the program has no solution; either sign of a ray may be the one."""
    if not highs.infeasible or highs.multipliers is None:
        return False
    return any(lower_bound(program, sign * highs.multipliers, costs=False) > 0 for sign in (1.0, -1.0))


def rounded(problem: Problem, program: Program, values: Floats) -> Assignment:
    """The value of each variable that has most of it, auxiliary ones as they follow."""
    parts = np.split(values[: program.num_values], program.starts[1:-1])
    chosen = [int(np.argmax(part)) for part in parts if len(part)]
    return problem.auxiliaries.completed(np.array(chosen, dtype=np.int64))


def _dived(problem: Problem, program: Program, highs: Highs, guard: Guard) -> Assignment:
    """Fix the clearest of the unclear variables, and solve again, until all are clear; the best rounded assignment."""
    least = minimized(problem)
    upper = program.upper.copy()
    best, best_cost = None, math.inf
    while highs.values is not None:
        assignment = rounded(problem, program, highs.values)
        cost = float(least.cost(assignment))
        if best is None or cost < best_cost:
            best, best_cost = assignment, cost
        visible = program.starts[: problem.auxiliaries.num_visible + 1]
        largest = np.maximum.reduceat(highs.values[: visible[-1]], visible[:-1]) if len(visible) > 1 else np.zeros(0)
        unclear = np.flatnonzero(largest < CLEAR)
        if not len(unclear) or guard.over:
            break
        order = unclear[np.argsort(-largest[unclear], kind="stable")]
        for variable in order[: max(1, int(PART * len(order)))].tolist():
            _fix(program, upper, variable, int(assignment[variable]))
        highs.again(upper, guard.seconds_left)
        if not _waited(highs, guard):
            break
    assert best is not None
    return best


def _fix(program: Program, upper: Floats, variable: int, value: int) -> None:
    """Leave a variable this value alone."""
    first, end = int(program.starts[variable]), int(program.starts[variable + 1])
    kept = upper[first + value]
    upper[first:end] = 0.0
    upper[first + value] = kept


def _waited(highs: Highs, guard: Guard) -> bool:
    """Wait until HiGHS has ended; False if the guard ends that."""
    while not highs.wait(BLOCK_SECONDS):
        if guard.over:
            return False
    return True

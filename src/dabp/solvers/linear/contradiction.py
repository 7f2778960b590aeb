"""Whether linear rows show that a problem has no assignment, and which of its constraints they need for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dabp.packages import installed
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import BLOCK_SECONDS
from dabp.solvers.linear.bound import lower_bound
from dabp.solvers.linear.highs import Run
from dabp.solvers.linear.program import Floats, Program, Tables, program_of

SHARE = 0.2
"""Share of the time left that the rows of statements may take."""


def infeasible(program: Program, run: Run) -> bool:
    """Whether the multipliers of a run prove that its program has no solution; either sign of a ray may be the one."""
    if not run.infeasible or run.multipliers is None:
        return False
    return any(lower_bound(program, sign * run.multipliers, costs=False) > 0 for sign in (1.0, -1.0))


def rows_contradict(problem: Problem, fixed: Mapping[int, int], guard: Guard) -> bool:
    """Whether the linear rows of statements alone show that there is no assignment; False where that is not clear."""
    if not problem.auxiliaries.statements or not installed("highspy"):
        return False
    return look(problem, guard.within(SHARE * guard.seconds_left), fixed).names is not None


class Look(NamedTuple):
    """What the linear rows of a problem show."""

    names: frozenset[str] | None = None
    """Statements whose rows, with those of cliques, have no solution; None if that is not shown."""
    assignment: Assignment | None = None
    """A solution of the rows, rounded; None if there is none."""


def look(problem: Problem, guard: Guard, fixed: Mapping[int, int] | None = None) -> Look:
    """Solve the linear rows of a problem, with some variables fixed."""
    program = program_of(problem, guard, tables=Tables.NONE)
    for variable, value in (fixed or {}).items():
        first = int(program.starts[variable])
        chosen = program.upper[first + value]
        program.upper[first : int(program.starts[variable + 1])] = 0.0
        program.upper[first + value] = chosen
    if guard.over or not len(program.low):
        return Look()
    run = Run(program, guard.seconds_left)
    try:
        while not run.wait(BLOCK_SECONDS):
            if guard.over:
                return Look()
    finally:
        run.close()
    if not infeasible(program, run):
        return Look(assignment=None if run.values is None else rounded(problem, program, run.values))
    assert run.multipliers is not None
    used = np.flatnonzero(np.abs(run.multipliers[: len(program.origin)]) > 1e-9)
    return Look(frozenset(program.origin[row] for row in used.tolist()))


def rounded(problem: Problem, program: Program, values: Floats) -> Assignment:
    """The value of each variable that has most of it, auxiliary ones as they follow."""
    parts = np.split(values[: program.num_values], program.starts[1:-1])
    chosen = [int(np.argmax(part)) for part in parts if len(part)]
    return problem.auxiliaries.completed(np.array(chosen, dtype=np.int64))

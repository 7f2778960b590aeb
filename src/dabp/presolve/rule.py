"""What a presolve rule is: a way to a smaller problem, and back from its assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from dabp.presolve.effort import Efforts
from dabp.problem import Problem
from dabp.problem.columns import Indices
from dabp.problem.reduction import Reduction

MANY_VALUES = 20_000
"""A problem with this many values is only reduced where that removes a part of at least `NEGLIGIBLE`: rebuilding takes
longer than it saves, and domains or tables that were equal become different, which slows all solvers down."""

NEGLIGIBLE = 0.1
"""The part of the variables or values that is too small to be worth a reduction of a large problem."""


def has_many_values(problem: Problem) -> bool:
    """Whether small reductions of the problem are not worthwhile."""
    return int(problem.domain_sizes.sum()) >= MANY_VALUES


class InfeasibleError(Exception):
    """A rule has proved that no assignment is feasible."""


class Stage(Reduction, Protocol):
    """A problem reduced by a rule; a feasible assignment, projected, stays feasible and never costs more."""

    variables: Indices
    """The variables that are left, in their original numbers."""
    removed: int
    """Variables or values that the rule removed."""


class Rule(NamedTuple):
    """An exact simplification of a problem, by name."""

    counts: str
    """The name in `Facts` of the number of variables or values removed."""
    reduce: Callable[[Problem, Efforts], Stage | None]
    """The problem reduced, or None if the rule does not apply; raises `InfeasibleError`."""
    repeats: bool = False
    """Whether one call can make the next one possible."""

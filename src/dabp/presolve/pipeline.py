"""Exact simplifications before a solve, undone on the answer.

    merge factors → { remove unsupported values → identify variables that follow from others
                      → eliminate variables of small degree → remove dominated values } …

until nothing changes or enough work was done (`effort`); components with few assignments are then solved outright.
Each technique is a file of this package; `presolve` puts them in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.graph.components import component_labels
from dabp.presolve.consistency import supported_values
from dabp.presolve.dominance import undominated_values
from dabp.presolve.effort import CELLS_PER_ENTRY, READ_PER_SECOND, Effort, Efforts
from dabp.presolve.elimination import Eliminated, in_small_components
from dabp.presolve.identification import Identified
from dabp.presolve.merging import MAX_UNSHARING, merge_factors
from dabp.presolve.restriction import Restricted
from dabp.presolve.sharing import sharing
from dabp.problem import Assignment, Label, Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.facts import minimized
from dabp.problem.guard import Guard

__all__ = ["Facts", "Presolved", "presolve"]

MAX_ROUNDS = 20
MOST_READING = 0.5
"""The part of the time left that reading the problem once may take."""
DOMINATED_CELLS, UNSUPPORTED_CELLS = 1_000_000, 10_000_000
"""Values are only taken away if tables grow at most `MAX_UNSHARING` times, as shared ones become different, or if they
have at most this many cells afterwards; impossible values are worth more memory than dear ones."""
LARGE_VALUES, NEGLIGIBLE = 200_000, 0.1
"""From so many values on, what would take away less than this part of the variables, or of the values, is left: to
rebuild the problem for it takes longer than it saves, and tables of many sizes are slower than those of one."""
MANY_VALUES = 20_000
"""From so many values on, dominated ones are left where they are less than `NEGLIGIBLE` of all: without them tables
that were alike differ, and a label no longer has the same place in all domains, which moves by minimum cuts need.
Variables that could be minimised out are left as well where they are so few: the corners of an image would make its
only factors of three variables."""
SAMPLE = 5_000
"""Variables that are looked at first, where all would be many."""


@dataclass
class Facts:
    """What presolve did, in numbers."""

    variables: tuple[int, int] = (0, 0)
    """Before and after."""
    factors: tuple[int, int] = (0, 0)
    """Before and after."""
    unsupported_values: int = 0
    dominated_values: int = 0
    eliminated_variables: int = 0
    identified_variables: int = 0
    """Variables that are a function of another."""
    fixed_variables: int = 0
    """Variables with one value left."""
    components: int = 0
    infeasible: bool = False
    skipped: bool = False
    """Whether there was no time to read the problem."""

    def line(self) -> str:
        """One sentence for people."""
        if self.infeasible:
            return "presolve proved that there is no feasible assignment"
        if self.skipped:
            return "presolve was left out, as reading the problem would take too much of the time"
        facts = [
            (self.fixed_variables, "variables fixed"),
            (self.eliminated_variables, "variables eliminated"),
            (self.identified_variables, "that follow from others"),
            (self.unsupported_values, "impossible values"),
            (self.dominated_values, "dominated values"),
        ]
        done = ", ".join(f"{count:,} {what}" for count, what in facts if count)
        size = "{:,} → {:,} variables, {:,} → {:,} factors".format(*self.variables, *self.factors)
        parts = f", {self.components:,} components" if self.components > 1 else ""
        changed = bool(done) or self.factors[0] != self.factors[1]
        if not changed:
            return f"presolve: nothing to remove{parts}"
        return f"presolve: {size}{f' ({done})' if done else ''}{parts}"


class Presolved:
    """A presolved problem: a `Reduction` with facts.

    `problem` has no names or labels (solvers need none); `named` gives it those of the original. If `infeasible`,
    `problem` is only a stand-in.
    """

    def __init__(self, original: Problem):
        self._original = original
        self._stages: list[Restricted | Eliminated | Identified] = []
        self.problem = original
        told = (
            original.names.variable_names
            or original.names.value_labels
            or original.names.factor_names
            or original.names.keys is not None
        )
        if told or len(original.auxiliaries.definitions):  # otherwise it would be checked anew for nothing
            self.problem = original.replace(variable_names=None, labels=None, factor_names=None)
        self.infeasible = False
        self.facts = Facts()

    @property
    def summary(self) -> tuple[str, ...]:
        """What was done, for the notes of a solve."""
        return (self.facts.line(),)

    def lift(self, assignment: Assignment) -> Assignment:
        """From the presolved problem to the original."""
        for stage in reversed(self._stages):
            assignment = stage.lift(assignment)
        return np.asarray(assignment, dtype=np.int64)

    def project(self, assignment: Assignment) -> Assignment:
        """From the original to the presolved problem; a feasible assignment stays so and never costs more."""
        for stage in self._stages:
            assignment = stage.project(assignment)
        return np.asarray(assignment, dtype=np.int64)

    def apply(self, stage: Restricted | Eliminated | Identified) -> None:
        """Add a stage, and merge what it brought together."""
        self._stages.append(stage)
        self.problem = merge_factors(stage.problem)

    def named(self) -> Problem:
        """The presolved problem with the original's direction, names and labels of what is left of it."""
        variables, values, starts = self._origins()
        original, reduced = self._original, self.problem
        labels: list[tuple[Label, ...] | None] = []
        for position, variable in enumerate(variables.tolist()):
            kept = values[starts[position] : starts[position + 1]].tolist()
            whole = original.names.labels(variable)
            labels.append(tuple(whole[value] for value in kept))
        return reduced.replace(
            pool=-reduced.pool if original.maximize else reduced.pool,
            constant=-reduced.constant if original.maximize else reduced.constant,
            maximize=original.maximize,
            limit=original.limit,
            variable_names=[original.names.variable(v) for v in variables.tolist()],
            labels=labels,
        )

    def _origins(self) -> tuple[Indices, Indices, Indices]:
        """The original variable of each variable, the original value of each value, and where each one's start."""
        sizes = self._original.domain_sizes
        variables = np.arange(len(sizes))
        values, starts = np.arange(sizes.sum()) - np.repeat(offsets_of(sizes)[:-1], sizes), offsets_of(sizes)
        for stage in self._stages:
            if isinstance(stage, Restricted):
                values = values[np.repeat(starts[:-1], np.diff(stage.kept_starts)) + stage.kept_values]
                starts = stage.kept_starts
            values = values[ragged_positions(starts, stage.variables)]
            starts = offsets_of(np.diff(starts)[stage.variables])
            variables = variables[stage.variables]
        return variables, values, starts


def presolve(problem: Problem, *, solve_small: bool = True, guard: Guard | None = None) -> Presolved:
    """Simplify a problem exactly: its optimum, lifted, is an optimum of the original at the same cost.

    Parameters
    ----------
    problem
        Any problem; a maximisation is negated first, and the presolved problem is a minimisation.
    solve_small
        Whether components with few assignments are eliminated entirely at the end.
    guard
        Ends it before it has done all it could; what it did until then is exact. Where even reading the problem
        would take most of the time that is left, nothing is done.
    """
    guard = guard or Guard()
    result = Presolved(minimized(problem))
    result._original = problem
    facts, efforts = result.facts, Efforts(problem, guard.seconds_left)
    size = len(problem.pool) // CELLS_PER_ENTRY + len(problem.scope_variables)
    if guard.over or size > MOST_READING * READ_PER_SECOND * guard.seconds_left:
        facts.skipped = True
        facts.variables, facts.factors = (problem.num_variables,) * 2, (problem.num_factors,) * 2
        return result
    result.problem = merge_factors(result.problem)
    for _ in range(MAX_ROUNDS):
        if guard.over:
            break
        stages = len(result._stages)
        kept = supported_values(result.problem, efforts.propagation)
        if kept is None:
            result.infeasible = True
            break
        facts.unsupported_values += _restrict(result, kept, UNSUPPORTED_CELLS)
        while (identified := Identified(result.problem)).count:  # chains take several rounds
            facts.identified_variables += identified.count
            result.apply(identified)
        if guard.over or not _eliminate(result, efforts.elimination, components=False):
            break
        if guard.over:
            break
        if _promising(result.problem, efforts.dominance):
            kept, replacement = undominated_values(result.problem, efforts.dominance)
            facts.dominated_values += _restrict(result, kept, DOMINATED_CELLS, replacement, NEGLIGIBLE)
        efforts.rounds.left -= len(result.problem.pool) + len(result.problem.scope_variables)
        if len(result._stages) == stages or efforts.rounds.left < 0:
            break
    if solve_small and not result.infeasible and not guard.over:
        least = NEGLIGIBLE * result.problem.num_variables if _large(result.problem) else 0
        if in_small_components(result.problem) > least:
            _eliminate(result, efforts.elimination, components=True)
    return _described(result, problem)


def _described(result: Presolved, problem: Problem) -> Presolved:
    """The result with the facts about it."""
    facts, left = result.facts, result.problem
    facts.infeasible = result.infeasible
    gone = facts.eliminated_variables + facts.identified_variables
    facts.fixed_variables = problem.num_variables - left.num_variables - gone
    facts.variables = (problem.num_variables, left.num_variables)
    facts.factors = (problem.num_factors, left.num_factors)
    facts.components = component_labels(left)[1]
    return result


def _eliminate(result: Presolved, effort: Effort, *, components: bool) -> bool:
    """Minimise variables out; False if that proved infeasibility."""
    problem = result.problem
    many = int(problem.domain_sizes.sum()) >= MANY_VALUES
    least = int(NEGLIGIBLE * problem.num_variables) if many and not components else 0
    eliminated = Eliminated(problem, components=components, effort=effort, least=least)
    if eliminated.infeasible:
        result.infeasible = True
    elif eliminated.count and eliminated.problem is not result.problem:
        result.facts.eliminated_variables += eliminated.count
        result.apply(eliminated)
    return not result.infeasible


def _large(problem: Problem) -> bool:
    return int(problem.domain_sizes.sum()) >= LARGE_VALUES


def _promising(problem: Problem, effort: Effort) -> bool:
    """Whether dominated values may be worth their removal: where there are many a sample of variables tells."""
    if int(problem.domain_sizes.sum()) < MANY_VALUES:
        return True
    step = max(1, problem.num_variables // SAMPLE)
    kept, _ = undominated_values(problem, effort, np.arange(0, problem.num_variables, step))
    return bool((~kept).mean() >= NEGLIGIBLE)


def _restrict(
    result: Presolved,
    kept: NDArray[np.bool_],
    max_cells: int,
    replacement: Indices | None = None,
    least: float = 0.0,
) -> int:
    """Take values away, and variables that have one value; returns how many values.

    On a large problem nothing is done for less than a part `least` of the values.
    """
    problem = result.problem
    if not kept.all() and sharing(problem, kept).cells > max(max_cells, MAX_UNSHARING * len(problem.pool)):
        kept, replacement = np.ones_like(kept), None
    if _large(problem) and (~kept).mean() < least:
        kept, replacement = np.ones_like(kept), None
    if kept.all() and (problem.domain_sizes > 1).all():
        return 0
    result.apply(Restricted(problem, kept, replacement))
    return int((~kept).sum())

"""Exact simplifications before a solve, undone on the answer.

    merge factors → { remove unsupported values → identify variables that follow from others
                      → eliminate variables of small degree → remove dominated values } …

until nothing changes or the effort ends; small components are then eliminated. Each rule is a file of this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dabp.graph.components import component_labels
from dabp.presolve.carrying import carried, contradicts
from dabp.presolve.consistency import unsupported_values
from dabp.presolve.dominance import dominated_values
from dabp.presolve.effort import Efforts, reading_seconds
from dabp.presolve.elimination import small_components, small_degree
from dabp.presolve.identification import following_variables
from dabp.presolve.merging import merge_factors
from dabp.presolve.restriction import Restricted
from dabp.presolve.rule import InfeasibleError, Rule, Stage
from dabp.problem import Assignment, Label, Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.facts import minimized
from dabp.problem.globals import Posted
from dabp.problem.guard import Guard

__all__ = ["Facts", "Presolved", "presolve"]

RULES = (
    Rule("unsupported_values", unsupported_values),
    Rule("identified_variables", following_variables, repeats=True),
    Rule("eliminated_variables", small_degree),
    Rule("dominated_values", dominated_values),
)
"""The rules of a round, in order."""


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
    """Whether there was too little time, or none."""

    def line(self) -> str:
        """One sentence for people."""
        if self.infeasible:
            return "presolve proved that there is no feasible assignment"
        if self.skipped:
            return "presolve was left out: too little time is left for it"
        facts = [
            (self.fixed_variables, "variable{s} fixed"),
            (self.eliminated_variables, "variable{s} eliminated"),
            (self.identified_variables, "that follow{verb} from others"),
            (self.unsupported_values, "impossible value{s}"),
            (self.dominated_values, "dominated value{s}"),
        ]
        endings = {True: {"s": "", "verb": "s"}, False: {"s": "s", "verb": ""}}
        done = ", ".join(f"{count:,} {what.format(**endings[count == 1])}" for count, what in facts if count)
        size = "{:,} → {:,} variables, {:,} → {:,} factors".format(*self.variables, *self.factors)
        parts = f", {self.components:,} components" if self.components > 1 else ""
        changed = bool(done) or self.factors[0] != self.factors[1]
        if not changed:
            return f"presolve: nothing to remove{parts}"
        return f"presolve: {size}{f' ({done})' if done else ''}{parts}"


class Presolved:
    """A presolved problem: a `Reduction` with facts.

    `problem` has no names or labels (solvers need none); `named` returns it with those of the original. If the facts
    say infeasible, `problem` is only a stand-in.
    """

    def __init__(self, original: Problem):
        self._original = original
        self._stages: list[Stage] = []
        self.problem = minimized(original)
        names = original.names
        named = names.variable_names or names.value_labels or names.factor_names or names.keys is not None
        if named or len(original.auxiliaries.definitions):  # a copy is validated again
            self.problem = self.problem.replace(variable_names=None, labels=None, factor_names=None)
        self.facts = Facts()

    @property
    def infeasible(self) -> bool:
        """Whether presolve proved that no assignment is feasible."""
        return self.facts.infeasible

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

    def apply(self, rule: Rule, efforts: Efforts) -> bool:
        """Reduce the problem by a rule and merge its factors; whether the rule applied. Raises `InfeasibleError`."""
        stages = len(self._stages)
        while (stage := rule.reduce(self.problem, efforts)) is not None:
            setattr(self.facts, rule.counts, getattr(self.facts, rule.counts) + stage.removed)
            self._stages.append(stage)
            self.problem = merge_factors(stage.problem)
            if not rule.repeats:
                break
        return len(self._stages) > stages

    def carry(self, statements: Sequence[Posted]) -> list[Posted]:
        """Give the presolved problem the hard statements that still hold, and return them."""
        kept = carried(statements, self._stages)
        if kept:
            self.problem = self.problem.replace(statements=kept)
        return kept

    def named(self) -> Problem:
        """The presolved problem with the original's direction, names and labels."""
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
        """The original variable of each variable, the original value of each value, and offsets of these values."""
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


def presolve(
    problem: Problem,
    *,
    solve_small: bool = True,
    guard: Guard | None = None,
    efforts: Efforts | None = None,
    rules: tuple[Rule, ...] = RULES,
) -> Presolved:
    """Simplify a problem exactly: its optimum, lifted, is an optimum of the original at the same cost.

    Parameters
    ----------
    problem
        Any problem; a maximisation is negated first, and the presolved problem is a minimisation.
    solve_small
        Whether components with few assignments are eliminated entirely at the end.
    guard
        Ends presolve early; what it did until then is exact. Nothing is done if reading the problem once would take
        half of the time left.
    efforts, rules
        How much the rules may do, and which there are.
    """
    guard = guard or Guard()
    result = Presolved(problem)
    facts, efforts = result.facts, efforts or Efforts(problem, guard.seconds_left)
    if guard.over or reading_seconds(problem) > 0.5 * guard.seconds_left:
        facts.skipped = True
        facts.variables, facts.factors = (problem.num_variables,) * 2, (problem.num_factors,) * 2
        return result
    result.problem = merge_factors(result.problem)
    statements = problem.auxiliaries.statements
    try:
        if any(map(contradicts, statements)):
            raise InfeasibleError
        for _ in range(20):
            applied = [result.apply(rule, efforts) for rule in rules if not guard.over]
            efforts.rounds.left -= len(result.problem.pool) + len(result.problem.scope_variables)
            if guard.over or not any(applied) or efforts.rounds.left < 0:
                break
        if solve_small and not guard.over:
            result.apply(Rule("eliminated_variables", small_components), efforts)
        left_over = result.carry(statements)
        if any(map(contradicts, left_over)):
            raise InfeasibleError
    except InfeasibleError:
        facts.infeasible = True
    left = result.problem
    gone = facts.eliminated_variables + facts.identified_variables
    facts.fixed_variables = problem.num_variables - left.num_variables - gone
    facts.variables, facts.factors = (
        (problem.num_variables, left.num_variables),
        (problem.num_factors, left.num_factors),
    )
    facts.components = component_labels(left)[1]
    return result

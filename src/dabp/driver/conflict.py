"""Why a problem is infeasible: few constraints that contradict each other, minimal under removal.

Constraints are removed in chunks, then in smaller ones, as long as the rest is still infeasible. A constraint without
which the rest is feasible is needed, and remains so when others are removed; when all are needed, the set is minimal.
At any moment the constraints that are left are a proved conflict. Where the linear rows of statements contradict each
other, those that have a part in it come first, and most of the removals are decided by linear programs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from dabp.driver.arguments import as_number, check_fix, checked_problem
from dabp.driver.first_answers import FirstAnswers
from dabp.driver.solve import solve
from dabp.errors import named_keywords
from dabp.packages import installed
from dabp.problem import Assignment, Problem
from dabp.problem.constraints import Constraint, hard_constraints, violated, with_only
from dabp.problem.guard import Guard
from dabp.problem.model import Model
from dabp.problem.views import Label
from dabp.solvers.linear.highs import Highs
from dabp.solvers.linear.look import Look, look
from dabp.solvers.status import Status


@dataclass(frozen=True)
class Conflict:
    """Constraints that cannot all hold.

    Attributes
    ----------
    constraints
        Their names.
    scopes
        The variables of each constraint.
    proved
        Whether it is proved that they cannot all hold; if not, these are all hard constraints.
    minimal
        Whether it is proved that without any one of them the others can hold.
    """

    constraints: tuple[str, ...]
    scopes: tuple[tuple[str, ...], ...]
    proved: bool
    minimal: bool

    @property
    def sentence(self) -> str:
        """The finding as a sentence."""
        count = len(self.constraints)
        if not self.proved:
            return "a limit was reached before it was clear whether the constraints contradict each other"
        if not count:
            return "fixed values and the limit on the total leave no assignment, whatever the hard constraints"
        if self.minimal and count == 1:
            return "this constraint allows nothing"
        if self.minimal:
            return f"these {count} constraints contradict each other; without any one of them the others can hold"
        return f"these {count} constraints contradict each other; a limit was reached, and fewer of them may do so"


@named_keywords
def conflict(
    problem: Problem | Model,
    *,
    time_limit: float | None = 60.0,
    fix: Mapping[str, Label] | None = None,
    seed: int = 0,
) -> Conflict | None:
    """A small set of hard constraints that contradict each other, or None if the problem is feasible.

    Parameters
    ----------
    problem
        A problem that may be infeasible. Factors with one name are one constraint; a limit on the total always holds.
    time_limit
        Seconds for the whole call; None for no limit.
    fix
        Values that variables keep, by name; they always hold.
    seed
        Seed of the solves that decide what is feasible.
    """
    check_fix(fix)
    with closing(_Filter(checked_problem(problem), Guard(as_number("time", time_limit)), fix, seed)) as filtering:
        return filtering.result()


class _Filter:
    """The constraints that are left, and the names of those that are known to be needed."""

    def __init__(self, problem: Problem, guard: Guard, fix: Mapping[str, Label] | None, seed: int):
        self._problem, self._guard, self._fix, self._seed = problem, guard, fix, seed
        self.left = hard_constraints(problem)
        self._needed: set[str] = set()
        self._highs: Highs | None = None

    def result(self) -> Conflict | None:
        self._keep_contradiction()
        verdict = self._verdict(self.left)
        if verdict is Status.CONVERGED:
            return None
        if verdict is not Status.INFEASIBLE:
            return self._conflict(proved=False, minimal=False)
        size = max(1, len(self.left) // 2)
        while waiting := [one for one in self.left if one.name not in self._needed]:
            for start in range(0, len(waiting), size):
                if not self._try(waiting[start : start + size]):
                    return self._conflict(proved=True, minimal=False)
            size = max(1, size // 2)
        return self._conflict(proved=True, minimal=True)

    def _keep_contradiction(self) -> None:
        """Keep the statements whose rows contradict each other, without the rest if that is a conflict already."""
        while (found := self._contradiction(self.left)) is not None:
            stated = {one.name for one in self._problem.auxiliaries.statements}
            rest = [one for one in self.left if one.name not in stated]
            part = [one for one in self.left if one.name in found]
            if self._contradiction(part) is None:
                part += rest
            if len(part) == len(self.left) or self._contradiction(part) is None:
                return
            self.left = part

    def _contradiction(self, constraints: Sequence[Constraint]) -> frozenset[str] | None:
        """Names of statements among these whose linear rows contradict each other."""
        return self._look(with_only(self._problem, constraints)).names

    def _look(self, part: Problem) -> Look:
        """What linear rows show about a problem with some of the constraints; a limit on the total is none of them."""
        if not part.auxiliaries.statements or not installed("highspy") or self._problem.limit is not None:
            return Look()
        self._highs = self._highs or Highs()
        return look(part, self._highs, self._guard, FirstAnswers(self._fix, None).fixed(part))

    def close(self) -> None:
        """End the process of HiGHS."""
        if self._highs is not None:
            self._highs.close()

    def _try(self, chunk: Sequence[Constraint]) -> bool:
        """Remove constraints if the rest is infeasible without them; False if a limit leaves that unclear."""
        names = {one.name for one in chunk} - self._needed
        if not names:
            return True
        rest = [one for one in self.left if one.name not in names]
        verdict = self._verdict(rest)
        if verdict is Status.INFEASIBLE:
            self.left = rest
        elif verdict is Status.CONVERGED and len(names) == 1:
            self._needed |= names
        return verdict in (Status.INFEASIBLE, Status.CONVERGED)

    def _verdict(self, constraints: Sequence[Constraint]) -> Status:
        """INFEASIBLE, LIMIT, or CONVERGED for feasible."""
        if self._guard.over:
            return Status.LIMIT
        part = with_only(self._problem, constraints)
        found = self._look(part)
        if found.names is not None:
            return Status.INFEASIBLE
        if found.assignment is not None and math.isfinite(part.cost(found.assignment)):
            self._learn(found.assignment)
            return Status.CONVERGED
        result = solve(
            part,
            time_limit=self._guard.seconds_left,
            target=math.inf,  # any assignment will do
            fix=self._fix,
            seed=self._seed,
        )
        if result.assignment is not None:
            self._learn(result.assignment)
            return Status.CONVERGED
        return Status.INFEASIBLE if result.status is Status.INFEASIBLE else Status.LIMIT

    def _learn(self, assignment: Assignment) -> None:
        """An assignment that violates only one of the constraints shows that this one is needed."""
        broken = violated(self._problem, self.left, assignment)
        if len(broken) == 1 and self._problem.limit is None:
            self._needed.add(broken[0].name)

    def _conflict(self, *, proved: bool, minimal: bool) -> Conflict:
        scopes = []
        for one in self.left:
            seen = dict.fromkeys(v for factor in one.factors for v in self._problem.auxiliaries.visible_scope(factor))
            scopes.append(tuple(self._problem.names.variable(v) for v in seen))
        return Conflict(tuple(one.name for one in self.left), tuple(scopes), proved, minimal)

"""Bounds and proofs for problems whose variables must all differ, as quadratic assignments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.kernels.assignment.linear import room_for
from dabp.kernels.assignment.pairs import ascend, fill, lawler, restrict, total
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, cheapest_values
from dabp.solvers.assignment.relaxation import relaxation_of
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.status import Status
from dabp.solvers.stopped import NotPrepared, Stopped, ask

SLOW = 20
"""A case is split once this many rounds with the gain of the last one would not close its gap."""

Table = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class AssignmentBound(Solver):
    """Assignment bounds, and branch and bound by them, where variables must all differ.

    The pairs that a variable with a value is part of cost at least an assignment of the other variables, and the whole
    costs at least an assignment of these totals (Gilmore-Lawler). On problems of up to `largest` values what remains is
    moved between pairs and totals until the bound stops to rise (dual ascent of Hahn & Grant), and then cases are
    split by the value of a variable, depth first. All sums are of integers, so that bounds are exact. Variables that
    must all differ are found in the tables; factors with other variables count with their least cost. An iteration is
    a round of ascent, or a variable of the first bound.

    Parameters
    ----------
    largest
        Values up to which there is ascent: it takes 16 n⁴ bytes.
    rounds
        Rounds of ascent on a case.
    """

    presolves: ClassVar[bool] = True
    proves: ClassVar[bool] = True

    largest: int = 40
    rounds: int = 60

    def __post_init__(self) -> None:
        if not 0 <= self.largest <= 100:
            raise ParameterError(f"assignment's largest is 0 to 100, not {self.largest}")
        if self.rounds < 1:
            raise ParameterError(f"assignment's rounds are at least 1, not {self.rounds}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with the whole problem; `initial` is the first upper bound, `seed` changes nothing."""
        try:
            return AssignmentSearch(self, problem, budget, initial)
        except Stopped as reason:
            return NotPrepared("assignment", reason)


@dataclass
class _Case:
    """What is left of the problem when some rows have a column."""

    bound: int
    shares: Table
    leaders: Table
    rows: Indices
    columns: Indices
    """The rows and columns that are left, by their numbers in the whole."""
    taken: Indices
    """The column of each row that has one, −1 for others."""


@dataclass
class _Branch:
    """A case that begins when it is next: a column for a row of another one."""

    bound: int
    parent: _Case
    row: int
    column: int


class AssignmentSearch(Search):
    """The cases that are open, and the bound so far."""

    def __init__(self, solver: AssignmentBound, problem: Problem, budget: Budget, initial: Assignment | None):
        self._solver, self._problem, self._most = solver, problem, budget.max_iterations
        ask(budget.guard)
        self._relaxation = relaxation_of(problem)
        self._done = self._row = self._rounds = 0
        self._base_values = cheapest_values(problem) if initial is None else np.array(initial, dtype=np.int64)
        self._known = np.inf if initial is None else float(problem.cost(initial))
        self._best: Assignment | None = None
        self.bound = -np.inf
        self._open: list[_Case | _Branch] = []
        self._closed = math.inf
        """The least total of complete assignments that the relaxation does not tell the whole cost of."""
        if self._relaxation is None:
            return
        ask(budget.guard)
        size = len(self._relaxation.leaders)
        self._room = room_for(size)
        if size <= solver.largest:
            shares = np.zeros((size,) * 4, dtype=np.int64)
            fill(self._relaxation.tables, shares)
            everything = np.arange(size)
            base, leaders = self._relaxation.base, self._relaxation.leaders.copy()
            nothing = np.full(size, -1, dtype=np.int64)
            self._open = [_Case(base, shares, leaders, everything, everything, nothing)]

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Close cases that are no better than this cost."""
        self._known = min(self._known, cost)

    def step(self) -> Step:
        """Some rows of the first bound, or rounds of ascent on the case that is next."""
        if self._relaxation is None:
            cost = float(self._problem.cost(self._base_values))
            note = "assignment: no variables were found that must all differ"
            best = self._base_values if math.isfinite(cost) else None
            return Step(np.array([cost]), best, cost, finished=Status.CONVERGED, notes=(note,))
        until, costs, before, finished = working_seconds() + BLOCK_SECONDS, list[float](), self._known, None
        self._best = None
        while not costs or (working_seconds() < until and self._done != self._most and finished is None):
            finished = self._round() if self._open else self._first_bound()
            self._done += 1
            costs.append(self._known)
        best = self._best if self._known < before else None
        known = np.inf if best is None else self._known
        bound = self.bound if math.isfinite(self.bound) else None
        return Step(np.array(costs), best, known, bound=bound, finished=finished)

    # ---- bounds ----------------------------------------------------------------------------------

    def _first_bound(self) -> Status | None:
        """One row of the Gilmore-Lawler bound."""
        assert self._relaxation is not None
        tables, leaders = self._relaxation.tables, self._relaxation.leaders
        if self._row < len(leaders):
            lawler(tables, leaders, self._room, self._row, self._row + 1)
            self._row += 1
        columns = np.zeros(len(leaders), dtype=np.int64)
        self._raise(self._relaxation.base + int(total(leaders.copy(), self._room, columns)))
        self._propose(columns)
        return self._verdict() or (Status.CONVERGED if self._row == len(leaders) else None)

    def _round(self) -> Status | None:
        """A round of ascent on the last open case, which ends it, or splits it, or leaves it."""
        assert self._relaxation is not None
        case = self._open[-1]
        if case.bound >= self._cutoff:
            self._open.pop()
            return self._after_case()
        if isinstance(case, _Branch):
            case = self._open[-1] = _restricted(case)
            self._rounds = 0
        size = len(case.leaders)
        before = case.bound
        if size > 1:
            ascend(case.shares, case.leaders, self._room)
        columns = np.zeros(size, dtype=np.int64)
        case.bound += int(total(case.leaders, self._room, columns))
        self._rounds += 1
        whole = case.taken.copy()
        whole[case.rows] = case.columns[columns]
        self._propose(whole)
        if size == 1:
            if not self._relaxation.complete:
                self._closed = min(self._closed, case.bound)
            self._open.pop()
            return self._after_case()
        gap = self._cutoff - case.bound
        slow = (case.bound - before) * SLOW < gap
        if gap <= 0:
            self._open.pop()
        elif self._rounds >= (5 if slow else self._solver.rounds):
            self._open.pop()
            self._split(case)
        return self._after_case()

    def _split(self, case: _Case) -> None:
        """A case for each column of the row whose columns are dearest, the cheapest next."""
        gap = self._cutoff - case.bound
        row = int(np.argmax(np.minimum(case.leaders, gap).sum(axis=1)))
        order = np.argsort(-case.leaders[row], kind="stable")
        dear = case.leaders[row]
        self._open += [_Branch(case.bound + int(dear[a]), case, row, int(a)) for a in order if dear[a] < gap]

    def _after_case(self) -> Status | None:
        """Raise the bound to the least of what is open, and what follows from it."""
        least = min((case.bound for case in self._open), default=math.inf)
        least = min(least, self._closed, self._cutoff)
        self._raise(int(least))
        return self._verdict() or (None if self._open else Status.CONVERGED)

    def _verdict(self) -> Status | None:
        proved = self._known - self.bound <= self._problem.facts.rounding(self.bound)
        return Status.OPTIMAL if proved else None

    @property
    def _cutoff(self) -> int:
        """The least total from which on a case has nothing better than what is known, less rounding."""
        assert self._relaxation is not None
        if not math.isfinite(self._known):
            return self._relaxation.base + self._relaxation.tables.forbidden
        facts = self._problem.facts
        slack = 1.0 - 1e-6 if facts.integral else 0.25 * facts.rounding(self._known)
        return math.ceil(math.ldexp(self._known - slack - self._relaxation.constant, self._relaxation.bits))

    def _raise(self, least: int) -> None:
        assert self._relaxation is not None
        facts, bits, constant = self._problem.facts, self._relaxation.bits, self._relaxation.constant
        if facts.integral and bits >= 0:
            value = -(-least >> bits) + constant
        else:
            value = math.nextafter(math.ldexp(float(least), -bits), -math.inf) + constant
            value = float(math.floor(value)) if facts.integral else value
        if not facts.integral:
            slack = 0.25 * facts.rounding(value)
            value = min(value, self._known - slack) - facts.rounding_error
        self.bound = max(self.bound, min(value, self._known))

    # ---- answers ---------------------------------------------------------------------------------

    def _propose(self, columns: Indices) -> None:
        """Take the assignment of the leaders if it is better than what is known."""
        assert self._relaxation is not None
        members = self._relaxation.members
        values = self._base_values.copy()
        values[members] = self._relaxation.tables.value[np.arange(len(members)), columns[: len(members)]]
        if (values < 0).any():
            return
        cost = float(self._problem.cost(values))
        if cost < self._known:
            self._best, self._known = values, cost


def _restricted(branch: _Branch) -> _Case:
    """The case that a branch begins."""
    case, size = branch.parent, len(branch.parent.leaders) - 1
    shares, leaders = np.zeros((size,) * 4, dtype=np.int64), np.zeros((size, size), dtype=np.int64)
    restrict(case.shares, case.leaders, branch.row, branch.column, shares, leaders)
    taken = case.taken.copy()
    taken[case.rows[branch.row]] = case.columns[branch.column]
    rows, columns = np.delete(case.rows, branch.row), np.delete(case.columns, branch.column)
    return _Case(branch.bound, shares, leaders, rows, columns, taken)

"""`auto`: the best answer for the time there is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dabp.errors import ParameterError, suggestion
from dabp.problem import Assignment, Problem
from dabp.problem.columns import nullary_constant
from dabp.solvers.base import Budget, Search, Solver, State, Step
from dabp.solvers.status import Status

if TYPE_CHECKING:  # loaded where they are used: a problem that presolve settles needs none of them
    from dabp.solvers.auto.features import Features
    from dabp.solvers.auto.line_up import LineUp, Place
    from dabp.solvers.elimination.mini_bucket import MiniBucketSearch


FEW_VARIABLES = 5_000
"""Variables up to which an elimination order is found in no time."""

ORDER_SECONDS = 1e-5
"""Seconds for each edge that the search for an elimination order takes with more variables."""

PLANNED_PART = 0.4
"""Part of all work for an elimination that is planned and fits half of the time: it proves when it ends."""


@dataclass(frozen=True, kw_only=True)
class Auto(Solver):
    """Several solvers that share what they find, each on the kind of problem that suits it.

    Presolve first. A narrow problem is solved exactly by variable elimination. Otherwise a descent gives a first
    answer, and the tables, degrees and domains decide which members take part and how much time they have at first
    (`members.MEMBERS`): the dual and moves by minimum cuts on images, tabu search and annealing on problems of two
    values and on small ones, belief propagation on other large ones; exact neighbourhoods and, with a minute or more,
    DABP beside them. Members run in threads, and time goes to those that improve on this problem; toulbar2 tries to
    prove in a child process, on a core of its own as long as it has prospects. Components count apart. The search ends
    when the bound meets the cost.

    Where iterations are the limit, the members take turns without toulbar2, and the same seed gives the same result. A
    checkpoint keeps the best answer and the bound, from which all members of a resumed solve start anew; where
    iterations are the limit it continues turn by turn.

    Parameters
    ----------
    members
        Solvers that may take part, separated by commas; by default all members that suit the problem.
    prove
        Whether toulbar2 takes part.
    share
        The number of this worker and of all workers on the same problem, as in ``2/4``: it runs only its part of the
        members. `dabp.solve_together` sets it.
    """

    presolves: ClassVar[bool] = True
    proves: ClassVar[bool] = True
    checkpoints: ClassVar[bool] = True
    parallel: ClassVar[bool] = True

    members: str | None = None
    prove: bool = True
    share: str | None = None

    def __post_init__(self) -> None:
        if self.share is not None:
            from dabp.solvers.auto.line_up import parse_share

            parse_share(self.share)
        if self.members is None:
            return
        from dabp.solvers.auto.members import MBE, MEMBERS, RENAMED

        known = [member.solver for member in (*MEMBERS, MBE)]
        for name in self._names() or ():
            if name in RENAMED:
                raise ParameterError(f"auto's member {name!r} is now {RENAMED[name]!r}, as the solver is called")
            if name not in known:
                raise ParameterError(f"auto has no member {name!r}{suggestion(name, known)}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin: exactly if the problem is narrow, in turns if limited by iterations, else with everything."""
        if problem.num_variables == 0 or nullary_constant(problem) == np.inf:
            return Settled(problem)
        from dabp.solvers.auto.exact_parts import WORK_PER_SECOND, PartlyNarrow, exact_search, narrow_components
        from dabp.solvers.auto.features import features_of
        from dabp.solvers.auto.line_up import few_iterations

        horizon = _horizon(budget)
        features = features_of(problem)
        counted = budget.max_iterations is not None and budget.time_limit is None  # no clock decides anything then
        order_seconds = ORDER_SECONDS * features.num_edges if features.num_variables > FEW_VARIABLES else 0.0
        order_limit = 0.03 * horizon
        guard = budget.guard if counted or order_seconds == 0.0 else budget.guard.within(order_limit)
        beside = not counted and order_seconds > order_limit
        exact = None if beside else exact_search(problem, WORK_PER_SECOND * 0.5 * horizon, guard)
        work = WORK_PER_SECOND * min(0.05 * horizon, 3.0)
        if exact is not None and (exact.work <= work or budget.max_iterations is not None):
            return exact
        narrow = () if beside or exact is not None else narrow_components(problem, work, guard)
        if len(narrow):

            def begin(part: Problem, start: Assignment | None) -> Search:
                return self._begun(part, self._line(features_of(part), budget, horizon), seed, budget, start)

            return PartlyNarrow(problem, np.asarray(narrow), begin, initial)
        line = self._line(features, budget, horizon)
        if budget.max_iterations is None and (exact is not None or (beside and not few_iterations(features, horizon))):
            others = sum(place.weight for place in line.places)
            line.places.extend(_elimination(features, horizon, exact, others))
        return self._begun(problem, line, seed, budget, initial)

    def _begun(self, problem: Problem, line: LineUp, seed: int, budget: Budget, initial: Assignment | None) -> Search:
        """The search that the limits call for."""
        from dabp.solvers.auto.counted_search import CountedSearch
        from dabp.solvers.auto.timed_search import TimedSearch

        if budget.max_iterations is not None:
            return CountedSearch(problem, line, seed=seed, budget=budget, initial=initial)
        horizon = _horizon(budget)
        return TimedSearch(problem, line, seed=seed, budget=budget, initial=initial, horizon=horizon, prove=self.prove)

    def _line(self, features: Features, budget: Budget, horizon: float) -> LineUp:
        """The members that take part."""
        from dabp.solvers.auto.line_up import line_up, parse_share, shared_out
        from dabp.solvers.auto.members import MEMBERS

        names = self._names()
        threads = budget.threads if budget.max_iterations is None else None
        line = line_up(features, horizon, names=names, threads=threads)
        if not line.places:
            when = [f"{member.solver}: {member.when}" for member in MEMBERS if member.solver in (names or ())]
            raise ParameterError(f"none of the members {self.members!r} suits this problem ({'; '.join(when)})")
        if self.share is not None:
            line.places[:] = shared_out(line.places, *parse_share(self.share), budget.threads)
        return line

    def _names(self) -> frozenset[str] | None:
        return None if self.members is None else frozenset(name.strip() for name in self.members.split(","))


def _horizon(budget: Budget) -> float:
    """Seconds that members plan for; 30 without a time limit."""
    limit = 30.0 if budget.time_limit is None else budget.time_limit
    return limit if budget.max_iterations is not None else min(limit, budget.guard.seconds_left)


def _elimination(features: Features, horizon: float, search: MiniBucketSearch | None, others: float) -> list[Place]:
    """`mbe` beside the other members of weight `others`, after a tenth of the time if it has to find an order first."""
    from dabp.solvers.auto.exact_parts import ExactElimination
    from dabp.solvers.auto.features import kind_of
    from dabp.solvers.auto.line_up import Place
    from dabp.solvers.auto.member import Run
    from dabp.solvers.auto.members import MBE

    kind = kind_of(features)[0]
    weight = MBE.weights.get(kind, 0.0) if search is None else PLANNED_PART / (1.0 - PLANNED_PART) * others
    run = Run(ExactElimination(horizon=horizon, search=search), whole=True, last=True)
    place = Place(replace(MBE, plan=lambda situation: run), kind, weight, delay=0.1 if search is None else 0.0)
    return [place] if weight else []


class Settled(Search):
    """A problem without variables, or that forbids everything: nothing is left to decide, and nothing is compiled."""

    def __init__(self, problem: Problem):
        self._problem = problem

    def step(self) -> Step:
        """The only assignment and its cost, or INFEASIBLE."""
        if nullary_constant(self._problem) == np.inf:
            return Step(finished=Status.INFEASIBLE)
        nothing = np.zeros(0, dtype=np.int64)
        cost = float(self._problem.cost(nothing))
        return Step(np.array([cost]), nothing, cost, bound=cost, finished=Status.OPTIMAL)

    def state_dict(self) -> State:
        """Nothing: no work is under way."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Ignore the state: no work was under way."""

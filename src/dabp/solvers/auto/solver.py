"""`auto`: the best answer for the time there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dabp.errors import ParameterError, suggestion
from dabp.problem import Assignment, Problem
from dabp.solvers.auto.plan import (
    BESIDE_PART,
    EXACT_PART,
    EXACT_SECONDS,
    HORIZON,
    ORDER_PART,
    SHARES,
    WORK_PER_SECOND,
    few_iterations,
    order_seconds,
    prepared_beside,
)
from dabp.solvers.auto.settled import Settled, contradicted
from dabp.solvers.base import Budget, Search, Solver

if TYPE_CHECKING:  # loaded where they are used: a problem that presolve settles needs none of them
    from dabp.solvers.auto.features import Features
    from dabp.solvers.auto.kinds import LineUp
    from dabp.solvers.auto.member import Kind


@dataclass(frozen=True, kw_only=True)
class Auto(Solver):
    """Several solvers that share what they find, each on the kind of problem that suits it.

    Presolve first. A problem that is narrow enough is solved exactly by variable elimination. Otherwise a descent gives
    a first answer, and a look at the tables, degrees and domains decides who comes first: the dual, moves by minimum
    cuts and windows on images, tabu search and annealing on problems of two values and on small ones, reinforced BP on
    other large ones; BP on the split graph, forest neighbourhoods and (with a minute or more) DABP beside them. They
    run in threads, and time goes to those that improve on this problem; toulbar2 tries to prove in a child process, on
    a core of its own as long as it has prospects. Components count apart. Ends when the bound meets the cost.

    Limited by iterations instead of time the members take turns without toulbar2, and the same seed gives the same
    result. A checkpoint keeps the best answer and the bound, from which a resumed solve sets all members to work
    anew; limited by iterations it continues where it was, turn by turn.

    Parameters
    ----------
    members
        Names of the members that may take part, separated by commas; by default all that suit the problem.
    prove
        Whether toulbar2 takes part.
    share
        Which of several workers on the same problem this is, as in ``2/4``: it then runs only its part of the members.
        `dabp.solve_together` sets it.
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
            from dabp.solvers.auto.sharing import parse_share

            parse_share(self.share)
        if self.members is None:
            return
        for name in self._names() or ():
            if name not in SHARES:
                raise ParameterError(f"auto has no member {name!r}{suggestion(name, SHARES)}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin: exactly if the problem is narrow, in turns if limited by iterations, else with everything."""
        if problem.num_variables == 0 or contradicted(problem):
            return Settled(problem)
        from dabp.solvers.auto.exact_parts import PartlyNarrow, exact_search, narrow_components
        from dabp.solvers.auto.features import features_of

        horizon = _horizon(budget)
        if budget.max_iterations is None and self._begins_early(problem, horizon):
            return self._early_search(problem, seed, budget, initial)
        features = features_of(problem)
        work = WORK_PER_SECOND * min(EXACT_PART * horizon, EXACT_SECONDS)
        counted = budget.max_iterations is not None and budget.time_limit is None  # no clock decides anything then
        seconds = order_seconds(features)
        guard = budget.guard if counted or seconds == 0.0 else budget.guard.within(ORDER_PART * horizon)
        beside = not counted and seconds > ORDER_PART * horizon
        exact = None if beside else exact_search(problem, WORK_PER_SECOND * BESIDE_PART * horizon, guard)
        if exact is not None and (exact.work <= work or budget.max_iterations is not None):
            return exact
        from dabp.solvers.auto.kinds import elimination_kinds  # all solvers: loaded where they are needed

        narrow = () if beside or exact is not None else narrow_components(problem, work, guard)
        if len(narrow):

            def begin(part: Problem, start: Assignment | None) -> Search:
                return self._search(part, features_of(part), seed, budget, start)

            return PartlyNarrow(problem, np.asarray(narrow), begin, initial)
        sought = beside and not few_iterations(features, horizon)
        later = elimination_kinds(features, horizon, exact) if sought or exact else []
        return self._search(problem, features, seed, budget, initial, later)

    def _search(
        self,
        problem: Problem,
        features: Features,
        seed: int,
        budget: Budget,
        initial: Assignment | None,
        later: Sequence[Kind] = (),
    ) -> Search:
        """All members on a problem; those in `later` beside them if there is a clock."""
        from dabp.solvers.auto.counted_search import CountedSearch
        from dabp.solvers.auto.timed_search import TimedSearch

        horizon = _horizon(budget)
        line = self._line(features, budget, horizon, later)
        if budget.max_iterations is not None:
            return CountedSearch(problem, line, seed=seed, budget=budget, initial=initial)
        return TimedSearch(problem, line, seed=seed, budget=budget, initial=initial, horizon=horizon, prove=self.prove)

    def _line(self, features: Features, budget: Budget, horizon: float, later: Sequence[Kind] = ()) -> LineUp:
        """Who takes part."""
        from dabp.solvers.auto.kinds import line_up

        threads = budget.threads if budget.max_iterations is None else None
        line = line_up(features, horizon, names=self._names(), threads=threads)
        if budget.max_iterations is not None:
            line.kinds[:] = [kind for kind in line.kinds if kind.turn]  # the others plan by the clock
        if not line.kinds:
            raise ParameterError(f"none of the members {self.members!r} suits this problem")
        if budget.max_iterations is None:
            line.kinds.extend(later)
        if self.share is not None:
            from dabp.solvers.auto.sharing import parse_share, shared_out

            line.kinds[:] = shared_out(line.kinds, *parse_share(self.share), budget.threads)
        return line

    def _begins_early(self, problem: Problem, horizon: float) -> bool:
        """Whether descent begins before anything is known of a problem."""
        names = self._names()
        return prepared_beside(problem, horizon) and (names is None or "descent" in names)

    def _early_search(self, problem: Problem, seed: int, budget: Budget, initial: Assignment | None) -> Search:
        """Descent at once, and beside it a look at the problem and the other members."""
        from dabp.solvers.auto.features import features_of
        from dabp.solvers.auto.kinds import elimination_kinds
        from dabp.solvers.auto.timed_search import TimedSearch

        horizon = _horizon(budget)

        def line() -> LineUp:
            features = features_of(problem)
            sought = not few_iterations(features, horizon)
            return self._line(features, budget, horizon, elimination_kinds(features, horizon, None) if sought else ())

        return TimedSearch(problem, line, seed=seed, budget=budget, initial=initial, horizon=horizon, prove=self.prove)

    def _names(self) -> frozenset[str] | None:
        return None if self.members is None else frozenset(name.strip() for name in self.members.split(","))


def _horizon(budget: Budget) -> float:
    """Seconds that there are to plan with."""
    limit = HORIZON if budget.time_limit is None else budget.time_limit
    return limit if budget.max_iterations is not None else min(limit, budget.guard.seconds_left)

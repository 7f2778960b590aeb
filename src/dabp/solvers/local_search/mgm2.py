"""The maximum gain message algorithm with moves of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.local_search.coordinated import (
    ANSWERS_YES,
    COMBINATIONS,
    COORDINATED,
    EITHER,
    OFFERS,
    UNILATERAL,
    Plans,
    can_gain,
    mgm2,
)
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget, Search, Solver, State
from dabp.solvers.local_costs.local_costs import LocalCosts
from dabp.solvers.local_search.local_search import LocalSearch
from dabp.solvers.stopped import ask
from dabp.solvers.traffic import Traffic

_FAVORED = {"unilateral": UNILATERAL, "coordinated": COORDINATED, "no": EITHER}


@dataclass(frozen=True, kw_only=True)
class Mgm2(Solver):
    """MGM-2, maximum gain messages with coordinated pairs (Maheswaran, Pearce & Tambe 2004).

    In each iteration every variable becomes an offerer with some probability, and offers a neighbour, drawn by chance,
    every change of both. One that made no offer takes the best of those it got if that gains more than it can alone,
    and the two are a pair. Everybody tells its neighbours its gain, a pair its common one; who is ahead of all
    neighbours but the partner changes, a pair only if both are (of equals, the first in order is). The cost never
    rises, and it ends where no change of one variable or of two neighbours helps. Forbidden combinations weigh more
    than anything else.

    A baseline of the DCOP literature; `annealing` and `tabu` find better answers.

    Parameters
    ----------
    threshold
        The probability of making an offer.
    favor
        What is taken if an offer gains as much as a change alone: ``unilateral``, ``coordinated``, or ``no`` for
        either by chance.
    """

    checkpoints: ClassVar[bool] = True
    threshold: float = 0.5
    favor: str = "unilateral"

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise ParameterError(f"threshold is between 0 and 1, not {self.threshold}")
        if self.favor not in _FAVORED:
            raise ParameterError(f"favor is unilateral, coordinated or no, not {self.favor!r}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _Mgm2Search(self, problem, seed, budget, initial)


class _Mgm2Search(LocalSearch):
    messages_per_neighbour = 3

    def __init__(self, solver: Mgm2, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        n = problem.num_variables
        together = np.diff(problem.pool_offsets)[problem.factor_table[problem.arities >= 2]]
        self._solver = solver
        value, gain, asked, partner = np.zeros((4, n), dtype=np.int64)
        shared, tally = np.zeros(int(together.max(initial=0)), dtype=np.int64), np.zeros(3, dtype=np.int64)
        self._plans = Plans(value, gain, asked, partner, shared, tally)
        self._open = False  # whether x is known to have a change of two that helps
        self._done = False

    def table(self, problem: Problem, guard: Guard) -> LocalCosts:
        """Violating a factor weighs more than all finite costs at two variables from the start."""
        ask(guard)
        return LocalCosts(problem, guard, lexicographic=True, movers=2)

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Rounds up to one in which nobody moves; whether anybody ever will is then looked up once."""
        solver = self._solver
        rounds = mgm2(self.local.costs, self.state, self._plans, lowest, solver.threshold, _FAVORED[solver.favor])
        if rounds > 0 or rounds < -1:
            self._open = False
        if rounds < 0 and not self._open:
            self._open = can_gain(self.local.costs, self.state, self._plans.shared)
            self._done = not self._open
        return abs(rounds)

    @property
    def done(self) -> bool:
        """No one and no two neighbours gain anything."""
        return self._done

    def traffic(self) -> Traffic | None:
        """Value, offer (or that there is none) and gain to each neighbour; answers; confirmations within pairs."""
        told = super().traffic()
        if told is None:
            return None
        offers, pairs, combinations = (int(self._plans.tally[at]) for at in (OFFERS, ANSWERS_YES, COMBINATIONS))
        # an offer holds two values and a gain for each combination, an answer as much for the one that is taken
        size = told.size // 3 * 2 + 3 * combinations + 3 * offers + 2 * pairs
        return Traffic(told.messages + offers + 2 * pairs, size)

    def state_dict(self) -> State:
        """Also what is known of x."""
        return {**super().state_dict(), "_open": self._open, "tally": self._plans.tally.copy()}

    def load_state_dict(self, state: State) -> None:
        """Put everything back."""
        super().load_state_dict(state)
        self._open = bool(state["_open"])
        self._plans.tally[...] = state["tally"]

"""The maximum gain message algorithm with moves of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.local_search.coordinated import COUNTS, Plans, can_gain, mgm2
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver, State
from dabp.solvers.local_search.distributed_search import DistributedSearch
from dabp.solvers.traffic import Traffic

_TIE = {"unilateral": 0.0, "coordinated": 1.0, "no": 0.5}
"""By `favor`, the probability of a change in a pair that gains as much as one alone."""


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
        if self.favor not in _TIE:
            raise ParameterError(f"favor is unilateral, coordinated or no, not {self.favor!r}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _Mgm2Search(self, problem, seed, budget, initial)


class _Mgm2Search(DistributedSearch):
    messages_per_neighbour = 3
    movers = 2
    attributes = (*DistributedSearch.attributes, "_open")

    def __init__(self, solver: Mgm2, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        pairs = np.diff(problem.pool_offsets)[problem.factor_table[problem.arities >= 2]]
        self._solver = solver
        gain, asked, partner = np.zeros((3, problem.num_variables), dtype=np.int64)
        shared = np.zeros(int(pairs.max(initial=0)), dtype=np.int64)
        self._plans = Plans(self._chosen, gain, asked, partner, shared, np.zeros((), dtype=COUNTS))
        self._open = False
        """Whether a change of two variables is known to lower the present cost."""

    def rounds(self, lowest: NDArray[np.int64]) -> int:
        """Rounds up to one in which no variable moves, which ends the search if no change of two would help."""
        solver = self._solver
        rounds = int(mgm2(self.local.costs, self.state, self._plans, lowest, solver.threshold, _TIE[solver.favor]))
        if rounds > 0 or rounds < -1:
            self._open = False
        if rounds < 0 and not self._open:
            self._open = bool(can_gain(self.local.costs, self.state, self._plans.shared))
        return abs(rounds) if self._open else rounds

    def traffic(self) -> Traffic | None:
        """Value, offer (or that there is none) and gain to each neighbour; answers; confirmations within pairs."""
        plain = super().traffic()
        if plain is None:
            return None
        offers, pairs, combinations = self._plans.counts.item()
        # an offer holds two values and a gain for each combination, an answer as much for the one that is taken
        size = plain.size // 3 * 2 + 3 * combinations + 3 * offers + 2 * pairs
        return Traffic(plain.messages + offers + 2 * pairs, size)

    def state_dict(self) -> State:
        """Also the counts of offers."""
        return {**super().state_dict(), "counts": np.array(self._plans.counts.item(), dtype=np.int64)}

    def load_state_dict(self, state: State) -> None:
        """Continue from what `state_dict` returned."""
        super().load_state_dict(state)
        self._plans.counts[()] = tuple(state["counts"].tolist())

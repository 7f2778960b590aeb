"""Improving the answers of runs of `bp-learned`: descent, annealing and tabu walks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dabp.compiling import working_seconds
from dabp.graph.islands import crossed, has_islands
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.kernels.local_search.tabu_moves import Rules
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, FIRST_BLOCK, State
from dabp.solvers.descent import Descent
from dabp.solvers.local_costs.colouring import LARGE
from dabp.solvers.local_costs.shared_tables import shared_table
from dabp.solvers.local_costs.temperatures import SAMPLE, Cycle, whole_cycle
from dabp.solvers.stopped import Stopped

MOST_ENTRIES = 400_000
"""Scope entries above which a problem has no local search: a single run takes all the time there."""

SWEEPS_PER_ITERATION = 40
"""Sweeps of annealing for each iteration of a run, which take as long as the iteration or half as long."""

_ANNEALING_STREAM = 0xC001


def may_search(problem: Problem) -> bool:
    """Whether local search may follow runs: not with a single assignment, nor on large problems."""
    small = problem.num_variables < LARGE and len(problem.scope_variables) <= MOST_ENTRIES
    return small and bool((problem.domain_sizes > 1).any())


class Polish:
    """Descent, each variable in turn, and on sparse problems the best of two answers on each island."""

    def __init__(self, problem: Problem, guard: Guard):
        self._problem, self._guard = problem, guard
        self._descent = Descent(problem)
        self.sparse = has_islands(problem)
        """Whether islands pay."""

    def descended(self, start: Assignment) -> Assignment:
        """A local minimum near by."""
        return self._descent.descended(start, self._guard)

    def crossed(self, best: Assignment, last: Assignment) -> Assignment:
        """The better of both on each island."""
        return crossed(self._problem, best, last)


class TableSearch:
    """Local search from the answer of a run: a table of local costs, made at first use, and a state on it."""

    def __init__(self, problem: Problem, guard: Guard):
        self._problem, self._guard = problem, guard
        self._table: Any = None

    def prepared(self) -> bool:
        """Whether there is a table, and something on it is feasible."""
        if self._table is None:
            try:
                self._table = shared_table(self._problem, self._guard)
            except Stopped:
                return False  # the solve is about to end
            self._state = self._table.state(1)
        return not self._table.infeasible

    def put(self, start: Assignment, chance: float) -> None:
        """Start from an assignment, with random numbers that follow from one between 0 and 1."""
        self._state.random[:] = int(chance * 2**63) + 1
        self._state.tally["feasible"] = 0
        self._table.put(self._state, self._table.arranged(start))
        self._table.remember(self._state)

    @property
    def lowest(self) -> int:
        """The least cost since `put`, in units of the table."""
        return int(self._state.tally["best"]) if self._state.tally["feasible"] else NOTHING

    def best(self) -> Assignment | None:
        """The best assignment since `put`, None if all were forbidden."""
        return self._table.best(self._state) if self._state.tally["feasible"] else None


class TabuWalks(TableSearch):
    """Tabu search from answers near the best assignment, for about as long as the run took."""

    def walked(self, start: Assignment, iterations: int, part: float, chance: float) -> Assignment | None:
        """The best on a walk after a run of this number of iterations; None if nothing is better than its start.

        `part` and `chance` are random numbers between 0 and 1: the first sets the tenure, 10 to 60 % of the variables.
        """
        if not self.prepared():
            return None
        variables = self._problem.num_variables
        mean = int(min(max(5, (0.1 + (0.6 - 0.1) * part) * variables), 1_000))
        self._state = self._table.state(1)  # weights of violated factors start again
        moves = self._table.moves(1_000)
        self.put(start, chance)
        first = self.lowest
        self._table.open_all(self._state, moves)
        count = min(40_000, variables * iterations)
        rules = Rules(count, (mean + 1) // 2, mean, 10, self._table.units.first_weight)
        self._table.tabu(self._state, moves, rules, np.full(1, NOTHING))
        return self.best() if self.lowest < first else None


class Annealing(TableSearch):
    """Annealing from answers of runs, one at a time: `begin`, then `go_on` until nothing is `under_way`.

    Belief propagation decides most variables well, and the last ones at random. Annealing from a temperature at which
    most variables keep their values decides those anew.
    """

    def __init__(self, problem: Problem, seed: int, guard: Guard):
        super().__init__(problem, guard)
        self._seed, self._noise = seed, None
        self._whole: Cycle | None = None
        self.length = 0
        """Sweeps of the cooling that began last."""
        self._swept = 0
        self._tried = self._found = 0
        """Coolings that ended, and those of them that improved on their start."""
        self._block = max(1, FIRST_BLOCK // max(1, len(problem.scope_variables)))
        self._sweeps, self._seconds = 0, 0.0

    @property
    def under_way(self) -> bool:
        """Whether a cooling has begun and not ended."""
        return self._swept < self.length

    @property
    def improved(self) -> bool:
        """Whether the cooling that began last has improved on its start."""
        return self.lowest < self._first

    @property
    def gain(self) -> float:
        """By how much, about; infinite if the start was forbidden."""
        return math.inf if self._first == NOTHING else (self._first - self.lowest) / self._table.units.scale

    @property
    def hope(self) -> float:
        """The chance that a run may be cooled: it falls until a cooling has improved on its start."""
        return 1.0 if self._found else 1 / (1 + self._tried) ** 2

    @property
    def seconds(self) -> float:
        """Seconds of sweeps for each iteration of a run: 0 before the first."""
        return SWEEPS_PER_ITERATION * self._seconds / max(self._sweeps, 1)

    def begin(self, start: Assignment, iterations: int, heat: float, chance: float) -> None:
        """Cool the answer of a run of this length; nothing is under way afterwards if that cannot be.

        `heat` and `chance` are random numbers between 0 and 1: the first sets where the cooling begins, between 20 %
        of the way from the end of the slow part of annealing to its beginning, and its beginning.
        """
        self._swept, self.length = 0, 0
        if not self.prepared():
            return
        if self._noise is None:
            self._noise = self._table.noise(generator(self._seed, _ANNEALING_STREAM))
        self.put(start, chance)
        if self._whole is None:
            drawn = generator(self._seed, _ANNEALING_STREAM, 1)
            self._whole = whole_cycle(self._table.differences(self._state, drawn, SAMPLE), self._table.hot_share)
        hot, warm, cold = self._whole
        top = warm * (hot / warm) ** (0.2 + (1.0 - 0.2) * heat)
        self._cycle, self.length = Cycle(top, min(warm, top), min(cold, top)), SWEEPS_PER_ITERATION * iterations
        self._first = self.lowest

    def go_on(self) -> bool:
        """A block of sweeps, the last 8 of a cooling at temperature 0: whether it improved on all before.

        A cooling has at most 900 blocks, as a solve ends whose steps do not improve for long.
        """
        count = min(max(self._block, -(-self.length // 900)), self.length - self._swept)
        sweeps = np.arange(self._swept, self._swept + count)
        slow = max(1, self.length - 8)
        temperatures = np.where(sweeps < slow, self._cycle.cooled(sweeps / slow, self._table.cooling_power), 0.0)
        before, started = self.lowest, working_seconds()
        self._table.sweep(self._state, self._noise, temperatures, np.full(count, NOTHING))
        seconds = max(working_seconds() - started, 1e-6)
        self._swept += count
        self._sweeps += count
        self._seconds += seconds
        self._block = max(1, min(int(count * BLOCK_SECONDS / seconds), 4 * self._block))
        if not self.under_way:
            self._tried += 1
            self._found += self.improved
        return self.lowest < before

    def state_dict(self) -> State:
        """What was learned, as JSON values; a cooling under way is begun again."""
        cycle = None if self._whole is None else [*self._whole]
        return {"cycle": cycle, "tried": self._tried, "found": self._found}

    def load_state_dict(self, state: State) -> None:
        """Restore what was learned; `ValueError` if it is impossible."""
        whole = state["cycle"]
        self._whole = None if whole is None else Cycle(*(float(each) for each in whole))
        if self._whole is not None and not 0 < self._whole.end <= self._whole.bottom <= self._whole.top < 1e250:
            raise ValueError("its temperatures cannot be")
        self._tried, self._found = int(state["tried"]), int(state["found"])
        if not 0 <= self._found <= self._tried:
            raise ValueError("there were no such coolings")

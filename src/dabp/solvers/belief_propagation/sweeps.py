"""Heat-bath sweeps from the answer of a run of `bp-learned`: what it decided last is decided anew while it cools."""

from __future__ import annotations

import math

import numpy as np

from dabp.compiling import working_seconds
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, FIRST_BLOCK, State
from dabp.solvers.belief_propagation.on_table import OnTable
from dabp.solvers.local_costs.temperatures import SAMPLE, Cycle, whole_cycle

HEAT = (0.2, 1.0)
"""Where a cooling begins, drawn anew for each: between the end of the slow part of annealing (0) and its beginning."""

SHORTEST = 40
"""Sweeps below which a cooling is left out."""

COLD_SWEEPS = 8
"""Sweeps at temperature 0 at the end."""

BLOCKS = 900
"""Of a cooling at most: a solve ends whose steps bring nothing for long."""

EACH = 40
"""Sweeps for each iteration of a run: these take about as long as the iteration, or half as long."""

_STREAM = 0xC001


class Sweeps(OnTable):
    """Coolings on one problem, one at a time: `begin`, then `go_on` until nothing is `under_way`.

    Belief propagation decides most variables well, and the last ones at random. Annealing from its answer, from a
    temperature at which much of it stays, decides those anew.
    """

    def __init__(self, problem: Problem, seed: int, guard: Guard):
        super().__init__(problem, guard)
        self._seed = seed
        self._whole: Cycle | None = None
        self._length = self._swept = 0
        self._tried = self._found = 0
        """Coolings that ended, and those of them that found something better than what they began from."""
        self._block = max(1, FIRST_BLOCK // max(1, len(problem.scope_variables)))
        self._sweeps, self._seconds = 0, 0.0

    def lay_out(self) -> None:
        """Noise for the sweeps."""
        self._noise = self._table.noise(generator(self._seed, _STREAM))

    @property
    def under_way(self) -> bool:
        """Whether a cooling has begun and not ended."""
        return self._swept < self._length

    @property
    def length(self) -> int:
        """Sweeps of the cooling that began last."""
        return self._length

    @property
    def improved(self) -> bool:
        """Whether the cooling that began last has found something better than what it began from."""
        return self.lowest < self._first

    @property
    def gain(self) -> float:
        """By how much, about; infinite if it began from something that is forbidden."""
        return math.inf if self._first == NOTHING else (self._first - self.lowest) / self._table.units.scale

    @property
    def hope(self) -> float:
        """The chance that a run may be cooled: it falls as long as no cooling has found anything."""
        return 1.0 if self._found else 1 / (1 + self._tried) ** 2

    @property
    def seconds(self) -> float:
        """What sweeps take for each iteration of a run: 0 as long as nobody knows."""
        return EACH * self._seconds / max(self._sweeps, 1)

    def begin(self, start: Assignment, iterations: int, heat: float, chance: float) -> None:
        """From the answer of a run of so many iterations; nothing is under way then if it is not to be.

        `heat` and `chance` are numbers between 0 and 1 that were drawn for it.
        """
        self._swept, self._length = 0, 0
        length = EACH * iterations
        if length < SHORTEST or not self.prepared():
            return
        self.put(start, chance)
        if self._whole is None:
            drawn = generator(self._seed, _STREAM, 1)
            self._whole = whole_cycle(self._table.differences(self._state, drawn, SAMPLE), self._table.hot_share)
        hot, warm, cold = self._whole
        top = warm * (hot / warm) ** (HEAT[0] + (HEAT[1] - HEAT[0]) * heat)
        self._cycle, self._length = Cycle(top, min(warm, top), min(cold, top)), length
        self._first = self.lowest

    def go_on(self) -> bool:
        """A block of sweeps: whether it found what is the best since the cooling began."""
        count = min(max(self._block, -(-self._length // BLOCKS)), self._length - self._swept)
        sweeps = np.arange(self._swept, self._swept + count)
        slow = max(1, self._length - COLD_SWEEPS)
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
        """Take it up again; `ValueError` if it cannot be."""
        whole = state["cycle"]
        self._whole = None if whole is None else Cycle(*(float(each) for each in whole))
        if self._whole is not None and not 0 < self._whole.end <= self._whole.bottom <= self._whole.top < 1e250:
            raise ValueError("its temperatures cannot be")
        self._tried, self._found = int(state["tried"]), int(state["found"])
        if not 0 <= self._found <= self._tried:
            raise ValueError("there were no such coolings")

"""What the next run of `bp-learned` is given, and what is learned from how it did."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dabp.graph import FactorGraph
from dabp.solvers.base import State
from dabp.solvers.belief_propagation.online import Online
from dabp.solvers.belief_propagation.pace import SHORTEST, Pace
from dabp.solvers.belief_propagation.policy import OUTPUTS, SPREAD, Policy, Vector, features_of
from dabp.solvers.belief_propagation.reinforcement import RATE
from dabp.solvers.belief_propagation.runs import (
    HARD,
    HARD_OUTPUTS,
    HARD_SPREAD,
    KINDS,
    PULLED,
    SOFT,
    Run,
    hard_draw,
    hard_run,
    near_draw,
    soft_run,
    within,
)
from dabp.solvers.belief_propagation.sweeps import EACH, Sweeps
from dabp.solvers.scheduler import ByRank

LONGEST = 20_000
"""Iterations of a soft run at most."""

ALONE = 8.0
"""A run that is to be the only one takes so many times the length that the policy wants, if there is time."""

LONG, SCATTERED = 0.5, 0.05
"""Iterations of a run for each variable at least: on large problems few long runs are better than many; and where the
best of several can be put together island by island, many are better than few."""

MANY_RUNS = 6
"""Soft runs that must fit in what is left for other kinds to be tried."""

CALM = 200
"""Variables from which on the scatter falls as one over the root of their number. So does that of the costs of runs,
and what a worse schedule loses is no longer won back by the luckiest of many."""

SHORT = 1 / 4
"""Where many runs fit a soft run takes between this part and all of the length that the policy wants: single runs are
worse, but more of them are among the best for the work. On problems larger than `CALM` the part is larger. Shorter ones
come near the best known cost as often for the work, but never reach it."""

COOLED = ", cooled"
"""What the name of a kind ends with whose runs are followed by sweeps of annealing: a kind of its own."""

WORK = 1 / 40
"""What a sweep takes beside an iteration of min-sum at most: with many values it is half as much."""


@dataclass(frozen=True)
class Choices:
    """What of the parameters of `bp-learned` decides about a run."""

    iterations: int | None
    temperature: bool
    online: bool
    min_sum: bool
    consensus: float
    per_variable: bool
    local_search: bool
    """Whether annealing may go on from the answers of runs."""

    @property
    def kinds(self) -> dict[str, float]:
        """Kinds of runs, and what an iteration of each takes beside the others'.

        Soft runs may be cooled. Those near the best assignment end in a walk, and other runs of min-sum are mostly too
        far from the best ones to catch up.
        """
        kept = {SOFT: True, HARD: self.min_sum, PULLED: self.min_sum and self.consensus > 0}
        plain = {kind: KINDS[kind] for kind, taken in kept.items() if taken}
        return {SOFT + COOLED: KINDS[SOFT] + WORK * EACH, **plain} if self.local_search else plain


class Draws:
    """One run after another on one graph: the policy's choice first, then what did well on the instance."""

    def __init__(self, choices: Choices, policy: Policy, graph: FactorGraph, *, scattered: bool):
        self._choices, self._policy, self._graph = choices, policy, graph
        self._features = features_of(graph)
        self._usual = self._wanted(SCATTERED if scattered else LONG)
        self._spread = SPREAD * min(1.0, math.sqrt(CALM / max(1, graph.num_variables)))
        self._kinds = choices.kinds
        self._arms = ByRank(self._kinds, PULLED)
        self._online = {
            # Runs near the best assignment mostly come back to it: their costs say nothing of how they were drawn.
            kind: Online(self._spread if kind == SOFT else HARD_SPREAD, choices.online and kind != PULLED)
            for kind in KINDS
        }

    def next(self, rng: np.random.Generator, pace: Pace, done: int, sweeps: Sweeps, *, first: bool, alone: bool) -> Run:
        """What the run after `done` iterations is given, the first one or a later one, that may be the only one.

        It may be followed by `sweeps`.
        """
        choices, wanted, left = self._choices, self._usual, pace.left(done)
        if alone and choices.iterations is None:
            wanted = min(ALONE * wanted, LONGEST)
        few = first or (left is not None and left < MANY_RUNS * wanted)
        hopeless = rng.random() >= sweeps.hope
        among = [arm for arm in self._kinds if not (few and kind_of(arm) != SOFT) and not (hopeless and cools(arm))]
        arm = self._arms.choose(rng, only=among)
        kind, cooled = kind_of(arm), cools(arm)
        if kind != SOFT:
            drawn = near_draw(rng, choices.consensus) if kind == PULLED else hard_draw(rng)
            drawn = within(self._online[kind].draw(rng, drawn), RATE[0] if left is None else 1 / max(left, 1.0))
            return self.made(kind, drawn, choices.iterations)
        if cooled:
            left = pace.left(done, sweeps.seconds)
        if not few and choices.iterations is None:
            calm = min(1.0, CALM / self._graph.num_variables) ** 2
            wanted = max(SHORTEST, wanted * SHORT ** (calm * rng.random()))
        length = choices.iterations or pace.fitting(wanted, left, first=first and not alone)
        drawn = self._policy.outputs(self._features, length)
        if not first:
            noise = self._spread * rng.normal(size=len(OUTPUTS))
            drawn = self._online[kind].draw(rng, drawn + noise)
        return self.made(kind, drawn, length, cooled=cooled)

    def made(self, kind: str, drawn: Vector, length: int | None, *, cooled: bool = False) -> Run:
        """The run that these outputs mean; a soft one may be cooled."""
        if kind != SOFT:
            return hard_run(kind, drawn, length)
        assert length is not None
        run = soft_run(drawn, self._graph, length, per_variable=self._choices.per_variable, cooled=cooled)
        return run if self._choices.temperature else replace(run, schedule=replace(run.schedule, cold=0.0))

    def resumed(self, arm: str, outputs: list[float], length: int, since: list[float]) -> Run:
        """The run that was interrupted, as long as it was then; `ValueError` if there can have been none."""
        kind, cooled = kind_of(arm), cools(arm)
        if arm not in self._kinds:
            raise ValueError("there are no such kinds of runs")
        drawn = np.array(outputs, dtype=np.float64)
        if drawn.shape != (len(OUTPUTS if kind == SOFT else HARD_OUTPUTS),) or not np.isfinite(drawn).all():
            raise ValueError("a run has other outputs")
        run = self.made(kind, drawn, length if kind == SOFT else self._choices.iterations, cooled=cooled)
        first, part = int(since[0]), float(since[1])
        if not (0 <= first < length and 0.0 <= part <= 1.0):
            raise ValueError("a run has no such part")
        return replace(run, schedule=replace(run.schedule, iterations=length, since=(first, part)))

    def learn(self, run: Run, iterations: int, uncooled: float, cost: float) -> None:
        """How a run of so many iterations did, before it was cooled and after.

        One that was cooled tells of both kinds: a cooling that finds nothing is work for nothing.
        """
        self._online[run.kind].learn(cost, run.drawn)
        self._arms.reward(run.kind, uncooled, iterations)
        if run.cooled:
            self._arms.reward(arm_of(run), cost, iterations)

    def _wanted(self, each: float) -> float:
        """Iterations of a soft run, if there is time."""
        if self._choices.iterations is not None:
            return self._choices.iterations
        length = float(np.exp(np.clip(self._policy.outputs(self._features)[-1], 0.0, 12.0)))
        return min(max(SHORTEST, length, each * self._graph.num_variables), LONGEST)

    def state_dict(self) -> State:
        """What was learned, as JSON values."""
        return {
            "online": {kind: online.state_dict() for kind, online in self._online.items()},
            "arms": self._arms.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Take it up again; `ValueError` if it cannot be."""
        for name, online in self._online.items():
            online.load_state_dict(state["online"][name])
        self._arms.load_state_dict(state["arms"])


def kind_of(arm: str) -> str:
    """The kind of run, cooled or not."""
    return arm.removesuffix(COOLED)


def cools(arm: str) -> bool:
    """Whether sweeps follow runs of this kind."""
    return arm.endswith(COOLED)


def arm_of(run: Run) -> str:
    """The kind that a run is of where cooled ones are kinds of their own."""
    return run.kind + COOLED if run.cooled else run.kind

"""Which run of `bp-learned` comes next: its kind from a bandit, its parameters from the policy and the runs before."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dabp.graph import FactorGraph
from dabp.solvers.base import State
from dabp.solvers.belief_propagation.improvement import SWEEPS_PER_ITERATION, Annealing
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
from dabp.solvers.scheduler import ByRank

if TYPE_CHECKING:
    from dabp.solvers.belief_propagation.learned import LearnedBeliefPropagation

LONGEST = 20_000
"""Iterations of a soft run at most."""

FEW_VARIABLES = 200
"""Up to this number of variables draws scatter fully and runs may be short; above, both shrink with the number."""

COOLED = ", cooled"
"""End of the name of a kind whose runs are followed by annealing."""

EXPLORED = 0.3
"""Share of runs that are drawn from the policy rather than around the best runs."""

ELITE = 5
"""Best runs that later ones are drawn around."""


class Elite:
    """The best runs of one kind, around which later runs are drawn: an evolution strategy.

    The objective is the best of all runs, so the scatter never goes away.
    """

    def __init__(self, spread: Vector, learning: bool = True):
        self._spread, self._learning = spread, learning
        self._best: list[tuple[float, Vector]] = []

    def draw(self, rng: np.random.Generator, known: Vector) -> Vector:
        """Half the spread around one of the best, or `known`: in part of the runs, and as long as there were few."""
        if len(self._best) < 3 or not self._learning:
            return known
        noise = rng.normal(size=len(self._spread))
        if rng.random() < EXPLORED:
            return known
        _, around = self._best[int(rng.integers(len(self._best)))]
        return around + 0.5 * self._spread * noise

    def learn(self, cost: float, drawn: Vector) -> None:
        """Keep a run if it is among the best; of equal ones the earlier."""
        self._best = sorted([*self._best, (cost, drawn)], key=lambda entry: entry[0])[:ELITE]

    def state_dict(self) -> State:
        """The best runs, as JSON values."""
        return {"elite": [[cost if np.isfinite(cost) else None, drawn.tolist()] for cost, drawn in self._best]}

    def load_state_dict(self, state: State) -> None:
        """Restore the best runs; `ValueError` if there can be no such runs."""
        best = [
            (np.inf if cost is None else float(cost), np.array(drawn, dtype=np.float64))
            for cost, drawn in state["elite"]
        ]
        if any(drawn.shape != self._spread.shape or not np.isfinite(drawn).all() for _, drawn in best):
            raise ValueError("what was learned has other outputs")
        self._best = best


class RunChoice:
    """Chooses one run after another on one graph: by the policy first, then near the best runs on the instance.

    Parameters
    ----------
    local_search
        Whether annealing may follow runs.
    scattered
        Whether the best of several runs can be put together island by island, so that many short runs pay.
    """

    def __init__(
        self,
        solver: LearnedBeliefPropagation,
        policy: Policy,
        graph: FactorGraph,
        *,
        local_search: bool,
        scattered: bool,
    ):
        self._solver, self._policy, self._graph = solver, policy, graph
        self._features = features_of(graph)
        self._usual = self._wanted(0.05 if scattered else 0.5)
        self._spread = SPREAD * min(1.0, math.sqrt(FEW_VARIABLES / max(1, graph.num_variables)))
        # Only soft runs are cooled: those near the best assignment end in a tabu walk, and other runs of min-sum are
        # mostly too far from the best ones. A sweep takes at most 1/40 of an iteration of min-sum.
        self.kinds = {SOFT + COOLED: KINDS[SOFT] + SWEEPS_PER_ITERATION / 40} if local_search else {}
        """Kinds of runs, and the time of one iteration of each in iterations of min-sum."""
        kept = {SOFT: True, HARD: solver.min_sum, PULLED: solver.min_sum and solver.consensus > 0}
        self.kinds |= {kind: seconds for kind, seconds in KINDS.items() if kept[kind]}
        self._arms = ByRank(self.kinds, PULLED)
        self._elites = {
            # Runs near the best assignment mostly return to it, so their costs say nothing about their parameters.
            kind: Elite(self._spread if kind == SOFT else HARD_SPREAD, solver.online and kind != PULLED)
            for kind in KINDS
        }

    def next(
        self, rng: np.random.Generator, pace: Pace, done: int, annealing: Annealing, *, first: bool, alone: bool
    ) -> Run:
        """The run after `done` iterations: the `first` one or a later one, which `annealing` may follow.

        A run that is `alone`, without any after it, is longer.
        """
        solver, wanted, left = self._solver, self._usual, pace.left(done)
        if alone and solver.iterations is None:
            wanted = min(8.0 * wanted, LONGEST)
        few = first or (left is not None and left < 6 * wanted)
        hopeless = rng.random() >= annealing.hope
        among = [arm for arm in self.kinds if not (few and kind_of(arm) != SOFT) and not (hopeless and cools(arm))]
        arm = self._arms.choose(rng, only=among)
        kind, cooled = kind_of(arm), cools(arm)
        if kind != SOFT:
            drawn = near_draw(rng, solver.consensus) if kind == PULLED else hard_draw(rng)
            drawn = within(self._elites[kind].draw(rng, drawn), RATE[0] if left is None else 1 / max(left, 1.0))
            return self.made(kind, drawn, solver.iterations)
        if cooled:
            left = pace.left(done, annealing.seconds)
        if not few and solver.iterations is None:
            # Down to a quarter of the policy's length on small problems: more runs, of which the best counts.
            small = min(1.0, FEW_VARIABLES / self._graph.num_variables) ** 2
            wanted = max(SHORTEST, wanted * 0.25 ** (small * rng.random()))
        length = solver.iterations or pace.fitting(wanted, left, first=first and not alone)
        drawn = self._policy.outputs(self._features, length)
        if not first:
            noise = self._spread * rng.normal(size=len(OUTPUTS))
            drawn = self._elites[kind].draw(rng, drawn + noise)
        return self.made(kind, drawn, length, cooled=cooled)

    def made(self, kind: str, drawn: Vector, length: int | None, *, cooled: bool = False) -> Run:
        """The run with these parameters; soft runs have a length."""
        if kind != SOFT or length is None:
            return hard_run(kind, drawn, length)
        run = soft_run(drawn, self._graph, length, per_variable=self._solver.per_variable, cooled=cooled)
        return run if self._solver.temperature else replace(run, schedule=replace(run.schedule, cold=0.0))

    def resumed(self, arm: str, outputs: list[float], length: int, since: list[float]) -> Run:
        """The run that a checkpoint interrupted; `ValueError` if there can be no such run."""
        kind, cooled = kind_of(arm), cools(arm)
        if arm not in self.kinds:
            raise ValueError("there are no such kinds of runs")
        drawn = np.array(outputs, dtype=np.float64)
        if drawn.shape != (len(OUTPUTS if kind == SOFT else HARD_OUTPUTS),) or not np.isfinite(drawn).all():
            raise ValueError("a run has other outputs")
        run = self.made(kind, drawn, length if kind == SOFT else self._solver.iterations, cooled=cooled)
        first, part = int(since[0]), float(since[1])
        if not (0 <= first < length and 0.0 <= part <= 1.0):
            raise ValueError("a run has no such part")
        return replace(run, schedule=replace(run.schedule, iterations=length, since=(first, part)))

    def learn(self, run: Run, iterations: int, uncooled: float, cost: float) -> None:
        """Learn from the cost of a run before and after annealing; a cooled run counts for both kinds."""
        self._elites[run.kind].learn(cost, run.drawn)
        self._arms.reward(run.kind, uncooled, iterations)
        if run.cooled:
            self._arms.reward(arm_of(run), cost, iterations)

    def _wanted(self, per_variable: float) -> float:
        """Iterations of a soft run without limits, with at least this number for each variable."""
        if self._solver.iterations is not None:
            return self._solver.iterations
        length = float(np.exp(np.clip(self._policy.outputs(self._features)[-1], 0.0, 12.0)))
        return min(max(SHORTEST, length, per_variable * self._graph.num_variables), LONGEST)

    def state_dict(self) -> State:
        """What was learned, as JSON values."""
        return {
            "online": {kind: elite.state_dict() for kind, elite in self._elites.items()},
            "arms": self._arms.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Restore what was learned; `ValueError` if that is impossible."""
        for name, elite in self._elites.items():
            elite.load_state_dict(state["online"][name])
        self._arms.load_state_dict(state["arms"])


def kind_of(arm: str) -> str:
    """The kind of run, cooled or not."""
    return arm.removesuffix(COOLED)


def cools(arm: str) -> bool:
    """Whether annealing follows runs of this kind."""
    return arm.endswith(COOLED)


def arm_of(run: Run) -> str:
    """The kind of a run, where cooled runs are a kind of their own."""
    return run.kind + COOLED if run.cooled else run.kind

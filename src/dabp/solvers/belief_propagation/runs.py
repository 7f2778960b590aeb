"""One run of `bp-learned`: soft messages by the schedule of the policy, or min-sum, free or near the best so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import Rules
from dabp.problem import Assignment
from dabp.solvers.belief_propagation.policy import COLD, OUTPUTS, Vector, damping_by_degree, schedule_of
from dabp.solvers.belief_propagation.reinforcement import DAMPING, FASTEST, PERTURBATION, RATE
from dabp.solvers.belief_propagation.schedule import Freezing, Ramp, Schedule

SOFT, HARD, PULLED = "soft", "min-sum", "pulled"
"""Kinds of runs: at a falling temperature; reinforced min-sum; the same, short and near the best assignment so far."""

KINDS = {SOFT: 1.3, HARD: 1.0, PULLED: 1.0}
"""What an iteration of each takes, beside that of min-sum."""

HARD_OUTPUTS = ("damping", "rate", "perturbation", "pull", "freed")
"""What a run of min-sum is given: λ, the logarithm of the rate of reinforcement, the largest of the unary costs drawn
on top and the charge for leaving the best assignment, both in scaled units, and the share of variables that leave it
free of charge."""

HARD_SPREAD = np.array([0.2, 1.0, 0.02, 0.2, 0.1])
"""How far apart two such runs are that are alike."""

HARD_RATE = (1e-4, 2e-3)
"""A run of min-sum draws its rate log-uniformly from here: of short ones more are among the best for the work, but of
those that freeze faster hardly any is the best."""

NEAR_RATE, NEAR_DAMPING = (5e-4, 1e-2), (0.0, 0.7)
"""A run near the best assignment freezes soon."""

WEAKEST = 0.005
"""The charge is drawn log-uniformly between this part of the strongest and all of it."""

STRONG = 0.5
"""A charge above this holds all variables that are not freed, so that more are freed than beside a weaker one."""

FREED, FREED_MORE = (0.2, 0.7), (0.6, 0.98)
"""Which share of variables is freed: where fewer are, the run comes back to the same assignment."""

_LOG_HARD_RATE, _LOG_NEAR_RATE = ((math.log(low), math.log(high)) for low, high in (HARD_RATE, NEAR_RATE))

_ALWAYS_COLD = Ramp(COLD, COLD)

SETTLED = 30
"""Iterations without another value after which a run of min-sum ends."""


@dataclass(frozen=True)
class Run:
    """What was drawn for a run, and what follows from it."""

    kind: str
    drawn: Vector
    schedule: Schedule
    damping: float | NDArray[np.float64]
    rules: Rules
    pull: float = 0.0
    """What leaving the best assignment costs."""
    freed: float = 0.0
    """Which share of the variables leaves it free of charge."""
    cooled: bool = False
    """Whether sweeps of annealing follow it."""

    @property
    def length(self) -> int:
        """Iterations, at most."""
        return self.schedule.iterations

    def record(self, iterations: int) -> dict[str, Any]:
        """For the trace: what was chosen, and what it came to after so many iterations.

        `soft_iterations` are the first ones, which have a temperature; what follows is min-sum.
        """
        schedule, gain = self.schedule, self.schedule.gain
        chosen: dict[str, Any] = {
            "kind": self.kind,
            "damping": schedule.damping.start,
            "perturbation": schedule.perturbation,
            "reinforcement": schedule.gain_after(iterations),
        }
        if isinstance(gain, Freezing):
            return {**chosen, "rate": gain.rate, "pull": self.pull, "freed": self.freed}
        by_degree = float(self.drawn[OUTPUTS.index("damping by degree")])
        chosen |= {"shape": gain.shape, "damping_by_degree": by_degree}
        if schedule.cold == 0:  # no temperature, though a β was drawn
            return chosen
        return {
            **chosen,
            "beta_start": schedule.beta.start,
            "beta_end": schedule.beta.end,
            "soft_iterations": min(schedule.soft_iterations, iterations),
        }


def soft_run(drawn: Vector, graph: FactorGraph, length: int, *, per_variable: bool, cooled: bool = False) -> Run:
    """A run at a falling temperature, as these outputs of the policy have it."""
    schedule = schedule_of(drawn, graph.num_edges / graph.num_variables, length)
    damping = damping_by_degree(drawn, graph) if per_variable else schedule.damping.start
    return Run(SOFT, drawn, schedule, damping, Rules(), cooled=cooled)


def hard_draw(rng: np.random.Generator) -> Vector:
    """A run of min-sum that knows nothing of others: as `bp-reinforced` draws it, but sooner frozen."""
    damping, rate, perturbation, most = rng.random(4).tolist()
    drawn = (_between(DAMPING, damping), _between(_LOG_HARD_RATE, rate), PERTURBATION * most * perturbation, 0.0, 0.0)
    return np.array(drawn)


def near_draw(rng: np.random.Generator, strongest: float) -> Vector:
    """A short run of min-sum near the best assignment: anything from a hint at all of it to a part that is held."""
    damping, rate, perturbation, most, strength, freed = rng.random(6).tolist()
    pull = strongest * WEAKEST**strength
    return np.array(
        (
            _between(NEAR_DAMPING, damping),
            _between(_LOG_NEAR_RATE, rate),
            PERTURBATION * most * perturbation,
            pull,
            _between(FREED_MORE if pull > STRONG else FREED, freed),
        )
    )


def _between(ends: tuple[float, float], part: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * part


def within(drawn: Vector, slowest: float) -> Vector:
    """The same where a run of min-sum can be, at a rate of `slowest` at least."""
    damping, log_rate, perturbation, pull, freed = drawn.tolist()
    slow, fast = math.log(min(max(RATE[0], slowest), FASTEST)), math.log(FASTEST)
    return np.array(
        (
            min(max(damping, 0.0), 0.95),
            min(max(log_rate, slow), fast),
            min(max(perturbation, 0.0), 1.0),
            max(pull, 0.0),
            min(max(freed, 0.0), 1.0),
        )
    )


def hard_run(kind: str, drawn: Vector, length: int | None) -> Run:
    """A run of min-sum, until it settles unless it has a length."""
    damping, log_rate, perturbation, pull, freed = drawn.tolist()
    rate = math.exp(log_rate)
    rules = Rules(rate=rate, patience=SETTLED) if length is None else Rules()
    schedule = Schedule(
        math.ceil(10 / rate) if length is None else length,
        _ALWAYS_COLD,
        Freezing(rate),
        Ramp(damping, damping),
        perturbation,
        cold=0.0,
    )
    return Run(kind, drawn, schedule, damping, rules, pull if kind == PULLED else 0.0, freed)


def unary_of(run: Run, chance: Vector, graph: FactorGraph, best: Assignment) -> NDArray[np.float64]:
    """Unary costs on top of the graph's: the perturbation, and the pull to the best of variables that are not freed.

    `chance` has a number between 0 and 1 for each value and then for each variable.
    """
    values = len(graph.unary)
    unary = run.schedule.perturbation * chance[:values]
    if run.pull > 0:
        charge = run.pull * (chance[values:] >= run.freed)
        unary += charge.repeat(graph.domain_sizes)
        unary[graph.variable_offsets[:-1] + best] -= charge
    return unary

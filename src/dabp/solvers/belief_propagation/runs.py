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

SOFT = "soft"
"""The kind of runs at a falling temperature."""
HARD = "min-sum"
"""The kind of runs of reinforced min-sum."""
PULLED = "pulled"
"""The kind of short runs of reinforced min-sum near the best assignment so far."""

KINDS = {SOFT: 1.3, HARD: 1.0, PULLED: 1.0}
"""Kinds of runs, and the time of one iteration of each in iterations of min-sum."""

HARD_OUTPUTS = ("damping", "rate", "perturbation", "pull", "freed")
"""Parameters of a run of min-sum: λ, the logarithm of the rate of reinforcement, the largest perturbation and the
charge for leaving the best assignment, both in scaled units, and the share of variables that are free of it."""

HARD_SPREAD = np.array([0.2, 1.0, 0.02, 0.2, 0.1])
"""Standard deviations of `HARD_OUTPUTS` around those of a good run."""

HARD_RATE = (1e-4, 2e-3)
"""Range of the rate of `HARD` runs, drawn log-uniformly: faster ones are hardly ever the best."""

STRONG = 0.5
"""Charges above this hold all variables that are not freed, so a larger share is freed."""

FREED = (0.2, 0.7)
"""Range of the share of variables that are freed beside a weak charge: with fewer the run returns to its start."""
FREED_MORE = (0.6, 0.98)
"""Range of the share of variables that are freed beside a charge above `STRONG`."""


@dataclass(frozen=True)
class Run:
    """What was drawn for a run, and what follows from it."""

    kind: str
    drawn: Vector
    schedule: Schedule
    damping: float | NDArray[np.float64]
    rules: Rules
    pull: float = 0.0
    """The cost of leaving the best assignment, in scaled units."""
    freed: float = 0.0
    """The share of variables that leave it free of charge."""
    cooled: bool = False
    """Whether annealing follows the run."""

    @property
    def length(self) -> int:
        """The number of iterations at most."""
        return self.schedule.iterations

    def record(self, iterations: int) -> dict[str, Any]:
        """For the trace, after this number of iterations; only the first `soft_iterations` have a temperature."""
        schedule, gain = self.schedule, self.schedule.gain
        chosen: dict[str, Any] = {
            "kind": self.kind,
            "damping": schedule.damping,
            "perturbation": schedule.perturbation,
            "reinforcement": float(schedule.gain_after(iterations)),
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
    damping = damping_by_degree(drawn, graph) if per_variable else schedule.damping
    return Run(SOFT, drawn, schedule, damping, Rules(), cooled=cooled)


def hard_draw(rng: np.random.Generator) -> Vector:
    """`HARD_OUTPUTS` of a run as `bp-reinforced` draws it, but with rates that freeze sooner."""
    damping, rate, perturbation, most = rng.random(4).tolist()
    log_rate = _between(math.log(HARD_RATE[0]), math.log(HARD_RATE[1]), rate)
    return np.array((_between(*DAMPING, damping), log_rate, PERTURBATION * most * perturbation, 0.0, 0.0))


def near_draw(rng: np.random.Generator, strongest: float) -> Vector:
    """`HARD_OUTPUTS` of a short run near the best assignment, with a log-uniform charge up to `strongest`."""
    damping, rate, perturbation, most, strength, freed = rng.random(6).tolist()
    pull = strongest * 0.005**strength
    log_rate = _between(math.log(5e-4), math.log(1e-2), rate)
    freed = _between(*(FREED_MORE if pull > STRONG else FREED), freed)
    return np.array((_between(0.0, 0.7, damping), log_rate, PERTURBATION * most * perturbation, pull, freed))


def _between(low: float, high: float, share: float) -> float:
    return low + (high - low) * share


def within(drawn: Vector, slowest: float) -> Vector:
    """`HARD_OUTPUTS` clipped to what is sensible, with a rate of at least `slowest`."""
    slow = math.log(min(max(RATE[0], slowest), FASTEST))
    return np.clip(drawn, [0.0, slow, 0.0, 0.0, 0.0], [0.95, math.log(FASTEST), 1.0, np.inf, 1.0])


def hard_run(kind: str, drawn: Vector, length: int | None) -> Run:
    """A run of min-sum with `HARD_OUTPUTS`; without a length until no value has changed for 30 iterations."""
    damping, log_rate, perturbation, pull, freed = drawn.tolist()
    rate = math.exp(log_rate)
    rules = Rules(rate=rate, patience=30) if length is None else Rules()
    length = math.ceil(10 / rate) if length is None else length
    schedule = Schedule(length, Ramp(COLD, COLD), Freezing(rate), damping, perturbation, cold=0.0)
    return Run(kind, drawn, schedule, damping, rules, pull if kind == PULLED else 0.0, freed)


def unary_of(run: Run, chance: Vector, graph: FactorGraph, best: Assignment) -> NDArray[np.float64]:
    """Unary costs on top of the graph's: the perturbation, and the pull of variables that are not freed to `best`.

    `chance` holds a number between 0 and 1 for each value and then for each variable.
    """
    values = len(graph.unary)
    unary = run.schedule.perturbation * chance[:values]
    if run.pull > 0:
        charge = run.pull * (chance[values:] >= run.freed)
        unary += charge.repeat(graph.domain_sizes)
        unary[graph.variable_offsets[:-1] + best] -= charge
    return unary

"""What a start of reinforced belief propagation draws: damping, rate of reinforcement and a perturbation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.graph import FactorGraph
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.schedule import Freezing, Ramp, Schedule

DAMPING = (0.0, 0.8)
"""Range of λ, drawn uniformly by all starts but the first."""

RATE = (3e-5, 3e-3)
"""Range of the rate of reinforcement, drawn log-uniformly by all starts but the first."""

PERTURBATION = 0.05
"""Unary costs that starts add are at most this, in scaled units."""

SLOWEST = 1e-5
"""Smallest rate that a limit leads to."""
FASTEST = 0.05
"""Largest rate that a limit leads to."""


@dataclass(frozen=True)
class Draw:
    """One start: damping (one, or per edge), rate of reinforcement, unary costs on top of the graph's."""

    damping: float | NDArray[np.floating[Any]]
    rate: float = 0.0
    unary: NDArray[np.floating[Any]] | None = None

    def schedule(self, beta: float) -> Schedule:
        """The schedule of the start at a constant inverse temperature."""
        return Schedule(1, Ramp(beta, beta), Freezing(self.rate), float(np.mean(self.damping)))


def first_draw(damping: float, rate: float, graph: FactorGraph, budget: Budget) -> Draw:
    """The solver's own damping and rate; the rate fits the budget, as a start takes about 1 / rate iterations.

    With 1,000 variables or more single starts differ little, and one slow start takes the whole budget.
    """
    horizon = affordable_iterations(graph, budget)
    if horizon is not None and (horizon < 1 / rate or graph.num_variables >= 1000):
        rate = float(np.clip(1 / horizon, SLOWEST, FASTEST))
    return Draw(damping, rate)


def random_draw(rng: np.random.Generator, graph: FactorGraph, budget: Budget) -> Draw:
    """A random start: the best damping and rate differ from problem to problem."""
    horizon = affordable_iterations(graph, budget)
    slowest = RATE[0] if horizon is None else float(np.clip(1 / horizon, RATE[0], FASTEST))
    damping, rate = damping_and_rate(rng, slowest)
    return Draw(damping, rate, rng.uniform(0.0, rng.uniform(0.0, PERTURBATION), size=len(graph.unary)))


def damping_and_rate(rng: np.random.Generator, slowest: float = RATE[0]) -> tuple[float, float]:
    """λ, and a rate of at least `slowest`, from `DAMPING` and `RATE`."""
    damping = rng.uniform(*DAMPING)
    return damping, float(np.exp(rng.uniform(np.log(slowest), np.log(max(RATE[1], slowest)))))


def affordable_iterations(graph: FactorGraph, budget: Budget) -> int | None:
    """About how many iterations the budget allows, None if any number.

    From a nominal speed (10 ns an edge, half a nanosecond a cell of a table of two variables and 0.7 for each variable
    of a larger one, twice that to be safe) and not from a clock, so that the same seed and limits draw the same starts
    on every machine.
    """
    horizons = []
    if budget.time_limit is not None:
        each = [0.5 if group.arity == 2 else 0.7 * group.arity for group in graph.groups]
        cells = [group.num_factors * math.prod(group.shape) * len(graph.scales) for group in graph.groups]
        seconds = 2e-9 * (10 * graph.num_edges + sum(ns * count for ns, count in zip(each, cells, strict=True))) + 1e-6
        horizons.append(budget.time_limit / seconds)
    if budget.max_iterations is not None:
        horizons.append(budget.max_iterations)
    return max(1, int(min(horizons))) if horizons else None

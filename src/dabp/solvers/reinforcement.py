"""What a start of reinforced belief propagation draws: damping, rate of reinforcement and a perturbation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dabp.graph import FactorGraph
from dabp.solvers.base import Budget

if TYPE_CHECKING:
    from dabp.solvers.belief_propagation import BeliefPropagation

DAMPING = (0.0, 0.8)
RATE = (3e-5, 3e-3)
PERTURBATION = 0.05
"""Ranges that starts after the first draw from: λ uniformly, the rate log-uniformly, unary costs up to this scaled."""


@dataclass(frozen=True)
class Draw:
    """One start: damping (one, or per edge), rate of reinforcement, unary costs on top of the graph's."""

    damping: float | NDArray[np.floating[Any]]
    rate: float = 0.0
    unary: NDArray[np.floating[Any]] | None = None


def first_draw(solver: BeliefPropagation, graph: FactorGraph, budget: Budget) -> Draw:
    """The solver's own parameters, the rate raised if the budget would end before it has frozen the beliefs."""
    return Draw(solver.damping, solver.reinforcement)


def random_draw(rng: np.random.Generator, graph: FactorGraph) -> Draw:
    """Somewhere else: the best damping and rate differ from problem to problem."""
    damping = rng.uniform(*DAMPING)
    rate = float(np.exp(rng.uniform(*np.log(RATE))))
    return Draw(damping, rate, rng.uniform(0.0, rng.uniform(0.0, PERTURBATION), size=len(graph.unary)))

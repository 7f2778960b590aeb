"""Marginals of belief propagation at a temperature: when messages have converged, and which marginals are returned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.graph.measure import MOST_SCALED
from dabp.problem import Problem
from dabp.solvers.base import State

BETA = (1e-9, 1e9)
"""Range of inverse temperatures in scaled units; single precision does not represent colder ones."""


def graph_at(
    temperature: float,
    problem: Problem,
    split_ratio: float | None = None,
    cost_scale: float | None = None,
    seed: int = 0,
    perturbation: float | None = None,
) -> tuple[FactorGraph, float]:
    """The graph of a problem for messages at a temperature, and the β of its units; above 0 in single precision."""
    dtype = np.float32 if temperature > 0 else None

    def graph(scale: float | None) -> FactorGraph:
        return FactorGraph.from_problem(problem, split_ratio, dtype, scale, seed, perturbation, temperature)

    if temperature == 0:
        return graph(cost_scale), math.inf
    if cost_scale is not None and problem.facts.table_magnitude / cost_scale > MOST_SCALED:
        raise ParameterError(f"cost_scale {cost_scale:g} is too small for these costs: sums would overflow")
    compiled = graph(cost_scale)
    if compiled.cost_scale < BETA[0] * temperature:  # a few costs may be as large as the temperature
        compiled = graph(BETA[0] * temperature)
    return compiled, min(compiled.cost_scale / temperature, BETA[1])


def enough_change(tolerance: float, beta: float, damping: ArrayLike, graph: FactorGraph, usual_scale: bool) -> float:
    """The change of a v2f message, in scaled units, below which messages at inverse temperature β have converged.

    `tolerance` is the undamped change in units of the temperature, as probabilities depend on β times a cost. Rounding
    changes a message by about 1e-5 in these units, as logarithms of weights are about 100, and with the graph's own
    scale by about 1e-6 in scaled units, as messages are up to about 16 there; such changes do not count.
    """
    degree = int(np.diff(graph.variable_edge_offsets).max(initial=1))
    rounding = math.sqrt(degree) * (1e-5 + (1e-6 * beta if usual_scale else 0.0))
    return max(tolerance, rounding) / beta * (1.0 - float(np.max(damping)))


def iterations_to_rest(diameter: int, damping: ArrayLike) -> int:
    """Iterations after which the messages of a forest with this diameter in factors no longer change.

    Exact without damping. With damping λ messages advance like random walkers who stand still with probability λ; after
    15 / (1 − λ) iterations more, and 5 / (1 − λ) for each root of the diameter, the rest is below rounding.
    """
    slowest = float(np.max(damping))
    if slowest == 0:
        return max(diameter, 1)
    return math.ceil((diameter + 5 * math.sqrt(diameter) + 15) / (1.0 - slowest))


@dataclass
class KeptMarginals:
    """Marginals of the last start that ended, or of the last that converged if one did.

    The messages of a start that a limit ends early give worse ones.
    """

    flat: NDArray[np.float64] | None = None
    """[sum D]."""
    converged: bool = False

    def keep(self, marginals: tuple[NDArray[np.float64], ...], converged: bool) -> None:
        """Keep those of a start that has just ended, unless an earlier one converged and this one did not."""
        if converged or not self.converged:
            self.flat, self.converged = np.concatenate(marginals), converged

    def of_variables(self, starts: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...] | None:
        """The marginals of variables whose values begin at `starts`; None if no start has ended."""
        return None if self.flat is None else tuple(np.split(self.flat, starts[1:]))

    def state_dict(self) -> State:
        """The marginals, if a start has ended."""
        return {} if self.flat is None else {"marginals": self.flat, "marginals_converged": self.converged}

    def load_state_dict(self, state: State, size: int) -> None:
        """Restore from a state with `size` values of variables, which older versions wrote without marginals."""
        flat: Any = state.get("marginals")
        if flat is not None and np.shape(flat) != (size,):
            raise ValueError("the marginals are not those of the variables")
        self.flat = None if flat is None else np.array(flat, dtype=np.float64)
        self.converged = flat is not None and bool(state["marginals_converged"])

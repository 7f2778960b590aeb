"""Marginals of belief propagation at a temperature: when messages have settled, and whose marginals are handed out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.base import State

BETA = (1e-9, 1e9)
"""Inverse temperatures in scaled units that messages are made at: rounding of single precision hides what is colder."""

LARGEST = 1e20
"""Of all costs together, in scaled units: 1e30, which pads domains, must stay larger than any belief."""

NOISE = 1e-5
"""What rounding changes in a factor→variable message, in units of the temperature: logarithms are about 100 before what
weights were lifted by is taken off them."""
SINGLE = 1e-6
"""… and in scaled units: messages are up to about 16, some times the range of a table, which is 2."""

FORGOTTEN, STRAGGLING = 15, 5
"""After so many times 1 / (1 − λ) iterations nothing is left of a damped message; those that came a long way are late
by so many times the root of it more."""


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
    if cost_scale is not None and problem.facts.table_magnitude / cost_scale > LARGEST:
        raise ParameterError(f"cost_scale {cost_scale:g} is too small for these costs: sums would overflow")
    compiled = graph(cost_scale)
    if compiled.cost_scale < BETA[0] * temperature:  # larger units: a few costs may be as large as the temperature
        compiled = graph(BETA[0] * temperature)
    return compiled, min(compiled.cost_scale / temperature, BETA[1])


def enough_change(tolerance: float, beta: float, damping: ArrayLike, graph: FactorGraph, usual_scale: bool) -> float:
    """What a v2f message must change by, in scaled units, for messages at inverse temperature β not to have converged.

    Probabilities see β times a cost, and a step that damping has shortened is no shorter way to go: `tolerance` is of
    the undamped change in units of the temperature. Changes that rounding makes again and again do not count; what it
    is in scaled units is known only where the scale is the graph's own.
    """
    if tolerance == 0:
        return 0.0
    degree = int(np.diff(graph.variable_edge_offsets).max(initial=1))
    rounding = math.sqrt(degree) * (NOISE + (SINGLE * beta if usual_scale else 0.0))
    return max(tolerance, rounding) / beta * (1.0 - float(np.max(damping)))


def iterations_to_rest(diameter: int, damping: ArrayLike) -> int:
    """After so many iterations the messages of a forest are what they stay, whose paths have so many factors at most.

    Without damping exactly. Otherwise a message is as far as 1 − λ of an iteration leads on average, like a walker who
    stands still with probability λ: so many of these have arrived that the others do not count.
    """
    slowest = float(np.max(damping))
    if slowest == 0:
        return max(diameter, 1)
    return math.ceil((diameter + STRAGGLING * math.sqrt(diameter) + FORGOTTEN) / (1.0 - slowest))


@dataclass
class KeptMarginals:
    """Marginals of the last start that ended, or of the last that converged if one did.

    Messages of the next start begin at zero: whoever is stopped early in it has better ones from before.
    """

    flat: NDArray[np.float64] | None = None
    """[sum D]."""
    converged: bool = False

    def keep(self, marginals: tuple[NDArray[np.float64], ...], converged: bool) -> None:
        """Those of a start that has just ended."""
        if converged or not self.converged:
            self.flat, self.converged = np.concatenate(marginals), converged

    def of_variables(self, starts: NDArray[np.int64]) -> tuple[NDArray[np.float64], ...] | None:
        """By variable, whose values start there; None if no start has ended."""
        return None if self.flat is None else tuple(np.split(self.flat, starts[1:]))

    def state_dict(self) -> State:
        """Nothing before a start has ended."""
        return {} if self.flat is None else {"marginals": self.flat, "marginals_converged": self.converged}

    def load_state_dict(self, state: State, size: int) -> None:
        """From a state with `size` values of variables, which may be older than this class."""
        flat: Any = state.get("marginals")
        if flat is not None and np.shape(flat) != (size,):
            raise ValueError("the marginals are not those of the variables")
        self.flat = None if flat is None else np.array(flat, dtype=np.float64)
        self.converged = flat is not None and bool(state["marginals_converged"])

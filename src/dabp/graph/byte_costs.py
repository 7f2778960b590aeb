"""Which tables can be kept as a byte for each cost."""

from __future__ import annotations

import numpy as np

from dabp.graph import FactorGraph
from dabp.graph.factor_graph import EXACT_COST, SINGLE_RANGE
from dabp.kernels.belief_propagation.layout import Reals
from dabp.problem import Problem


def byte_unit(graph: FactorGraph) -> Reals:
    """[1]: one over the scale of costs."""
    with np.errstate(over="ignore"):
        return np.array([1.0 / graph.cost_scale]).astype(graph.dtype)


def fits_bytes(problem: Problem, graph: FactorGraph) -> bool:
    """Whether the whole costs of tables of two variables lie between 0 and 255, and times the unit are exact.

    The products are then, bit for bit, the numbers of the graph's tables, and it is all the same whether a processor
    rounds them before it adds.
    """
    tables = problem.factor_table[problem.arities == 2]
    if graph.dtype != np.float32 or not len(tables) or not SINGLE_RANGE[0] < graph.cost_scale < SINGLE_RANGE[1]:
        return False
    lowest, highest = problem.finite_extremes
    if lowest[tables].min() < 0 or highest[tables].max() > EXACT_COST:
        return False
    whole = np.arange(EXACT_COST + 1.0)
    products = whole * byte_unit(graph).astype(np.float64)
    return bool(np.array_equal(products, (whole / graph.cost_scale).astype(graph.dtype)))

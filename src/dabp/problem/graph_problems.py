"""Famous problems on NetworkX graphs, one function each; answers have the nodes as keys."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.problem.conversion import as_float
from dabp.problem.interop import from_networkx

if TYPE_CHECKING:
    from networkx import Graph


def maxcut(graph: Graph, *, weight: str | None = "weight") -> Problem:
    """Sides 0 and 1 for the nodes, such that the edges between them weigh the most; edges without a weight weigh 1.

    Examples
    --------
    >>> import networkx, dabp
    >>> dabp.solve(maxcut(networkx.cycle_graph(5))).cost
    4.0
    """
    return from_networkx(graph, domain_size=2, edge_costs=[[0.0, 1.0], [1.0, 0.0]], weight=weight, maximize=True)


def independent_set(graph: Graph, *, weight: str | None = "weight") -> Problem:
    """1 for the nodes of a set without edges that weighs the most; nodes without a weight weigh 1.

    Examples
    --------
    >>> import networkx, dabp
    >>> dabp.solve(independent_set(networkx.petersen_graph())).cost
    4.0
    """
    weighed = graph.copy()
    for node, data in weighed.nodes(data=True):
        value = data.get(weight, 1.0) if weight is not None else 1.0
        data["costs"] = [0.0, as_float(value, f"the weight of node {node!r}")]
    return from_networkx(weighed, edge_costs=[[0.0, 0.0], [0.0, -np.inf]], maximize=True)


def colouring(graph: Graph, colours: int) -> Problem:
    """A colour from 0 on for each node, different for neighbours.

    Examples
    --------
    >>> import networkx, dabp
    >>> dabp.solve(colouring(networkx.petersen_graph(), 2)).status.value
    'INFEASIBLE'
    """
    if not isinstance(colours, Integral) or colours < 1:
        raise ParameterError(f"colours is a whole number of at least 1, not {colours!r}")
    return from_networkx(graph, domain_size=colours, edge_costs=np.where(np.eye(colours) > 0, np.inf, 0.0))

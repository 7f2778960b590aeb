"""The factor graph as the network sees it: message nodes, in-neighbours and padded messages."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.graph import FactorGraph
from dabp.problem import Problem


class Nodes(NamedTuple):
    """Where the nodes of each type are, in the order of the types' one-hot entries."""

    variables: slice
    factors: slice
    v2f: slice  # a message node for each edge
    f2v: slice


@dataclass(frozen=True)
class Structure:
    """Index arrays of one split factor graph, shared by every iteration.

    Messages are padded: ``[E, D]`` with D the largest domain, zero beyond an edge's own domain. Factors count
    copies: factor ``(g * C + c)`` of a group comes after the groups before it, so that the edges of a factor
    are consecutive.

    The network's nodes are ordered factors, v2f message nodes, variables, f2v message nodes (F + E + N + E): what
    the last layers still need is then always a prefix (`needed`).
    """

    graph: FactorGraph
    width: int  # D
    num_factors: int  # F, copies counted
    edge_factor: NDArray[np.int64]  # [E]
    edge_size: NDArray[np.int64]  # [E]: domain size of the edge's variable
    colors: NDArray[np.int64]  # [N]: greedy colour of each variable

    @property
    def num_edges(self) -> int:
        """E, edges of the split graph."""
        return self.graph.num_edges

    @property
    def num_nodes(self) -> int:
        """F + E + N + E."""
        return int(self.nodes.f2v.stop)

    @property
    def nodes(self) -> Nodes:
        """The nodes of each type."""
        ends = np.cumsum([0, self.num_factors, self.num_edges, self.graph.num_variables, self.num_edges]).tolist()
        factors, v2f, variables, f2v = (slice(*ends_of) for ends_of in pairwise(ends))
        return Nodes(variables, factors, v2f, f2v)

    @property
    def needed(self) -> tuple[int, int, int, int]:
        """How many nodes each of the four layers has to compute for the factors' last embeddings.

        A factor needs its v2f nodes one layer below, those their variables, those their f2v nodes.
        """
        variables, factors, v2f, f2v = (nodes.stop for nodes in self.nodes)
        return f2v, variables, v2f, factors

    @classmethod
    def from_graph(cls, graph: FactorGraph, problem: Problem) -> Structure:
        """Number the nodes; `problem` gives the variables' names, whose order decides the colours."""
        copies = len(graph.scales)
        edge_factor, first = [np.zeros(0, dtype=np.int64)], 0
        for group in graph.groups:
            count = group.num_factors * copies
            edge_factor.append(np.repeat(np.arange(first, first + count), group.arity))
            first += count
        by_edge = np.concatenate(edge_factor)
        sizes = graph.domain_sizes
        return cls(
            graph=graph,
            width=int(sizes.max(initial=1)),
            num_factors=first,
            edge_factor=by_edge,
            edge_size=sizes[graph.edge_variable],
            colors=greedy_colors(problem),
        )

    @property
    def factor_offsets(self) -> NDArray[np.int64]:
        """[F + 1]: factor f has edges ``factor_offsets[f]`` to ``factor_offsets[f + 1] - 1``."""
        return np.searchsorted(self.edge_factor, np.arange(self.num_factors + 1))

    @property
    def arcs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source and target of each arc: variable → v2f node → factor → f2v node → variable, and self-loops."""
        nodes, (variables, _, v2fs, f2vs) = np.arange(self.num_nodes), self.nodes
        v2f, f2v, factor = nodes[v2fs], nodes[f2vs], self.edge_factor
        variable = nodes[variables][self.graph.edge_variable]
        return np.concatenate([variable, v2f, factor, f2v, nodes]), np.concatenate([v2f, factor, f2v, variable, nodes])

    @property
    def edges_by_degree(self) -> list[NDArray[np.int64]]:
        """For each degree, the edges of its variables, [variables, degree]."""
        graph = self.graph
        starts, degrees = graph.variable_edge_offsets[:-1], np.diff(graph.variable_edge_offsets)
        return [
            graph.variable_edges[starts[degrees == degree][:, None] + np.arange(degree)]
            for degree in np.unique(degrees)
        ]

    def padded(self, flat: NDArray[np.floating], fill: float = 0.0) -> NDArray[np.floating]:
        """[sum of domain sizes] → [N, D]."""
        dense = np.full((self.graph.num_variables, self.width), fill, dtype=flat.dtype)
        dense[self.domain_mask] = flat
        return dense

    @property
    def domain_mask(self) -> NDArray[np.bool_]:
        """[N, D]: where a variable has a value."""
        return np.arange(self.width) < self.graph.domain_sizes[:, None]

    @property
    def alone(self) -> NDArray[np.bool_]:
        """[E]: whether the variable has no other factor."""
        degrees = np.diff(self.graph.variable_edge_offsets)
        return np.equal(degrees[self.graph.edge_variable], 1)


def greedy_colors(problem: Problem) -> NDArray[np.int64]:
    """The smallest colour free among coloured neighbours, variable by variable in the order of their names' text."""
    neighbours: list[set[int]] = [set() for _ in range(problem.num_variables)]
    for group in problem.facts.arity_groups:
        for scope in group.variables.tolist():
            for variable in scope:
                neighbours[variable].update(scope)
    colors = np.full(problem.num_variables, -1, dtype=np.int64)
    names = problem.names.variables
    for variable in sorted(range(problem.num_variables), key=names.__getitem__):
        taken = {int(colors[other]) for other in neighbours[variable]}
        color = 0
        while color in taken:
            color += 1
        colors[variable] = color
    return colors

"""The factor graph as the network sees it: message nodes, in-neighbours and padded messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from dabp.graph import FactorGraph
from dabp.kernels.attention.one_variable import VariableEdges
from dabp.problem import Problem
from dabp.problem.columns import offsets_of


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
    width: int
    """D."""
    num_factors: int
    """F, copies counted."""
    edge_factor: NDArray[np.int64]
    """[E]."""
    edge_size: NDArray[np.int64]
    """[E]: domain size of the edge's variable."""
    in_offsets: NDArray[np.int64]
    """[F + E + N + E + 1]: neighbours of node i, without itself, are ``in_nodes[in_offsets[i]:in_offsets[i + 1]]``."""
    in_nodes: NDArray[np.int64]
    colors: NDArray[np.int64]
    """[N]: greedy colour of each variable."""

    @property
    def num_variables(self) -> int:
        """N."""
        return self.graph.num_variables

    @property
    def num_edges(self) -> int:
        """E."""
        return self.graph.num_edges

    @property
    def num_nodes(self) -> int:
        """F + E + N + E."""
        return len(self.in_offsets) - 1

    @property
    def needed(self) -> tuple[int, int, int, int]:
        """How many nodes each of the four layers has to compute for the factors' last embeddings.

        A factor needs its v2f nodes one layer below, those their variables, those their f2v nodes.
        """
        factors, edges = self.num_factors, self.num_edges
        return self.num_nodes, factors + edges + self.num_variables, factors + edges, factors

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
        in_offsets, in_nodes = _in_neighbours(graph, by_edge, first)
        return cls(
            graph=graph,
            width=int(sizes.max(initial=1)),
            num_factors=first,
            edge_factor=by_edge,
            edge_size=sizes[graph.edge_variable],
            in_offsets=in_offsets,
            in_nodes=in_nodes,
            colors=greedy_colors(problem),
        )

    @property
    def by_variable(self) -> VariableEdges:
        """The edges of each variable and their factors, for the kernels."""
        return VariableEdges(self.graph.variable_edge_offsets, self.graph.variable_edges, self.edge_factor)

    @property
    def edges_by_degree(self) -> list[NDArray[np.int64]]:
        """For each degree above 1, the edges of its variables, [variables, degree]."""
        graph = self.graph
        starts, degrees = graph.variable_edge_offsets[:-1], np.diff(graph.variable_edge_offsets)
        return [
            graph.variable_edges[starts[degrees == degree][:, None] + np.arange(degree)]
            for degree in np.unique(degrees[degrees > 1]).tolist()
        ]

    def padded(self, flat: NDArray[np.floating], fill: float = 0.0) -> NDArray[np.floating]:
        """[sum of domain sizes] → [N, D]."""
        dense = np.full((self.num_variables, self.width), fill, dtype=flat.dtype)
        dense[self.domain_mask] = flat
        return dense

    @property
    def domain_mask(self) -> NDArray[np.bool_]:
        """[N, D]: where a variable has a value."""
        return np.arange(self.width) < self.graph.domain_sizes[:, None]

    @property
    def edge_unary(self) -> NDArray[np.floating]:
        """[E, D]: the unary costs of each edge's variable, zero beyond its domain."""
        return self.padded(self.graph.unary)[self.graph.edge_variable]

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """[E, D]: where a message has no value."""
        return np.arange(self.width) >= self.edge_size[:, None]

    @property
    def alone(self) -> NDArray[np.bool_]:
        """[E]: whether the variable has no other factor."""
        degrees = np.diff(self.graph.variable_edge_offsets)
        return np.equal(degrees[self.graph.edge_variable], 1)


def _in_neighbours(
    graph: FactorGraph, edge_factor: NDArray[np.int64], num_factors: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Variable → v2f node → factor, factor → f2v node → variable."""
    edges, variables = graph.num_edges, graph.num_variables
    v2f, variable, f2v = num_factors, num_factors + edges, num_factors + edges + variables
    in_nodes = np.concatenate(
        [
            v2f + np.arange(edges),  # edges are numbered factor by factor
            variable + graph.edge_variable,
            f2v + graph.variable_edges,
            edge_factor,
        ]
    )
    degrees = np.concatenate(
        [
            np.bincount(edge_factor, minlength=num_factors),
            np.ones(edges, dtype=np.int64),
            np.diff(graph.variable_edge_offsets),
            np.ones(edges, dtype=np.int64),
        ]
    )
    return offsets_of(degrees), in_nodes.astype(np.int64)


def greedy_colors(problem: Problem) -> NDArray[np.int64]:
    """The smallest colour free among coloured neighbours, variable by variable in the order of their names' text."""
    neighbours: list[set[int]] = [set() for _ in range(problem.num_variables)]
    for group in problem.arity_groups:
        for scope in group.variables.tolist():
            for variable in scope:
                neighbours[variable].update(scope)
    colors = np.full(problem.num_variables, -1, dtype=np.int64)
    names = problem.variable_names
    for variable in sorted(range(problem.num_variables), key=names.__getitem__):
        taken = {int(colors[other]) for other in neighbours[variable]}
        color = 0
        while color in taken:
            color += 1
        colors[variable] = color
    return colors


def tensor(array: NDArray[np.generic], device: torch.device) -> torch.Tensor:
    """A copy of an array on a device, in memory of PyTorch: sums in its libraries depend on the alignment of arrays."""
    return torch.from_numpy(np.array(array)).clone().to(device)


def arrays(*tensors: torch.Tensor) -> list[NDArray[np.floating]]:
    """The same numbers for kernels, row by row."""
    return [one.detach().contiguous().numpy() for one in tensors]

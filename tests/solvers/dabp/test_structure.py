"""The graph that the network sees: message nodes, neighbours, colours."""

from __future__ import annotations

import networkx as nx
import numpy as np

from dabp.problem import Problem
from dabp.solvers.dabp.structure import greedy_colors
from tests.problems import random_problem
from tests.solvers.dabp.graphs import mixed, structure_of


def test_messages_pass_from_variables_to_factors_and_back() -> None:
    """Every edge makes the paths variable → v2f node → factor and factor → f2v node → variable, and that is all."""
    structure = structure_of(mixed())
    factors, edges, variables = structure.num_factors, structure.num_edges, structure.graph.num_variables
    graph = nx.DiGraph()
    graph.add_edges_from(zip(*(nodes.tolist() for nodes in structure.arcs), strict=True))
    assert all(graph.has_edge(node, node) for node in range(structure.num_nodes))
    assert graph.number_of_edges() == 4 * edges + structure.num_nodes
    for edge in range(edges):
        factor, variable = int(structure.edge_factor[edge]), factors + edges + int(structure.graph.edge_variable[edge])
        v2f, f2v = factors + edge, factors + edges + variables + edge
        assert nx.is_path(graph, [variable, v2f, factor, f2v, variable])


def test_edges_by_degree_are_those_of_each_variable() -> None:
    """Every edge once, in a row with the other edges of its variable."""
    structure = structure_of(mixed())
    rows = [row for block in structure.edges_by_degree for row in block.tolist()]
    assert sorted(edge for row in rows for edge in row) == list(range(structure.num_edges))
    owner = structure.graph.edge_variable
    assert all(len(set(owner[row].tolist())) <= 1 for row in rows)
    assert [len(row) for row in rows] == sorted(len(row) for row in rows)
    factors = np.repeat(np.arange(structure.num_factors), np.diff(structure.factor_offsets))
    assert factors.tolist() == structure.edge_factor.tolist()


def test_layers_compute_what_the_factors_need() -> None:
    """All in-neighbours of the nodes that a layer computes are computed by the layer below."""
    structure = structure_of(mixed())
    source, target = structure.arcs
    for below, count in zip(structure.needed, structure.needed[1:], strict=False):
        assert source[target < count].max(initial=0) < below
    assert structure.needed[-1] == structure.num_factors


def test_colours_differ_between_neighbours() -> None:
    """Variables of one factor have different colours, and names decide who is coloured first."""
    for seed in range(20):
        problem = random_problem(seed)
        colors = greedy_colors(problem)
        for group in problem.facts.arity_groups:
            for scope in group.variables:
                assert len(set(colors[scope].tolist())) == len(scope)
    pair = Problem([2, 2], [0, 1], [0, 2], np.zeros(4), [0, 4], variable_names=["x2", "x10"])
    assert greedy_colors(pair).tolist() == [1, 0]

"""Parts of a problem that share no factor."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dabp.graph.components import component, component_labels
from dabp.problem import Problem
from tests.problems import drawn_problem, random_problem


def test_components_add_up() -> None:
    """The cost of the whole is the constant and the costs of its components."""
    rng = np.random.default_rng(3)
    parts = [drawn_problem(np.random.default_rng(seed), dense=True, hard=0.0) for seed in range(4)]
    first = np.cumsum([0] + [p.num_variables for p in parts])
    whole = Problem(
        np.concatenate([p.domain_sizes for p in parts]),
        np.concatenate([p.scope_variables + shift for p, shift in zip(parts, first[:-1], strict=True)]),
        np.concatenate([[0], np.cumsum(np.concatenate([p.arities for p in parts]))]),
        np.concatenate([p.pool for p in parts]),
        np.concatenate([[0], np.cumsum(np.concatenate([np.diff(p.pool_offsets) for p in parts]))]),
    )
    labels, count = component_labels(whole)
    assert count == 4
    values = rng.integers(0, whole.domain_sizes)
    total = sum(t for f in range(whole.num_factors) if whole.arities[f] == 0 for t in whole.table(f).ravel())
    for which in range(count):
        part, variables = component(whole, labels, np.array([which]))
        total += part.cost(values[variables])
    assert total == pytest.approx(whole.cost(values))


def test_components_are_those_of_a_graph_library_and_computed_once() -> None:
    """Variables are together exactly if NetworkX has them in one component; asking again gives the same array."""
    for seed in range(50):
        problem = random_problem(seed)
        graph = nx.Graph()
        graph.add_nodes_from(range(problem.num_variables))
        for f in range(problem.num_factors):
            nx.add_path(graph, problem.scope(f).tolist())
        labels, count = component_labels(problem)
        parts = {frozenset(np.flatnonzero(labels == which).tolist()) for which in range(count)}
        assert parts == {frozenset(part) for part in nx.connected_components(graph)}
        assert component_labels(problem)[0] is labels

"""What the families share: random graphs and their tables as a problem."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dabp.lab.generators.graphs import binary_problem, random_edges, random_tree, uniform_costs


def test_a_random_tree_spans_without_a_cycle() -> None:
    """N − 1 edges that join everything, whatever the seed; one vertex has none."""
    for seed in range(5):
        tree = nx.Graph(sorted(random_tree(np.random.default_rng(seed), 30)))
        assert nx.is_tree(tree)
        assert len(tree) == 30
    assert random_tree(np.random.default_rng(0), 1) == set()


@pytest.mark.parametrize("density", [0.0, 0.05, 0.25, 0.9, 1.0])
def test_authors_random_graphs_are_connected_with_an_exact_number_of_edges(density: float) -> None:
    """The authors' program counts edges exactly, whether few are drawn or few are left out; a tree is the least."""
    edges = random_edges(np.random.default_rng(1), 40, density, "authors")
    found = nx.Graph(edges.tolist())
    assert nx.is_connected(found)
    assert len(edges) == found.number_of_edges() == max(39, int(density * 40 * 39 / 2))
    assert np.all(edges[:, 0] < edges[:, 1])


def test_the_texts_random_graphs_draw_every_pair() -> None:
    """Each pair with the same probability: the number of edges varies around its mean."""
    counts = [len(random_edges(np.random.default_rng(seed), 40, 0.25, "text")) for seed in range(50)]
    assert len(set(counts)) > 1
    assert np.mean(counts) == pytest.approx(0.25 * 40 * 39 / 2, rel=0.05)


def test_tables_lie_in_the_order_of_the_edges() -> None:
    """The cost of an assignment is the sum of the cells that it picks."""
    edges = np.array([[0, 1], [1, 2]])
    tables = uniform_costs(np.random.default_rng(0), 2, 3, 100)
    problem = binary_problem("p", 3, 3, edges, tables)
    assert problem.cost([2, 0, 1]) == tables[0, 2, 0] + tables[1, 0, 1]
    assert set(np.unique(uniform_costs(np.random.default_rng(0), 40, 3, 2))) == {0.0, 1.0, 2.0}

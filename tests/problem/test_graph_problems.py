"""Famous problems on graphs, against NetworkX and enumeration."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

import dabp


@pytest.mark.parametrize("seed", range(5))
def test_costs_are_those_of_the_graph(seed: int) -> None:
    """Cuts as NetworkX weighs them, and sets and colourings by enumeration; edge costs of the graph stay unused."""
    graph = nx.gnp_random_graph(7, 0.5, seed=seed)
    rng = np.random.default_rng(seed)
    for *_, data in graph.edges(data=True):
        data["weight"] = int(rng.integers(1, 9))
    subsets = [set(nodes) for r in range(8) for nodes in itertools.combinations(graph, r)]
    cut = dabp.solve(dabp.maxcut(graph), threads=1)
    assert cut.cost == max(nx.cut_size(graph, nodes, weight="weight") for nodes in subsets)
    chosen = dabp.solve(dabp.independent_set(graph), threads=1)
    assert chosen.cost == max(len(nodes) for nodes in subsets if not graph.subgraph(nodes).edges)
    for colours in (2, 3, 4):
        result = dabp.solve(dabp.colouring(graph, colours), threads=1)
        proper = any(
            all(row[a] != row[b] for a, b in graph.edges) for row in itertools.product(range(colours), repeat=7)
        )
        assert result.feasible == proper


def test_weights_of_nodes_count() -> None:
    """The middle of a path alone where it weighs more than both ends, and answers have nodes as keys."""
    graph = nx.path_graph(["a", "b", "c"])
    graph.nodes["b"]["weight"] = 3
    result = dabp.solve(dabp.independent_set(graph))
    assert (result.cost, result.values) == (3.0, {"a": 0, "b": 1, "c": 0})
    assert "costs" not in graph.nodes["b"]
    with pytest.raises(dabp.DabpError, match="colours"):
        dabp.colouring(graph, 0)
    with pytest.raises(dabp.DabpError, match="whole number"):
        dabp.colouring(graph, "3")  # type: ignore[arg-type]

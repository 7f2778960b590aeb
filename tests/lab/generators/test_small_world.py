"""Small-world networks."""

from __future__ import annotations

import networkx as nx

from dabp.lab.generators.small_world import small_world


def test_small_world_contains_its_ring() -> None:
    """Every vertex keeps its k nearest neighbours; about p·n·k/2 shortcuts are added."""
    problem = small_world(variables=100, domain=2, k=10, p=0.3, seed=0)
    edges = set(map(tuple, problem.scope_variables.reshape(-1, 2).tolist()))
    assert all((min(u, (u + s) % 100), max(u, (u + s) % 100)) in edges for u in range(100) for s in range(1, 6))
    assert 500 + 100 < problem.num_factors < 500 + 200


def test_without_shortcuts_it_is_networkx_ring() -> None:
    """With p = 0 the graph is the ring lattice, edge for edge; a complete ring has no room for shortcuts."""
    problem = small_world(variables=20, domain=2, k=6, p=0.0)
    ring = nx.newman_watts_strogatz_graph(20, 6, 0.0)
    assert {frozenset(edge) for edge in problem.scope_variables.reshape(-1, 2).tolist()} == set(
        map(frozenset, ring.edges)
    )
    assert small_world(variables=5, domain=2, k=4, p=1.0).num_factors == 10

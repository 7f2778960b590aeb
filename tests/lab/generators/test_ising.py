"""Ising problems on a torus."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dabp.lab.generators.ising import ising


@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (5, 3), (1, 6), (7, 1), (1, 1)])
def test_the_graph_is_a_torus(rows: int, columns: int) -> None:
    """Pairs are the edges of NetworkX's periodic grid; names are pyDCOP's."""
    problem = ising(row_count=rows, col_count=columns, seed=3)
    grid = nx.grid_2d_graph(rows, columns, periodic=True)
    grid.remove_edges_from(list(nx.selfloop_edges(grid)))
    expected = {frozenset(f"v_{r}_{c}" for r, c in edge) for edge in grid.edges}
    pairs = [factor for factor in problem.factors if len(factor.scope) == 2]
    assert {frozenset(problem.names.variable(v) for v in factor.scope) for factor in pairs} == expected
    assert len(pairs) == len(expected)
    assert all(f.name == "cb_" + "_".join(problem.names.variable(v) for v in f.scope) for f in pairs)


def test_costs() -> None:
    """Equal neighbours cost k, others −k, |k| up to β; 0 costs r and 1 −r, |r| up to ρ; both signs occur."""
    problem = ising(row_count=9, col_count=9, bin_range=2.5, un_range=0.5, seed=1)
    pairs = np.array([f.table for f in problem.factors if len(f.scope) == 2])
    fields = np.array([f.table for f in problem.factors if len(f.scope) == 1])
    assert (pairs == pairs[:, :1, :1] * np.array([[1, -1], [-1, 1]])).all()
    assert (fields == fields[:, :1] * np.array([1, -1])).all()
    assert 2 < np.abs(pairs).max() <= 2.5
    assert 0.4 < np.abs(fields).max() <= 0.5
    assert {-1.0, 1.0} == set(np.sign(pairs[:, 0, 0]))

"""The flow is as large as SciPy's, and the trees are a cut of that size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from dabp.kernels.graph_cut.max_flow import SINK, Network, advance, begin, network
from dabp.problem.columns import offsets_of


def drawn(rng: np.random.Generator, nodes: int, arcs: int) -> tuple[Network, np.ndarray, np.ndarray]:
    """A network with random capacities, also of parallel arcs; its arcs [A, 2], and capacities with terminals first."""
    ends = rng.integers(0, nodes, (arcs, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    tails, heads = np.concatenate([ends, ends[:, ::-1]]).T
    order = np.argsort(tails, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    partner = np.concatenate([place[len(ends) :], place[: len(ends)]])[order]
    net = network(offsets_of(np.bincount(tails, minlength=nodes)), heads[order], partner)
    net.capacity[:] = rng.integers(0, 10, len(order))
    net.excess[:] = rng.integers(-15, 16, nodes)
    net.alive[:] = rng.random(nodes) < 0.9
    return net, tails[order], heads[order]


@pytest.mark.parametrize("work", [1, 10**9])
def test_flow_and_cut(work: int) -> None:
    """On random graphs, in one go and in the smallest pieces."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        nodes = int(rng.integers(1, 30))
        net, tails, heads = drawn(rng, nodes, int(rng.integers(0, 90)))
        capacity, excess, alive = net.capacity.copy(), net.excess.copy(), net.alive.copy()
        begin(net)
        while not advance(net, work):
            pass
        living = alive[tails] & alive[heads]
        rows = np.concatenate([tails[living], np.full(nodes, nodes), np.arange(nodes)])
        columns = np.concatenate([heads[living], np.arange(nodes), np.full(nodes, nodes + 1)])
        sizes = np.concatenate([capacity[living], np.maximum(excess, 0) * alive, np.maximum(-excess, 0) * alive])
        graph = csr_matrix((sizes.astype(np.int32), (rows, columns)), shape=(nodes + 2, nodes + 2))
        wanted = maximum_flow(graph, nodes, nodes + 1).flow_value
        source_side = (net.tree != SINK) & alive
        crossing = living & source_side[tails] & ~source_side[heads]
        cut = capacity[crossing].sum()
        cut += np.maximum(excess, 0)[alive & ~source_side].sum() + np.maximum(-excess, 0)[source_side].sum()
        assert cut == wanted
        assert (net.capacity >= 0).all()


def test_real_capacities_end() -> None:
    """Saturated arcs hold exactly nothing, so that rounding never keeps the search going."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        net, _, _ = drawn(rng, 40, 160)
        net.capacity[:] = rng.random(len(net.capacity)) * 10.0 ** rng.integers(-9, 9, len(net.capacity))
        net.excess[:] = rng.normal(size=40) * 10.0 ** rng.integers(-9, 9, 40)
        begin(net)
        assert any(advance(net, 10_000) for _ in range(1000))

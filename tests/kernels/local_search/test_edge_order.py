"""Factors of two variables as edges in order."""

from __future__ import annotations

import numpy as np

from dabp.kernels.local_search.edge_order import Directed, Ordered, order_edges


def test_edges_are_sorted_by_both_ends_then_as_they_come() -> None:
    """Against NumPy's lexsort, with parallel factors, variables without any, and edges that are left out."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        count, factors = int(rng.integers(2, 9)), int(rng.integers(0, 30))
        pairs = np.array([rng.choice(count, 2, replace=False) for _ in range(factors)], dtype=np.int64).reshape(-1, 2)
        soft = np.where(rng.random(2 * factors) < 0.7, rng.integers(0, 99, 2 * factors), -1)
        forbids = bool(rng.random() < 0.5)
        hard = np.where(rng.random(2 * factors) < 0.4, rng.integers(0, 99, 2 * factors), -1)
        hard, weight = (hard, rng.integers(0, 9, factors)) if forbids else (hard[:0], hard[:0])
        kept = np.flatnonzero((soft >= 0) | (hard >= 0) if forbids else soft >= 0)
        pairs.flags.writeable = False
        made = Ordered(np.zeros(count + 1, dtype=np.int64), *(np.full(len(kept), -1, dtype=np.int64) for _ in range(4)))
        room = np.empty(len(kept), dtype=np.int32)
        order_edges(Directed(pairs, soft, hard, weight), np.zeros(count + 1, dtype=np.int64), room, made)
        source, target = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
        order = kept[np.lexsort((target[kept], source[kept]))]
        assert np.array_equal(np.diff(made.offsets), np.bincount(source[kept], minlength=count))
        assert np.array_equal(made.target, target[order])
        assert np.array_equal(made.soft_at, soft[order])
        assert np.array_equal(made.hard_at, hard[order] if forbids else np.full(len(kept), -1))
        assert np.array_equal(made.weight, np.tile(weight, 2)[order] if forbids else np.full(len(kept), -1))

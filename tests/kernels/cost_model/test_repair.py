"""The pseudo-tree of a cycle."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.cost_model.repair import Cycle, destroy
from dabp.solvers.gat_pcm.cost_tables import structure
from tests.lab.cost_model.trees import pairwise


def test_pseudo_tree() -> None:
    """Every pair of destroyed neighbours lies on one path from a root: siblings' subtrees share no constraint."""
    rng = np.random.default_rng(7)
    problem = pairwise(rng, n=40, extra=30)
    arrays = structure(problem)
    destroyed, values = rng.random(40) < 0.5, rng.integers(4, size=40)
    cycle = Cycle(
        values=values,
        position=np.empty(40, dtype=np.int64),
        penalised=np.empty(160),
        amount=np.empty(160, dtype=np.float32),
        assigned=np.empty(40, dtype=bool),
    )
    order = destroy(arrays, cycle, destroyed, rng.permutation(40))
    assert sorted(order.tolist()) == np.flatnonzero(destroyed).tolist()
    ancestors: dict[int, set[int]] = {}
    for v in order.tolist():
        earlier = [
            int(w)
            for w in arrays.neighbour[arrays.begin[v] : arrays.begin[v + 1]]
            if 0 <= cycle.position[w] < cycle.position[v]
        ]
        parent = max(earlier, key=lambda w: cycle.position[w], default=None)
        ancestors[v] = set() if parent is None else ancestors[parent] | {parent}
        assert set(earlier) <= ancestors[v]
        for a in range(4):
            trial = values.copy()
            trial[v] = a
            expected = sum(
                problem.table(f)[tuple(trial[problem.scope(f)])]
                for f in range(problem.num_factors)
                if v in problem.scope(f) and not destroyed[next(w for w in problem.scope(f) if w != v)]
            )
            assert cycle.penalised[arrays.first_value[v] + a] == pytest.approx(expected)

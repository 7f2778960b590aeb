"""Binary factors joined along cliques."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest

from dabp.presolve.joining import join_cliques
from dabp.presolve.merging import merge_factors
from dabp.problem import Problem
from tests.problems import all_assignments, drawn_problem


@pytest.mark.parametrize("largest", [3, 4])
def test_joining_cliques_keeps_every_cost(largest: int) -> None:
    """Binary factors joined along cliques cost the same together, in fewer factors."""
    fewer = 0
    for seed in range(60):
        problem = merge_factors(drawn_problem(np.random.default_rng(seed), dense=True))
        joined = join_cliques(problem, largest, 1000)
        rows = all_assignments(problem)
        assert np.allclose(problem.cost(rows), joined.cost(rows))
        assert joined.arities.max() <= max(largest, problem.arities.max())
        fewer += joined.num_factors < problem.num_factors
    assert fewer > 40


def test_tables_that_do_not_fit_are_not_built() -> None:
    """The cells are counted first; those that fit are in memory about twice while they are built."""
    pairs = np.array(list(itertools.combinations(range(24), 2)))
    table = np.random.default_rng(0).random(20 * 20)
    offsets = np.arange(0, 2 * len(pairs) + 1, 2)
    problem = Problem([20] * 24, pairs.ravel(), offsets, table, [0, 400], [0] * len(pairs))
    join_cliques(problem, 3, 100_000)  # compiles
    peaks = []
    for max_cells in (500_000, 1_000_000):
        tracemalloc.start()
        joined = join_cliques(problem, 3, 100_000, max_cells)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert 500_000 < len(joined.pool) <= 1_000_000
    assert peaks[0] < 500_000
    assert peaks[1] < 3 * joined.pool.nbytes

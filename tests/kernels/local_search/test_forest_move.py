"""One move on a forest."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.local_search.forest_move import Forest, forest_move, penalised_cost
from dabp.solvers.forests import Forests
from tests.problems import all_assignments, drawn_problem


@pytest.mark.parametrize("seed", range(30))
def test_a_move_is_the_joint_optimum_of_what_it_frees(seed: int) -> None:
    """Given the others, no assignment of the free variables is cheaper; no factor has three of them."""
    problem = drawn_problem(np.random.default_rng(seed), dense=True, hard=0.0)
    columns = Forests(problem).columns
    forest = Forest.empty(columns)
    before = np.random.default_rng(seed).integers(0, problem.domain_sizes)
    after, random = before.copy(), np.array([seed + 1], dtype=np.uint64)
    forest_move(columns, forest, 0.0, random, after)
    free = forest.free.astype(bool)
    assert free.any()
    assert np.array_equal(after[~free], before[~free])
    assert all(free[problem.scope(f)].sum() <= 2 for f in range(problem.num_factors))
    rows = all_assignments(problem)
    rows = rows[(rows[:, ~free] == before[~free]).all(axis=1)]
    assert problem.cost(after) == problem.cost(rows).min()
    constant = problem.cost(before) - penalised_cost(columns, before)
    assert penalised_cost(columns, after) + constant == pytest.approx(problem.cost(after))

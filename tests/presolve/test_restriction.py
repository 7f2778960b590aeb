"""Values taken away, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.presolve.restriction import Restricted
from dabp.presolve.sharing import sharing
from dabp.problem import Problem
from tests.problems import all_assignments, random_problem


def test_restricting_keeps_every_cost() -> None:
    """Whatever values go, the cost of those that stay is the same, also where tables of other shapes are shared."""
    for seed in range(150):
        problem = random_problem(seed, maximize=False)
        rng = np.random.default_rng(seed)
        kept = rng.random(problem.domain_sizes.sum()) < 0.6
        kept[np.cumsum(problem.domain_sizes) - 1] = True
        reduced = Restricted(problem, kept)
        assert sharing(problem, kept).cells == len(reduced.problem.pool)
        for row in all_assignments(reduced.problem)[:50]:
            assert reduced.problem.cost(row) == pytest.approx(problem.cost(reduced.lift(row)))


def test_one_pool_of_cells_read_in_two_shapes_is_cut_twice() -> None:
    """A table used as 2×3 and as 3×2 is two different tables once the first value of every variable is gone."""
    problem = Problem([2, 3, 3, 2], [0, 1, 2, 3], [0, 2, 4], np.arange(6.0), [0, 6], [0, 0])
    reduced = Restricted(problem, np.array([0, 1, 0, 1, 1, 0, 1, 1, 0, 1], dtype=bool)).problem
    assert np.sort(reduced.pool).tolist() == [3.0, 4.0, 5.0, 5.0]

"""What DSA, MGM, MGM-2 and GDBA share."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from tests.problems import exhaustive_optimum, random_problem


@pytest.mark.parametrize("solver", ["dsa", "mgm", "mgm2", "gdba"])
@pytest.mark.parametrize("seed", range(12))
def test_never_better_than_exhaustive_search(solver: str, seed: int) -> None:
    """Any problem is taken, costs are exact, and the same seed gives the same rounds."""
    problem = random_problem(seed)
    optimum = exhaustive_optimum(problem)
    result, again = (dabp.solve(problem, solver, max_iterations=50, seed=seed) for _ in range(2))
    np.testing.assert_array_equal(result.trace.iteration_costs, again.trace.iteration_costs)
    if result.cost is None:
        return
    assert optimum is not None
    assert result.cost == problem.cost(result.assignment)
    sign = -1 if problem.maximize else 1
    assert sign * result.cost >= sign * optimum - 1e-9

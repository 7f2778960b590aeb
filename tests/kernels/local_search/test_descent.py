"""One sweep of descent: each variable in turn is at its cheapest value given the others."""

import numpy as np

from dabp.kernels.local_search.descent import descend
from dabp.solvers.descent import entries_of
from tests.problems import random_problem


def test_a_sweep_follows_the_definition() -> None:
    """The same values as trying every value of every variable in turn, for any arity."""
    for seed in range(40):
        problem = random_problem(seed, maximize=False)
        if np.isinf(problem.pool).any():
            continue
        slow = np.zeros(problem.num_variables, dtype=np.int64)
        fast = slow.copy()
        changes = 0
        for variable, size in enumerate(problem.domain_sizes):
            tried = np.tile(slow, (size, 1))
            tried[:, variable] = np.arange(size)
            costs = problem.cost(tried)
            if costs.min() < costs[slow[variable]] - 1e-9:
                changes += 1
                slow[variable] = costs.argmin()
        room = np.zeros(problem.domain_sizes.max(initial=1))
        assert descend(entries_of(problem), fast, room, 0, problem.num_variables) == changes
        assert problem.cost(fast) == problem.cost(slow)

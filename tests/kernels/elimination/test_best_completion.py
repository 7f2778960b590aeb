"""What a value costs more than the best completion, by enumeration."""

from __future__ import annotations

import itertools

import numpy as np

from dabp.kernels.elimination.best_completion import complete
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.elimination.mini_bucket import MiniBucketSearch


def test_rises_are_differences_of_the_best_extensions() -> None:
    """On a chain with a forbidden cell: each value against the least cost with the later variables as they are."""
    rng = np.random.default_rng(0)
    tables = [((i, i + 1), rng.integers(0, 50, (3, 3)).astype(float)) for i in range(4)]
    tables[1][1][2, 1] = np.inf
    problem = Problem.from_tables([3] * 5, tables)
    search = MiniBucketSearch(problem, 5, 10**6, guard=Guard(), keep_messages=True)
    assert search.exact
    plan, pool = search.solved()
    values, rises = np.zeros(5, dtype=np.int64), np.full((5, 3), np.inf)
    assert complete(search.order, problem.domain_sizes, plan.functions, plan.buckets, pool, 5, values, rises) == -1
    everything = np.array(list(itertools.product(range(3), repeat=5)))
    costs = problem.cost(everything)
    assert problem.cost(values) == costs.min()
    for rank, variable in enumerate(search.order.tolist()):
        later = search.order[rank + 1 :]
        fits = (everything[:, later] == values[later]).all(axis=1)
        best = [costs[fits & (everything[:, variable] == x)].min() for x in range(3)]
        np.testing.assert_allclose(rises[rank], np.array(best) - costs.min())

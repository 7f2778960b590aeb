"""Coordinate descent ends where no single change is better."""

from __future__ import annotations

import numpy as np

from dabp.solvers.base import Budget
from dabp.solvers.local_search.icm import Icm
from dabp.solvers.status import Status
from tests.problems import random_problem


def test_ends_in_a_local_minimum() -> None:
    """No variable alone could be changed for the better; what is told costs what it says."""
    for seed in range(20):
        problem = random_problem(seed)
        search = Icm().start(problem, seed=0, budget=Budget())
        best, cost, finished = np.zeros(problem.num_variables, dtype=np.int64), np.inf, None
        while finished is None:
            step = search.step()
            if step.best is not None:
                best, cost = step.best, step.best_cost
            finished = step.finished
        assert finished is Status.CONVERGED
        if not np.isfinite(cost):
            continue
        assert cost == problem.cost(best)
        for variable, size in enumerate(problem.domain_sizes.tolist()):
            for value in range(size):
                changed = best.copy()
                changed[variable] = value
                assert problem.cost(changed) >= cost - 1e-9 * max(1.0, abs(cost))


def test_goes_on_from_what_is_better() -> None:
    """An offered assignment is taken up; a worse one is not."""
    problem = random_problem(3)
    search = Icm().start(problem, seed=0, budget=Budget())
    ended = search.step()
    assert ended.best is not None
    search.offer(ended.best, ended.best_cost + 1.0)
    assert search.step().best is None

"""Solving one problem many times."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dabp
from tests.problems import random_problem


@pytest.mark.parametrize("seed", range(25))
def test_each_solve_is_that_of_a_fresh_problem(seed: int) -> None:
    """Costs change and variables are fixed and freed; by enumeration, also maximised, with forbidden combinations."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, max_variables=6)
    kept = dabp.Incremental(problem, threads=1)
    rows = np.array(list(itertools.product(*(range(d) for d in problem.domain_sizes.tolist()))))
    for step in range(4):
        if step % 2:
            finite = np.isfinite(problem.pool)
            problem = problem.with_costs(np.where(finite, rng.permutation(20)[0] + problem.pool, problem.pool))
            if len(problem.pool):
                kept.solve(problem.pool)
        chosen = np.flatnonzero(rng.random(problem.num_variables) < 0.3)
        fixed = {int(v): int(rng.integers(problem.domain_sizes[v])) for v in chosen}
        fix = {problem.names.variable(v): problem.names.labels(v)[value] for v, value in fixed.items()}
        fitting = np.all([rows[:, v] == value for v, value in fixed.items()] or [np.ones(len(rows), bool)], axis=0)
        costs = problem.cost(rows[fitting])
        best = costs.max() if problem.maximize else costs.min()
        result = kept.solve(fix=fix)
        if problem.limit is not None:
            continue
        if np.isfinite(best):
            assert (result.status.value, result.cost) == ("OPTIMAL", pytest.approx(best, rel=1e-9, abs=1e-9))
            assert all(result.values[name] == value for name, value in fix.items())
        else:
            assert result.status.value == "INFEASIBLE"


def test_large_problems_start_from_the_last_answer() -> None:
    """The second solve, which may do almost nothing, is no worse than the first, and fixed values hold."""
    problem = dabp.generate("random-cop", variables=60, density=0.4, seed=3)
    kept = dabp.Incremental(problem, "annealing", threads=1)
    first = kept.solve(max_iterations=2000)
    second = kept.solve(max_iterations=1)
    assert second.cost <= first.cost
    name = problem.names.variable(0)
    value = problem.names.labels(0)[(problem.names.labels(0).index(first.values[name]) + 1) % 10]
    third = kept.solve(max_iterations=1, fix={name: value})
    changed = {**second.values, name: value}
    assert third.values[name] == value
    assert third.cost <= problem.cost(changed)


def test_wrong_costs_are_refused() -> None:
    """By their number."""
    with pytest.raises(dabp.DabpError):
        dabp.Incremental(dabp.Problem.from_tables([2], [((0,), [0.0, 1.0])])).solve([1.0])

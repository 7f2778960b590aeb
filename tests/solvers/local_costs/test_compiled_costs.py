"""The layout that the kernels read."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.kernels.local_search.search_arrays import LANES
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.compiled_costs import compiled_costs
from dabp.solvers.local_costs.cost_units import Units
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.problems import random_problem


@pytest.mark.parametrize("family", ["random-cop", "graph-coloring"])
def test_local_costs_are_differences_of_cost(family: str) -> None:
    """L[i, a] − L[i, x_i] is what changing i to a changes, with 32-bit integers and with scaled real costs."""
    problem = dabp.generate(family, variables=12, density=0.4, seed=2)
    local = LocalCosts(problem)
    assert local.units.dtype == (np.int32 if problem.facts.integral else np.int64)
    state = local.state(0)
    x = local.random_assignment(np.random.default_rng(0))
    local.put(state, x)
    for i in range(problem.num_variables):
        rows = np.repeat(x[None], problem.domain_sizes[i], axis=0)
        rows[:, i] = np.arange(problem.domain_sizes[i])
        row = state.local[local.costs.rows.start[i] :][: problem.domain_sizes[i]]
        np.testing.assert_allclose(
            (row - row[x[i]]) / local.units.scale, problem.cost(rows) - problem.cost(x), atol=1e-9
        )


@pytest.mark.parametrize("seed", range(30))
def test_edges_and_neighbours_are_the_problems(seed: int) -> None:
    """Every cell of every binary table is found from both of its ends; neighbours are who shares a factor."""
    problem = random_problem(seed, maximize=False)
    units = Units(problem)
    costs, _ = compiled_costs(units, Guard())
    found = np.zeros((problem.num_variables, problem.num_variables))
    for i in range(problem.num_variables):
        for e in range(costs.edges.offsets[i], costs.edges.offsets[i + 1]):
            j = costs.edges.target[e]
            width = int(costs.rows.width[j])
            assert width % LANES == 0
            if costs.edges.soft_at[e] >= 0:
                rows = costs.edges.soft[costs.edges.soft_at[e] :][: problem.domain_sizes[i] * width]
                found[i, j] += rows.sum()
    expected = np.zeros_like(found)
    shares = [set() for _ in range(problem.num_variables)]
    for f in range(problem.num_factors):
        scope = problem.scope(f)
        for i in scope.tolist():
            shares[i] |= set(scope.tolist()) - {i}
        if len(scope) == 2:
            table = problem.table(f)
            total = np.rint(np.where(np.isfinite(table), table, 0.0) * units.scale).sum()
            expected[scope[0], scope[1]] += total
            expected[scope[1], scope[0]] += total
    np.testing.assert_array_equal(found, expected)
    offsets, neighbour = costs.neighbours
    assert [set(neighbour[offsets[i] : offsets[i + 1]].tolist()) for i in range(problem.num_variables)] == shares

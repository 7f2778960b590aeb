"""The table of local costs that local searches move on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.kernels.local_search.local_costs import (
    BEST,
    FEASIBLE,
    SOFT,
    VIOLATIONS,
    WEIGHTED,
    move_now,
    remember_now,
    reweigh,
)
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.local_search.local_costs import LocalCosts
from tests.problems import random_problem


@pytest.mark.parametrize("seed", range(40))
def test_moves_keep_the_table_right(seed: int) -> None:
    """After moves and new weights everything equals what is made anew, costs are the problem's, the best is kept."""
    problem = random_problem(seed, maximize=False)
    local = LocalCosts(problem)
    if local.infeasible:
        return
    rng = np.random.default_rng(seed)
    state, again = local.state(0), local.state(0)
    local.put(state, local.random_assignment(rng))
    remember_now(state)
    best = problem.cost(state.x)
    for _ in range(20):
        i = int(rng.integers(problem.num_variables))
        row = local.costs.rows[i]
        move_now(
            local.costs, state, i, int(rng.choice(np.flatnonzero(local.allowed[row : row + local.costs.sizes[i]])))
        )
        remember_now(state)
        if state.tally[VIOLATIONS] and rng.random() < 0.3:
            reweigh(local.costs, state, int(state.violated[0]), 3)
        again.weights[:] = state.weights
        local.put(again, state.x)
        np.testing.assert_array_equal(again.local, state.local)
        for number in (SOFT, WEIGHTED, VIOLATIONS):
            assert again.tally[number] == state.tally[number]
        cost = problem.cost(state.x)
        best = min(best, cost)
        assert (state.tally[VIOLATIONS] > 0) == np.isinf(cost)
        if np.isfinite(cost):
            assert local.cost(state.tally[SOFT]) == pytest.approx(cost, abs=1e-9)
            assert local.units(state.x) == state.tally[SOFT] >= local.floor
        assert bool(state.tally[FEASIBLE]) == np.isfinite(best)
        if np.isfinite(best):
            assert problem.cost(state.best) == pytest.approx(best, abs=1e-9)
            assert local.cost(state.tally[BEST]) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("family", ["random-cop", "graph-coloring"])
def test_local_costs_are_differences_of_cost(family: str) -> None:
    """L[i, a] − L[i, x_i] is what changing i to a changes, with 32-bit integers and with scaled real costs."""
    problem = dabp.generate(family, variables=12, density=0.4, seed=2)
    local = LocalCosts(problem)
    assert local.dtype == (np.int32 if problem.integral else np.int64)
    state = local.state(0)
    x = local.random_assignment(np.random.default_rng(0))
    local.put(state, x)
    for i in range(problem.num_variables):
        rows = np.repeat(x[None], problem.domain_sizes[i], axis=0)
        rows[:, i] = np.arange(problem.domain_sizes[i])
        row = state.local[local.costs.rows[i] :][: problem.domain_sizes[i]]
        np.testing.assert_allclose((row - row[x[i]]) / local.scale, problem.cost(rows) - problem.cost(x), atol=1e-9)


def test_large_integers_stay_exact() -> None:
    """Costs that do not fit 32 bits are taken in 64, without rounding."""
    problem = Problem([3, 3], [0, 1], [0, 2], np.arange(9) * 10.0**12 + 1, [0, 9])
    local = LocalCosts(problem)
    state = local.state(0)
    local.put(state, np.array([2, 1]))
    assert local.dtype == np.int64
    assert local.cost(state.tally[SOFT]) == problem.cost([2, 1])


@pytest.mark.parametrize("table", [[0.0] * 4, [0.0, 1e-250, 2e-250, 0.0], [0.5, 1e15, 0.25, 7.0]])
def test_extreme_scales(table: list[float]) -> None:
    """No costs, tiny ones and very different ones are scaled without overflow; the optimum is found."""
    problem = Problem([2, 2], [0, 1], [0, 2], table, [0, 4], constant=0.5)
    assert dabp.solve(problem, "tabu", max_iterations=50).cost == min(table) + 0.5
    assert dabp.solve(problem, "annealing", max_iterations=50).cost == min(table) + 0.5


@pytest.mark.parametrize("constant", [0.0, 1e12])
def test_totals_of_many_variables_do_not_overflow(constant: float) -> None:
    """Real costs are scaled so that the total, too, has room in 64 bits."""
    count = 1_100_000
    variables = np.arange(count)
    problem = Problem(
        np.full(count, 2), variables, np.arange(count + 1), [0.9, 0.8], [0, 2], 0 * variables, constant=constant
    )
    local = LocalCosts(problem)
    for values in (0 * variables, 0 * variables + 1):
        assert local.cost(local.units(values)) == pytest.approx(problem.cost(values))


def test_proofs_that_lie_open() -> None:
    """A variable without an allowed value proves infeasibility; a value forbidden by itself is never taken."""
    assert LocalCosts(Problem([2], [0], [0, 1], [np.inf, np.inf], [0, 2])).infeasible
    local = LocalCosts(Problem([2], [0], [0, 1], [np.inf, 4.0], [0, 2]))
    state = local.state(0)
    local.put(state, np.array([0]))
    assert not local.infeasible
    assert state.x.tolist() == [1]


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
def test_weights_stay_in_range(solver: str) -> None:
    """On an infeasible problem of large costs, weights grow to their limit and no further."""
    triangle, clash = [0, 1, 1, 2, 0, 2], [np.inf, 2.0**20, 2.0**20, np.inf]
    problem = Problem([2, 2, 2], triangle, [0, 2, 4, 6], clash, [0, 4], [0, 0, 0])
    search = make_solver(solver).start(problem, seed=0, budget=Budget())
    for _ in range(200):
        assert np.isinf(search.step().costs).all()
    local, state = search.local, search.state
    assert 0 < state.weights.min() <= state.weights.max() <= local.heaviest * 3 // 2
    assert np.abs(state.local[local.allowed]).max() < local.pad // 2


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
@pytest.mark.parametrize(("file", "optimum"), [("zebra.wcsp", 0), ("donald.wcsp", 0), ("example.wcsp", 27)])
def test_real_instances_with_hard_constraints(shared_instances: Path, solver: str, file: str, optimum: int) -> None:
    """Weights lead to a feasible answer, and to the optimum, on public instances with n-ary hard constraints."""
    problem = dabp.read(shared_instances / file)
    result = dabp.solve(problem, solver, max_iterations=200_000, target=optimum, seed=1)
    assert result.cost == optimum


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
def test_checkpoints_on_disk(tmp_path: Path, solver: str) -> None:
    """Interrupted, saved and resumed, a run takes the course of one that was not."""
    problem = dabp.generate("graph-coloring", variables=15, seed=1)
    file = tmp_path / "state.dabp"
    whole = dabp.solve(problem, solver, max_iterations=3000, seed=2)
    stop = [lambda progress: progress.iterations > 500]
    first = dabp.solve(problem, solver, max_iterations=3000, seed=2, checkpoint=file, callbacks=stop)
    second = dabp.solve(problem, solver, max_iterations=3000, seed=2, checkpoint=file, resume=True)
    assert first.iterations < 3000 == second.iterations
    assert second.cost == whole.cost
    tail = second.trace.iteration_costs
    np.testing.assert_array_equal(tail, whole.trace.iteration_costs[-len(tail) :])

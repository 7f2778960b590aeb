"""What all local searches share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.local_search.annealing import Annealing
from tests.problems import exhaustive_optimum, random_problem


def colouring(variables: int = 60, edges: int = 138) -> dabp.Problem:
    """Of a graph that can be coloured with three: 0 is the optimum, and the least that there could be."""
    rng = np.random.default_rng(4)
    pairs = [(i, j) for i in range(variables) for j in range(i) if i % 3 != j % 3]
    chosen = rng.choice(pairs, edges, replace=False).tolist()
    return dabp.Problem.from_tables([3] * variables, [(pair, np.eye(3)) for pair in chosen])


@pytest.mark.parametrize(
    "problem",
    [dabp.generate("random-cop", variables=30, domain=6, density=0.5, seed=0), colouring()],
    ids=["open", "proved"],
)
@pytest.mark.parametrize("solver", ["annealing", Annealing(reheat_every=1), "tempering", "tabu", "dsa", "mgm"])
def test_blocks_of_any_length_give_one_run(
    monkeypatch: pytest.MonkeyPatch, problem: dabp.Problem, solver: str | Annealing
) -> None:
    """Where the clock cuts a run into blocks decides nothing: cycles are planned with what is left at their start."""
    traces = []
    for seconds in (1e-9, 1e-4, 1e9):
        monkeypatch.setattr("dabp.solvers.local_search.local_search.BLOCK_SECONDS", seconds)
        traces.append(dabp.solve(problem, solver, max_iterations=600, seed=3).trace.iteration_costs)
    assert np.array_equal(traces[0], traces[1])
    assert np.array_equal(traces[0], traces[2])


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
@pytest.mark.parametrize(("file", "optimum"), [("zebra.wcsp", 0), ("donald.wcsp", 0), ("example.wcsp", 27)])
def test_real_instances_with_hard_constraints(shared_instances: Path, solver: str, file: str, optimum: int) -> None:
    """Weights lead to a feasible answer, and to the optimum, on public instances with n-ary hard constraints."""
    problem = dabp.read(shared_instances / file)
    result = dabp.solve(problem, solver, max_iterations=200_000, target=optimum, seed=1)
    assert result.cost == optimum


PROBLEM = dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=4)


@pytest.mark.parametrize(("solver", "params"), [("annealing", {}), ("tabu", {"patience": 20})])
@pytest.mark.parametrize("seed", range(40))
def test_finds_the_optimum_of_small_problems(solver: str, params: dict[str, int], seed: int) -> None:
    """Any arity, domain, direction and forbidden combination: the optimum soon, with its exact cost."""
    problem = random_problem(seed)
    optimum = exhaustive_optimum(problem)
    result = dabp.solve(problem, solver, params=params, max_iterations=2000, seed=seed)
    assert result.cost == (None if optimum is None else pytest.approx(optimum, abs=1e-9))


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
def test_another_seed_is_another_search(solver: str) -> None:
    """Chance comes from the seed alone, and all iterations asked for are done."""
    first, second, other = (dabp.solve(PROBLEM, solver, max_iterations=500, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.trace.iteration_costs, second.trace.iteration_costs)
    assert first.iterations == 500
    assert not np.array_equal(first.trace.iteration_costs, other.trace.iteration_costs)


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
def test_starts_from_an_assignment_and_takes_offers(solver: str) -> None:
    """Never worse than `initial`; an offered incumbent is not returned as the search's own."""
    best = dabp.solve(PROBLEM, solver, max_iterations=2000, seed=0)
    assert dabp.solve(PROBLEM, solver, max_iterations=1, seed=9, initial=best.assignment).cost == best.cost
    search = make_solver(solver).start(PROBLEM, seed=1, budget=Budget())
    search.offer(best.assignment, best.cost)
    for _ in range(5):
        step = search.step()
        assert step.best is None or step.best_cost < best.cost

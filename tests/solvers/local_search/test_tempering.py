"""Replicas at several temperatures that change places."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.local_search.tempering import FEWEST, MOST, Tempering, TemperingSearch, ladder_of
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem


def started(problem: Problem, sweeps: int, seed: int = 1) -> TemperingSearch:
    search = Tempering().start(problem, seed=seed, budget=Budget(max_iterations=sweeps))
    assert isinstance(search, TemperingSearch)
    return search


def best_of(search: TemperingSearch, problem: Problem) -> float:
    """The best cost."""
    best = np.inf
    while True:
        step = search.step()
        if step.best is not None:
            assert step.best_cost == pytest.approx(problem.cost(step.best))
            best = min(best, step.best_cost)
        if step.finished is not None or search.remaining == 1:
            return best


def soft(seed: int) -> bool:
    problem = random_problem(seed)
    return not problem.maximize and bool(np.isfinite(problem.pool).all())


@pytest.mark.parametrize("seed", [seed for seed in range(60) if soft(seed)])
def test_finds_the_optimum_of_small_problems(seed: int) -> None:
    """Of any arity and domain."""
    problem = random_problem(seed)
    assert best_of(started(problem, 20_000), problem) == pytest.approx(exhaustive_optimum(problem), abs=1e-9)


def test_neighbours_change_places_at_all_temperatures() -> None:
    """What begins as the hottest replica comes to be the coldest, and others go up."""
    problem = generate("graph-coloring", variables=60, density=0.4, seed=1)
    search = started(problem, 10**9)
    while not search._replicas:
        search.step()
    assert (np.diff(search.ladder) > 0).all()
    assert FEWEST <= len(search.ladder) <= MOST
    names = {id(state): place for place, state in enumerate(search._replicas)}
    coldest = set()
    for _ in range(200):
        search._block = 200
        assert search.step().finished is not Status.INFEASIBLE
        coldest.add(names[id(search._replicas[0])])
    assert len(coldest) > len(names) // 2


def test_temperatures_are_nearer_where_costs_change_more() -> None:
    """Steps are T / √C wide; the hottest is where the cost falls fastest, however hot the first cooling began."""
    levels = np.geomspace(100.0, 1.0, 200)
    costs = 2000.0 / (1.0 + np.exp((20.0 - levels) / 2.0))
    ladder = ladder_of(levels, costs)
    assert 15.0 < ladder[-1] < 25.0
    assert ladder[0] == pytest.approx(1.0)
    ratios = ladder[1:] / ladder[:-1]
    assert ratios[-1] < 0.7 * ratios[0]
    assert len(ladder_of(levels, 9.0 * costs)) > 2 * len(ladder)
    even = ladder_of(levels, 3000.0 * levels)
    assert even[-1] == pytest.approx(2.0)
    assert even[1:] / even[:-1] == pytest.approx(np.full(len(even) - 1, 2.0 ** (1 / (len(even) - 1))), rel=0.02)


def test_a_flat_landscape_has_a_ladder() -> None:
    """Where all assignments cost the same there is nothing to measure, and nothing to find."""
    ladder = ladder_of(np.geomspace(10.0, 1.0, 20), np.full(20, 7.0))
    assert len(ladder) == FEWEST
    assert np.isfinite(ladder).all()
    assert (np.diff(ladder) > 0).all()


def test_the_best_of_one_replica_is_reported_before_others_were_visited() -> None:
    """The optimum ends a search in the same sweep whatever the blocks: replicas without an answer hide none."""
    problem = random_problem(703)
    assert len({dabp.solve(problem, "tempering", seed=3, max_iterations=150).iterations for _ in range(5)}) == 1

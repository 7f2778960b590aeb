"""What follows runs of bp-learned: never worse than the run's answer, the same for the same numbers."""

import numpy as np
import pytest

import dabp
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.belief_propagation import improvement
from dabp.solvers.belief_propagation.improvement import (
    SWEEPS_PER_ITERATION,
    Annealing,
    TableSearch,
    TabuWalks,
    may_search,
)
from dabp.solvers.descent import descended
from tests.problems import exhaustive_optimum, random_problem


def test_runs_are_put_together() -> None:
    """Five runs on a grid: what is told at the end is below the best of them, and the same with any threads."""
    problem = generate("ising", row_count=40, col_count=40, seed=3)
    params = {"restarts": 5, "iterations": 40}
    result = dabp.solve(problem, "bp-learned", params=params, seed=1)
    assert result.cost < min(record["cost"] for record in result.trace.records)
    assert result.cost == dabp.solve(problem, "bp-learned", params=params, seed=1, threads=2).cost


def cooled(problem: Problem, start: np.ndarray, iterations: int = 20, chance: float = 0.5) -> tuple[float, Annealing]:
    """What a cooling comes to."""
    annealing = Annealing(problem, 1, Guard())
    annealing.begin(start, iterations, 0.5, chance)
    while annealing.under_way:
        annealing.go_on()
    best = annealing.best()
    cost, before = np.inf if best is None else float(problem.cost(best)), float(problem.cost(start))
    assert annealing.improved == (cost < before)
    assert annealing.gain == (np.inf if np.isinf(before) else pytest.approx(before - cost))
    return cost, annealing


@pytest.mark.parametrize("kind", ["random-cop", "graph-coloring"])
def test_answers_of_a_descent_are_improved(kind):
    """On most of ten problems, and made worse on none."""
    better = 0
    for seed in range(10):
        problem = dabp.generate(kind, variables=60, density=0.2, seed=seed)
        start = descended(problem, np.zeros(60, dtype=np.int64), Guard())
        cost, _ = cooled(problem, start)
        assert cost <= problem.cost(start)
        better += cost < problem.cost(start)
    assert better >= 8


def test_blocks_change_nothing(monkeypatch):
    """The clock decides how many annealing a step has, and nothing else."""
    problem = dabp.generate("random-cop", variables=40, density=0.2, seed=1)
    start = np.zeros(40, dtype=np.int64)
    usual, _ = cooled(problem, start)
    monkeypatch.setattr(improvement, "BLOCK_SECONDS", 0.0)
    monkeypatch.setattr(improvement, "FIRST_BLOCK", 1)
    assert cooled(problem, start)[0] == usual


def test_there_is_hope_once_something_was_found():
    """It falls with each cooling that finds nothing, and one that does restores it."""
    table = np.array([[0.0, 9.0], [9.0, 9.0]])
    problem = Problem.from_tables([2, 2, 2], [((0, 1), table), ((1, 2), table), ((0, 2), table)])
    _, annealing = cooled(problem, np.zeros(3, dtype=np.int64))
    assert annealing.hope == 0.25
    annealing.begin(np.ones(3, dtype=np.int64), 10, 0.5, 0.3)
    while annealing.under_way:
        annealing.go_on()
    assert np.array_equal(annealing.best(), [0, 0, 0])
    assert annealing.hope == 1.0
    assert annealing.length == 10 * SWEEPS_PER_ITERATION


def test_infeasible_answers_are_mended():
    """Sweeps penalise what is forbidden, and hand out what is not."""
    rng = np.random.default_rng(1)
    pairs = [(i, j) for i in range(8) for j in range(max(0, i - 3), i)]
    tables = [(pair, np.where(np.eye(6) > 0, np.inf, rng.random((6, 6)))) for pair in pairs]
    cost, _ = cooled(Problem.from_tables([6] * 8, tables), np.zeros(8, dtype=np.int64))
    assert np.isfinite(cost)


def test_what_was_learned_is_taken_up_again():
    """Temperatures and hope; what cannot be is refused."""
    problem = dabp.generate("random-cop", variables=20, density=0.3, seed=1)
    _, annealing = cooled(problem, np.zeros(20, dtype=np.int64))
    state = annealing.state_dict()
    again = Annealing(problem, 1, Guard())
    again.load_state_dict(state)
    assert again.state_dict() == state
    with pytest.raises(ValueError, match="coolings"):
        again.load_state_dict({**state, "found": 2, "tried": 1})
    with pytest.raises(ValueError, match="temperatures"):
        again.load_state_dict({**state, "cycle": [1.0, 2.0, 3.0]})


def test_local_minima_are_left():
    """On most of ten problems something better is found near by, and the same again from the same numbers."""
    better = 0
    for seed in range(10):
        problem = dabp.generate("random-cop", variables=60, density=0.2, seed=seed)
        start = descended(problem, np.zeros(60, dtype=np.int64), Guard())
        walks = TabuWalks(problem, Guard())
        walked = walks.walked(start, 30, 0.5, 0.5)
        walks.walked(np.zeros(60, dtype=np.int64), 30, 0.1, 0.9)
        again = walks.walked(start, 30, 0.5, 0.5)
        assert (again is None) == (walked is None)
        if walked is not None:
            assert problem.cost(walked) < problem.cost(start)
            assert np.array_equal(again, walked)
            better += 1
    assert better >= 8


def test_small_problems_are_solved():
    """Nine in ten of mixed kinds, forbidden combinations and binary ones among them, by exhaustive search."""
    reached = 0
    for seed in range(30):
        problem = random_problem(seed)
        optimum = exhaustive_optimum(problem)
        start = np.zeros(problem.num_variables, dtype=np.int64)
        walked = TabuWalks(problem, Guard()).walked(start, 200, 0.5, 0.5)
        reached += optimum is None or problem.cost(start if walked is None else walked) <= optimum + 1e-9
    assert reached >= 27


def test_nowhere_to_go():
    """None where everything is forbidden, and from the best there is."""
    problem = Problem.from_tables([2, 2], [((0,), np.array([np.inf, np.inf])), ((0, 1), np.eye(2))])
    assert TabuWalks(problem, Guard()).walked(np.zeros(2, dtype=np.int64), 10, 0.5, 0.5) is None
    walks = TabuWalks(Problem.from_tables([2, 2], [((0, 1), 1 - np.eye(2))]), Guard())
    assert walks.walked(np.ones(2, dtype=np.int64), 10, 0.5, 0.5) is None
    assert np.ptp(walks.walked(np.array([0, 1]), 10, 0.5, 0.5)) == 0


def test_large_and_trivial_problems_are_left_alone(monkeypatch):
    """One assignment, or more entries of scopes than are worth it."""
    assert may_search(random_problem(3))
    assert not may_search(Problem.from_tables([1, 1], [((0, 1), np.ones((1, 1)))]))
    monkeypatch.setattr(improvement, "MOST_ENTRIES", 1)
    assert not may_search(dabp.generate("random-cop", variables=10, domain=3, density=0.5, seed=1))


def test_the_best_is_that_of_this_start():
    """A worse start later does not hand out what was found from a better one before."""
    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=1)
    table = TableSearch(problem, Guard())
    assert table.prepared()
    rng = np.random.default_rng(0)
    for _ in range(5):
        start = rng.integers(0, 4, 12)
        table.put(start, rng.random())
        assert np.array_equal(table.best(), start)


@pytest.mark.parametrize("forbidden", [0, 1])
def test_what_is_impossible_is_not_prepared(forbidden):
    """A variable all of whose values are forbidden leaves nothing to move on."""
    unary = np.array([np.inf, np.inf]) if forbidden else np.array([0.0, np.inf])
    problem = Problem.from_tables([2, 2], [((0,), unary), ((0, 1), np.eye(2))])
    assert TableSearch(problem, Guard()).prepared() == (not forbidden)


def test_a_solve_that_is_over_prepares_nothing():
    """The guard is asked before the table is made."""
    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=1)
    assert not TableSearch(problem, Guard(time_limit=0.0)).prepared()

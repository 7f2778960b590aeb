"""Tabu walks after runs near the best assignment: never worse than their start, the same for the same numbers."""

import numpy as np

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.belief_propagation.walks import Walks
from dabp.solvers.descent import descended
from tests.problems import exhaustive_optimum, random_problem


def test_local_minima_are_left():
    """On most of ten problems something better is found near by, and the same again from the same numbers."""
    better = 0
    for seed in range(10):
        problem = dabp.generate("random-cop", variables=60, density=0.2, seed=seed)
        start = descended(problem, np.zeros(60, dtype=np.int64), Guard())
        walks = Walks(problem, Guard())
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
        walked = Walks(problem, Guard()).walked(start, 200, 0.5, 0.5)
        reached += optimum is None or problem.cost(start if walked is None else walked) <= optimum + 1e-9
    assert reached >= 27


def test_nowhere_to_go():
    """None where everything is forbidden, and from the best there is."""
    problem = Problem.from_tables([2, 2], [((0,), np.array([np.inf, np.inf])), ((0, 1), np.eye(2))])
    assert Walks(problem, Guard()).walked(np.zeros(2, dtype=np.int64), 10, 0.5, 0.5) is None
    walks = Walks(Problem.from_tables([2, 2], [((0, 1), 1 - np.eye(2))]), Guard())
    assert walks.walked(np.ones(2, dtype=np.int64), 10, 0.5, 0.5) is None
    assert np.ptp(walks.walked(np.array([0, 1]), 10, 0.5, 0.5)) == 0

"""Annealing of what others follow from."""

import itertools

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.local_search.following_annealing import FollowingAnnealing


def _knapsack(seed: int, items: int = 10) -> Problem:
    """Items of most worth below two limits."""
    rng = np.random.default_rng(seed)
    model = dabp.Model()
    names = model.add_variables([f"x{item}" for item in range(items)], 2)
    for name, worth in zip(names, rng.integers(10, 100, items).tolist(), strict=True):
        model.add_cost([name], [float(worth), 0.0])
    for weights in rng.integers(1, 30, (2, items)):
        model.linear(dict(zip(names, weights.tolist(), strict=True)), "<=", int(weights.sum() // 2))
    return model.build()


def _optimum(problem: Problem) -> float:
    """By looking at all assignments of the visible variables."""
    every = itertools.product(*(range(size) for size in problem.domain_sizes[: problem.auxiliaries.num_visible]))
    return float(problem.cost(problem.auxiliaries.completed(np.array(list(every)))).min())


def _best(problem: Problem, steps: int, seed: int = 0, initial: np.ndarray | None = None) -> tuple[float, list[float]]:
    """The best cost of some steps, and what was told on the way, each checked against the problem."""
    search = FollowingAnnealing().start(problem, seed=seed, budget=Budget(), initial=initial)
    told = []
    for _ in range(steps):
        step = search.step()
        if step.best is not None:
            assert step.best_cost == pytest.approx(float(problem.cost(step.best)))
            told.append(step.best_cost)
    return min(told, default=np.inf), told


@pytest.mark.parametrize("seed", range(3))
def test_knapsacks_are_solved(seed: int) -> None:
    """The optimum of a sum through partial sums, where a move of single variables violates something."""
    problem = _knapsack(seed)
    best, told = _best(problem, 20, seed)
    assert best == _optimum(problem)
    assert told == sorted(told, reverse=True)


def test_an_exact_sum_is_met() -> None:
    """Where all but few sums are forbidden, and a violation does not tell how far off it is, the search wanders."""
    model = dabp.Model()
    names = model.add_variables([f"x{i}" for i in range(14)], 2)
    for number, name in enumerate(names):
        model.add_cost([name], [0.0, 1.0 + number])
    model.linear(dict.fromkeys(names, 1), "==", 9)
    assert _best(model.build(), 20)[0] == sum(range(1, 10))


def test_real_costs_do_not_drift() -> None:
    """What is told costs what the problem says, with costs that no float adds up exactly."""
    rng = np.random.default_rng(0)
    model = dabp.Model()
    names = model.add_variables([f"x{i}" for i in range(12)], 3)
    for first, second in itertools.combinations(names, 2):
        model.add_cost([first, second], rng.random((3, 3)))
    model.at_most(names, 1, 5)
    best, _ = _best(model.build(), 10)
    assert np.isfinite(best)


def test_better_answers_are_taken() -> None:
    """An answer from elsewhere is not told again, and only better ones are told after it."""
    problem = _knapsack(1)
    search = FollowingAnnealing().start(problem, seed=0, budget=Budget())
    every = np.array(list(itertools.product(range(2), repeat=problem.auxiliaries.num_visible)))
    completed = problem.auxiliaries.completed(every)
    optimum = completed[int(np.argmin(problem.cost(completed)))]
    search.offer(optimum, float(problem.cost(optimum)))
    assert all(search.step().best is None for _ in range(5))


def test_nothing_to_move_is_the_end() -> None:
    """A problem whose only free variable has one value ends at once."""
    problem = Problem.from_tables([1, 2], [((0, 1), np.array([[np.inf, 0.0]]))])
    assert FollowingAnnealing().start(problem, seed=0, budget=Budget()).step().finished is not None

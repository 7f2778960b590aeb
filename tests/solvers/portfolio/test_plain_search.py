"""What needs no compiled code takes turns, and stands back from what is too large for it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget
from dabp.solvers.portfolio.plain_search import PlainSearch


def test_both_kinds_take_part_and_find_what_tabu_search_finds() -> None:
    """Forty blocks, less than a second, are enough for thirty variables; every told cost is the assignment's."""
    problem = dabp.generate("random-cop", variables=30, domain=4, density=0.3, seed=2)
    expected = dabp.solve(problem, "tabu", max_iterations=20000).cost
    search = PlainSearch(problem, 0, Budget(guard=Guard(60.0)))
    best = np.inf
    for _ in range(40):
        step = search.step()
        if step.best is not None:
            assert step.best_cost == problem.cost(step.best)
            best = min(best, step.best_cost)
    assert best <= expected
    assert len(search._members) == 2


def test_too_large_problems_are_left_alone(monkeypatch) -> None:
    """Nobody starts on them, and a step is short and tells nothing."""
    for name in ("COLD_CELLS", "COLD_ENTRIES"):
        monkeypatch.setattr(f"dabp.solvers.portfolio.plain_search.{name}", 3)
    problem = Problem.from_tables([3, 3], [((0, 1), np.eye(3))])
    step = PlainSearch(problem, 0, Budget()).step()
    assert step.best is None
    assert len(step.costs) == 0


def test_a_problem_without_pairs_is_solved() -> None:
    """Belief propagation ends at once there; the rest goes on, and nothing is called finished."""
    problem = Problem.from_tables([3, 2], [((0,), np.array([3.0, 1.0, 2.0]))])
    search = PlainSearch(problem, 0, Budget(guard=Guard(60.0)))
    steps = [search.step() for _ in range(4)]
    assert all(step.finished is None for step in steps)
    assert min(step.best_cost for step in steps) == 1.0


_FORBIDDEN = np.full((2, 2), np.inf)


@pytest.mark.parametrize(
    "problem",
    [
        Problem.from_tables([], []),
        Problem.from_tables([3, 3], [((0, 1), np.full((3, 3), 5.0))]),
        Problem.from_tables([1, 1], [((0, 1), np.array([[2.0]]))]),
        Problem.from_tables([2, 3], []),
        Problem.from_tables([2, 2], [((0, 1), _FORBIDDEN)]),
        Problem.from_tables([2, 2], [((0,), _FORBIDDEN[0]), ((0, 1), np.eye(2))]),
        Problem.from_tables([2, 2], [((0, 1), np.array([[1e15, -1e14], [0.0, np.inf]]))]),
        Problem.from_tables([2, 2], [((0, 1), np.array([[1e-300, 2e-300], [np.inf, 5e-310]]))]),
        Problem.from_tables([2] * 8, [(tuple(range(8)), np.random.default_rng(0).random((2,) * 8))]),
    ],
    ids=["empty", "constant", "one value", "no factors", "forbidden", "no value", "large", "tiny", "arity 8"],
)
def test_odd_problems_are_searched_to_the_least_of_all_assignments(problem: Problem) -> None:
    """Without a warning, by what exhaustive search finds; where nothing is allowed, nothing is told."""
    least = min(float(problem.cost(list(values))) for values in product(*map(range, problem.domain_sizes.tolist())))
    search = PlainSearch(problem, 0, Budget(guard=Guard(60.0)))
    assert min(search.step().best_cost for _ in range(6)) == least

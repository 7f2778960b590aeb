"""What needs no compiled code takes turns, and stands back from what is too large for it."""

from __future__ import annotations

import numpy as np

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

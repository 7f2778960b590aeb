"""Presolve ends soon on any problem: its work is counted, and what it did when the count ends it is exact."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.presolve.consistency import supported_values
from dabp.presolve.dominance import undominated_values
from dabp.presolve.effort import Effort, Efforts
from dabp.presolve.elimination import Eliminated
from dabp.presolve.restriction import Restricted
from dabp.problem.guard import Guard
from tests.presolve.shapes import checked
from tests.problems import drawn_problem, exhaustive


@pytest.mark.parametrize("work", [0, 30, 100, 300])
def test_any_budget_is_exact(work: int) -> None:
    """Whenever a technique is stopped, the optimum is still there at the same cost."""
    for seed in range(100):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.3, dense=seed % 2 == 0)
        optimum, _ = exhaustive(problem)
        supported = supported_values(problem, Effort(work))
        if supported is None:
            assert optimum == np.inf
            continue
        assert exhaustive(Restricted(problem, supported).problem)[0] == pytest.approx(optimum)
        kept, replacement = undominated_values(problem, Effort(work))
        assert exhaustive(Restricted(problem, kept, replacement).problem)[0] == pytest.approx(optimum)
        eliminated = Eliminated(problem, effort=Effort(work))
        if eliminated.infeasible:
            assert optimum == np.inf
        else:
            assert exhaustive(eliminated.problem)[0] == pytest.approx(optimum)


@pytest.mark.parametrize("work", [20, 100, 500])
def test_presolve_is_exact_on_any_budget(work: int) -> None:
    """Also together: a contradiction that propagation had no time to see is not lost later."""
    for seed in range(300):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.5, dense=seed % 2 == 0)
        efforts = Efforts(problem)
        efforts.propagation, efforts.elimination, efforts.dominance = (Effort(work) for _ in range(3))
        efforts.rounds.left = work
        checked(problem, solve_small=seed % 3 == 0, efforts=efforts)


def test_a_guard_ends_presolve_wherever_it_is() -> None:
    """Stopped at any of its questions, presolve has lost nothing: the optimum is there, and the way back finds it."""
    stopped = 0
    for seed in range(200):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.3, dense=seed % 2 == 0)
        asked = itertools.count()
        guard = Guard(interrupted=lambda asked=asked, seed=seed: next(asked) >= seed % 7)
        reduced = checked(problem, guard=guard)
        stopped += not reduced.infeasible and reduced.problem.num_variables == problem.num_variables > 0
    assert stopped > 20

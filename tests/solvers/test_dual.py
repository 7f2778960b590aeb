"""The dual solver's bound: on its side of the optimum, monotone, tight where the relaxation is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.problems import drawn_problem, exhaustive

from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.result import Status
from dabp.solvers.base import Budget, Search
from dabp.solvers.dual import Dual


def run(search: Search, problem: Problem, steps: int = 200) -> tuple[float, float, Status | None]:
    """Best cost, bound and status, checking on the way that costs are right and the bound never falls."""
    best, bound = np.inf, -np.inf
    for _ in range(steps):
        step = search.step()
        if step.best is not None:
            assert problem.cost(step.best) == pytest.approx(step.best_cost)
            best = min(best, step.best_cost)
        if step.bound is not None:
            assert step.bound >= bound
            bound = step.bound
        if step.finished is not None:
            return best, bound, step.finished
    return best, bound, None


@pytest.mark.parametrize("block", range(4))
def test_the_bound_is_never_above_the_optimum(block: int) -> None:
    """1,000 random problems, all kinds of factors: bounds below, proofs right."""
    solver = Dual(patience=20)
    for seed in range(block * 250, block * 250 + 250):
        rng = np.random.default_rng(seed)
        problem = drawn_problem(rng, integral=seed % 2 == 0, hard=[0.2, 0.5][seed % 3 == 0], dense=seed % 4 > 0)
        optimum, _ = exhaustive(problem)
        best, bound, status = run(solver.start(problem, seed=0, budget=Budget()), problem)
        assert bound <= optimum + 1e-9
        if status is Status.INFEASIBLE:
            assert optimum == np.inf
        elif status is Status.OPTIMAL:
            assert best == pytest.approx(optimum)


def test_trees_are_tight() -> None:
    """On a tree the relaxation is exact: the optimum is found and proved."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 8
        parents = [int(rng.integers(0, i)) for i in range(1, n)]
        scopes = np.array([(p, i + 1) for i, p in enumerate(parents)])
        tables = rng.integers(0, 20, (n - 1, 9)).astype(float)
        tables[rng.random(tables.shape) < 0.1] = np.inf
        problem = Problem([3] * n, scopes.ravel(), np.arange(0, 2 * n, 2), tables.ravel(), np.arange(0, 9 * n, 9))
        best, bound, status = run(Dual().start(problem, seed=0, budget=Budget()), problem)
        assert status in (Status.OPTIMAL, Status.INFEASIBLE)
        optimum, _ = exhaustive(problem)
        assert (best == bound == optimum) if status is Status.OPTIMAL else optimum == np.inf


def test_a_saved_state_continues_bit_for_bit() -> None:
    """Stopped after some passes and resumed, the bound takes the same course."""
    problem = drawn_problem(np.random.default_rng(3), dense=True, hard=0.0, integral=False)
    solver = Dual(tolerance=0.0, patience=10_000)
    first, second = (solver.start(problem, seed=0, budget=Budget()) for _ in range(2))
    for _ in range(5):
        first._pass()  # a step's number of passes depends on the clock
    second.load_state_dict(first.state_dict())
    for _ in range(5):
        assert first._pass() == second._pass()
        assert first.bound == second.bound


def test_parameters_are_checked() -> None:
    """Nonsense is refused when the solver is made."""
    with pytest.raises(ParameterError):
        Dual(tolerance=-1.0)
    with pytest.raises(ParameterError):
        Dual(patience=0)

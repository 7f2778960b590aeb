"""Presolve ends soon on any problem: its work is counted, and what it did when the count ends it is exact."""

from __future__ import annotations

import numpy as np
import pytest

import dabp.presolve.pipeline
from dabp.presolve import presolve
from dabp.presolve.consistency import supported_values
from dabp.presolve.dominance import undominated_values
from dabp.presolve.effort import Effort, Efforts
from dabp.presolve.elimination import Eliminated
from dabp.presolve.restriction import Restricted
from dabp.problem import Problem
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
def test_presolve_is_exact_on_any_budget(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also together: a contradiction that propagation had no time to see is not lost later."""

    def small(problem: Problem) -> Efforts:
        efforts = Efforts(problem)
        efforts.propagation, efforts.elimination, efforts.dominance = (Effort(work) for _ in range(3))
        efforts.rounds.left = work
        return efforts

    monkeypatch.setattr(dabp.presolve.pipeline, "Efforts", small)
    for seed in range(300):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.5, dense=seed % 2 == 0)
        optimum, _ = exhaustive(problem)
        reduced = presolve(problem, solve_small=seed % 3 == 0)
        if reduced.infeasible:
            assert optimum == np.inf
            continue
        least, best = exhaustive(reduced.problem)
        assert least == pytest.approx(optimum)
        assert problem.cost(reduced.lift(best)) == pytest.approx(optimum)

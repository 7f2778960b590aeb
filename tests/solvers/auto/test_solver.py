"""`auto`: right answers and proofs whatever the problem, its unit and its limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.driver.stopping import Progress
from dabp.errors import ParameterError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.auto import Auto
from dabp.solvers.base import Budget
from dabp.solvers.status import Status
from tests.problems import drawn_problem, exhaustive
from tests.solvers.auto.shapes import cliques


def test_small_problems_are_solved_and_proved() -> None:
    """Every small problem ends by itself with its optimum, or with the proof that there is none."""
    for seed in range(120):
        problem = drawn_problem(np.random.default_rng(seed), integral=seed % 2 == 0, dense=seed % 3 > 0)
        optimum, _ = exhaustive(problem)
        result = dabp.solve(problem, "auto", time_limit=20)
        if optimum == np.inf:
            assert result.status is Status.INFEASIBLE
        else:
            assert result.status is Status.OPTIMAL
            assert result.cost == pytest.approx(optimum)


def test_parameters_are_checked() -> None:
    """A member that does not exist is refused with a suggestion, a former name with the solver's."""
    with pytest.raises(ParameterError, match="did you mean 'tabu'"):
        Auto(members="tabbu")
    with pytest.raises(ParameterError, match="'descent' is now 'icm'"):
        Auto(members="tabu, descent")


@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 1e9])
def test_proofs_hold_whatever_the_unit(scale: float) -> None:
    """Costs in another unit: the same optimum is found and proved, by the portfolio and by toulbar2."""
    whole = cliques(1, 9, 4, seed=3)
    optimum, _ = exhaustive(whole)
    problem = whole.replace(pool=whole.pool * scale)
    for solver in ("auto", "toulbar2"):
        result = dabp.solve(problem, solver, time_limit=20, presolve=False)
        assert result.status is Status.OPTIMAL
        assert result.cost == pytest.approx(optimum * scale, rel=1e-6, abs=0)
        assert result.bound == pytest.approx(optimum * scale, rel=1e-6, abs=0)


def test_large_costs_that_cancel_are_no_contradiction() -> None:
    """Presolve adds up in another order; what that changes in the last places is not called a wrong bound."""
    rng = np.random.default_rng(0)
    for size in (1e10, 1e13):
        problem = cliques(1, 6, 2)
        shifts = np.repeat(np.where(np.arange(problem.num_factors) % 2 == 0, size, -size), 4)[: len(problem.pool)]
        problem = problem.replace(pool=rng.random(len(problem.pool)) + shifts, constant=-shifts[::4].sum())
        result = dabp.solve(problem, "auto", time_limit=10)
        assert result.status is Status.OPTIMAL
        assert result.cost == pytest.approx(exhaustive(problem)[0], abs=10 * problem.facts.rounding(result.cost))


@pytest.mark.parametrize("first", [{"time_limit": 3.0}, {"max_iterations": 2000, "time_limit": 70.0}])
def test_a_checkpoint_serves_a_solve_with_other_limits(tmp_path: Path, first: dict[str, Any]) -> None:
    """What was known is taken up, whatever limits and members there are now."""
    problem, path = cliques(1, 30, 6), tmp_path / "c"
    before = dabp.solve(problem, "auto", checkpoint=path, presolve=False, **first)
    for limits in ({"max_iterations": 1500}, {"time_limit": 0.3}):
        after = dabp.solve(problem, "auto", checkpoint=path, resume=True, presolve=False, **limits)
        assert before.cost is not None
        assert after.cost is not None
        assert after.cost <= before.cost


def test_a_checkpoint_of_another_kind_of_search_is_no_trouble(tmp_path: Path) -> None:
    """How much time there is decides whether a narrow problem is eliminated; a resumed one may go another way."""
    problem, path = generate("random-cop", variables=14, domain=5, density=0.6, seed=0), tmp_path / "c"
    stop: list[Callable[[Progress], object]] = [lambda progress: True]
    quick: dict[str, Any] = {"params": {"prove": False}, "checkpoint": path}
    dabp.solve(problem, "auto", time_limit=10, callbacks=stop, **quick)
    assert dabp.solve(problem, "auto", time_limit=0.02, resume=True, **quick).cost is not None
    assert dabp.solve(problem, "auto", time_limit=10, resume=True, **quick).status is Status.OPTIMAL


def test_an_assignment_with_capacities_has_an_answer() -> None:
    """Loads are sums through partial sums: no single change of a variable keeps them right."""
    rng = np.random.default_rng(2)
    model = dabp.Model()
    jobs = model.add_variables([f"job{i}" for i in range(8)], 3)
    for job in jobs:
        model.add_cost([job], rng.integers(1, 50, 3).astype(float))
    loads = rng.integers(3, 9, 8)
    for agent in range(3):
        on = model.add_variables([f"{job} on {agent}" for job in jobs], 2)
        for job, copy in zip(jobs, on, strict=True):
            model.add_cost([job, copy], np.where(np.arange(2) == (np.arange(3) == agent)[:, None], 0.0, np.inf))
        model.linear(dict(zip(on, loads.tolist(), strict=True)), "<=", int(loads.sum() // 3) + 2)
    problem = model.build()
    result = dabp.solve(problem, params={"members": "annealing-free", "prove": False}, time_limit=0.5, presolve=False)
    exact = dabp.solve(problem, "toulbar2", time_limit=20.0)
    assert exact.status.name == "OPTIMAL"
    assert result.cost == exact.cost


@pytest.mark.parametrize(("constant", "extra"), [(0.0, 0.0), (7.5, -2.0)])
def test_a_problem_without_variables_costs_its_constants(constant: float, extra: float) -> None:
    """And those of the factors without variables; a step settles it."""
    problem = Problem.from_tables([], [((), np.array(extra))], constant=constant)
    step = Auto().start(problem, seed=0, budget=Budget()).step()
    assert step.finished is Status.OPTIMAL
    assert (step.best_cost, step.bound) == (constant + extra, constant + extra)


def test_a_factor_without_variables_may_forbid_everything() -> None:
    """Whatever the variables are."""
    problem = Problem.from_tables([2, 2], [((), np.array(np.inf)), ((0, 1), np.zeros((2, 2)))])
    assert Auto().start(problem, seed=0, budget=Budget()).step().finished is Status.INFEASIBLE

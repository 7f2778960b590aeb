"""What a solver claims is checked before it is believed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.errors import SolverError
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Step
from dabp.solvers.status import Status
from tests.sampling import Sampling, SamplingSearch


class Claiming(Sampling):
    """Takes one step that says what it was told to say."""

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        class OneStep(SamplingSearch):
            def step(self) -> Step:
                return dataclasses.replace(super().step(), **claims)

        return OneStep(self, problem, seed)


claims: dict[str, object] = {}


def test_a_wrong_cost_or_bound_stops_the_run(problem: Problem) -> None:
    """A solver that reports what does not hold is an error, never an answer; the search is closed all the same."""
    closed = SamplingSearch.closed
    with pytest.raises(SolverError, match="reported cost"):
        solve(problem, Sampling(lie=-5.0), max_iterations=10)
    with pytest.raises(SolverError, match="beyond cost"):
        solve(problem, Sampling(bound=1e6), max_iterations=10)
    assert SamplingSearch.closed == closed + 2


def test_a_bound_that_meets_the_cost_proves_it() -> None:
    """Bounds are rounded up for integers and a closed gap is OPTIMAL."""
    problem = Problem([2], [0], [0, 1], [3, 5], [0, 2])
    result = solve(problem, Sampling(bound=2.5))
    assert (result.status, result.cost, result.bound, result.gap) == (Status.OPTIMAL, 3.0, 3.0, 0.0)


def test_infeasible_candidates_are_no_answer() -> None:
    """Without a feasible candidate there is no cost and no assignment."""
    problem = Problem([2], [0], [0, 1], [np.inf, np.inf], [0, 2])
    result = solve(problem, Sampling(), max_iterations=10)
    assert (result.cost, result.assignment, result.gap, result.status) == (None, None, None, Status.LIMIT)


@pytest.mark.parametrize(
    ("limit", "status"), [(4.0, Status.OPTIMAL), (3.0, Status.INFEASIBLE), (2.0, Status.INFEASIBLE)]
)
def test_a_limit_on_the_total_is_kept(limit: float, status: Status) -> None:
    """Only totals strictly better than a file's bound are answers; a bound at or beyond it proves there is none."""
    problem = Problem([2], [0], [0, 1], [3, 5], [0, 2], limit=limit)
    for each in (problem, problem.replace(pool=-problem.pool, maximize=True, limit=-limit)):
        for solver in (Sampling(bound=2.5), "toulbar2", "auto"):
            result = solve(each, solver, max_iterations=20)
            assert result.status is status
            assert result.feasible == (status is Status.OPTIMAL)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"finished": Status.INFEASIBLE}, "reported infeasible, but"),
        ({"finished": Status.OPTIMAL, "best": None}, "reported optimal without an assignment"),
        ({"best_cost": 1e9}, "reported cost"),
        ({"best_cost": np.inf}, "reported cost"),
        ({"best_cost": np.nan}, "reported cost"),
    ],
)
def test_claims_that_contradict_each_other_are_refused(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, claim: dict[str, object], message: str
) -> None:
    """A status needs its assignment, and a cost is right in both directions."""
    monkeypatch.setattr(f"{__name__}.claims", claim)
    with pytest.raises(SolverError, match=message):
        solve(problem, Claiming(), max_iterations=10)


def test_the_cost_of_a_block_is_computed_once(monkeypatch: pytest.MonkeyPatch, problem: Problem) -> None:
    """One look at the tables a block beside the search's own, and one for the first guess: large problems pay it."""
    looked: list[np.ndarray] = []
    cost = Problem.cost

    def counting(self: Problem, assignment: np.ndarray) -> object:
        if np.ndim(assignment) == 1:
            looked.append(assignment)
        return cost(self, assignment)

    monkeypatch.setattr(Problem, "cost", counting)
    solve(problem, Sampling(), max_iterations=200, presolve=False)
    assert len(looked) == 21


def test_a_proof_of_what_is_not_the_best_known_is_refused(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever calls a cost optimal where a better one is known is wrong, and so may all it says be."""
    worst = np.full(8, 2)
    cheap = problem.replace(
        scope_variables=[*problem.scope_variables, 0],
        scope_offsets=[*problem.scope_offsets, problem.scope_offsets[-1] + 1],
        pool=[*problem.pool, -1e5, 0.0, 0.0],
        pool_offsets=[*problem.pool_offsets, len(problem.pool) + 3],
        factor_table=[*problem.factor_table, len(problem.pool_offsets) - 1],
    )
    claim = {"finished": Status.OPTIMAL, "best": worst, "best_cost": float(cheap.cost(worst))}
    monkeypatch.setattr(f"{__name__}.claims", claim)
    with pytest.raises(SolverError, match="optimal, but"):
        solve(cheap, Claiming(), max_iterations=10)  # the first guess alone is better

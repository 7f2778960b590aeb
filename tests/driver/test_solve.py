"""The driver: limits, incumbents, bounds, signals, warm starts, fixed variables."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.errors import CheckpointError, ParameterError, ProblemError, SolverError
from dabp.generators import generate
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status
from tests.sampling import Sampling, SamplingSearch


@pytest.fixture(scope="module")
def problem() -> Problem:
    return generate("random-cop", variables=8, domain=3, density=0.5, seed=0)


def test_the_best_of_all_iterations_is_reported(problem: Problem) -> None:
    """The result is the best candidate in the trace, at its recomputed cost."""
    result = solve(problem, Sampling(), max_iterations=200)
    assert result.status is Status.LIMIT
    assert result.iterations == len(result.trace.iteration_costs) == 200
    assert result.cost == result.trace.iteration_costs.min() == problem.cost(result.assignment)
    costs = [cost for _, _, cost in result.trace.improvements]
    assert costs == sorted(costs, reverse=True)
    assert result.values == problem.labelled(result.assignment)


def test_maximising_is_the_mirror_image(problem: Problem) -> None:
    """Maximising the negated costs gives the same assignment, costs and bounds with the other sign."""
    mirror = problem.replace(pool=-problem.pool, maximize=True)
    low = solve(problem, Sampling(bound=1.2), max_iterations=100)
    high = solve(mirror, Sampling(bound=1.2), max_iterations=100)
    assert high.cost == -low.cost
    assert (low.bound, high.bound) == (2.0, -2.0)
    assert high.gap == low.gap
    assert np.array_equal(high.trace.iteration_costs, -low.trace.iteration_costs)


def test_same_seed_same_trace(problem: Problem) -> None:
    """A seed decides the run."""
    runs = [solve(problem, Sampling(), max_iterations=50, seed=s).trace.iteration_costs for s in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_limits_end_a_solve(problem: Problem) -> None:
    """Time, target, stagnation and memory each end a solve that would go on for ever."""
    start = time.perf_counter()
    assert solve(problem, Sampling(), time_limit=0.2).status is Status.LIMIT
    assert 0.2 <= time.perf_counter() - start < 2
    reached = solve(problem, Sampling(), target=500.0, time_limit=20)
    assert reached.cost is not None
    assert reached.cost <= 500.0
    assert solve(problem, Sampling(), stagnation=300, time_limit=20).runtime < 15
    assert solve(problem, Sampling(), memory_limit=1, time_limit=20).iterations == 10
    assert solve(problem, Sampling(), max_iterations=0).cost is None


def test_a_callback_can_end_it(problem: Problem) -> None:
    """A true answer from a callback ends with INTERRUPTED and the incumbent."""
    seen = []
    result = solve(problem, Sampling(), callbacks=[lambda p: seen.append(p.iterations) or p.iterations >= 30])
    assert seen == [10, 20, 30]
    assert result.status is Status.INTERRUPTED
    assert result.feasible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_returns_the_incumbent(problem: Problem, number: signal.Signals) -> None:
    """The first signal ends the solve, not the program, and handlers are put back."""
    before = signal.getsignal(number)
    result = solve(problem, Sampling(), callbacks=[lambda p: os.kill(os.getpid(), number)], time_limit=20)
    assert result.status is Status.INTERRUPTED
    assert result.feasible
    assert signal.getsignal(number) is before


def test_works_outside_the_main_thread(problem: Problem) -> None:
    """In a thread signals are left alone and the answer is the same."""
    answers = []
    worker = threading.Thread(target=lambda: answers.append(solve(problem, Sampling(), max_iterations=50).cost))
    worker.start()
    worker.join()
    assert answers == [solve(problem, Sampling(), max_iterations=50).cost]


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


def test_fixed_variables_stay_and_initial_is_kept(problem: Problem) -> None:
    """`fix` holds in every answer; `initial` is never lost to something worse."""
    best = solve(problem, Sampling(), max_iterations=5000)
    again = solve(problem, Sampling(), max_iterations=10, initial=best.values, seed=5)
    assert again.cost == best.cost
    fixed = solve(problem, Sampling(), max_iterations=50, fix={"x1": 2, "x3": "0"}, initial=best.assignment)
    assert fixed.assignment is not None
    assert fixed.assignment[[1, 3]].tolist() == [2, 0]
    assert fixed.cost == problem.cost(fixed.assignment)
    everything = {f"x{i}": 0 for i in range(8)}
    assert solve(problem, Sampling(), max_iterations=10, fix=everything).cost == problem.cost([0] * 8)


def test_infeasible_candidates_are_no_answer() -> None:
    """Without a feasible candidate there is no cost and no assignment."""
    problem = Problem([2], [0], [0, 1], [np.inf, np.inf], [0, 2])
    result = solve(problem, Sampling(), max_iterations=10)
    assert (result.cost, result.assignment, result.gap, result.status) == (None, None, None, Status.LIMIT)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"solver": "dpb"}, ParameterError),
        ({"solver": "bp", "params": {"dampin": 1}}, ParameterError),
        ({"solver": "bp", "params": {"damping": "much"}}, ParameterError),
        ({"time_limit": -1}, ParameterError),
        ({"time_limit": float("nan")}, ParameterError),
        ({"seed": -1}, ParameterError),
        ({"threads": 0}, ParameterError),
        ({"fix": {"y": 0}}, ProblemError),
        ({"fix": {"x0": 9}}, ProblemError),
        ({"initial": [0]}, ProblemError),
        ({"resume": True}, ParameterError),
        ({"restarts": 3}, ParameterError),
        ({"resume": True, "checkpoint": "nowhere.checkpoint"}, CheckpointError),
    ],
)
def test_wrong_options_are_refused(problem: Problem, options: dict[str, object], error: type[Exception]) -> None:
    """Every wrong option is a `DabpError` with a sentence."""
    with pytest.raises(error):
        solve(problem, **{"solver": Sampling(), "max_iterations": 1, **options})  # type: ignore[arg-type]


def test_restarts_over_an_executor(problem: Problem) -> None:
    """The best of several restarts is at least as good as the first, which is the plain solve."""
    with ThreadPoolExecutor(2) as executor:
        many = solve(problem, Sampling(), max_iterations=50, restarts=4, executor=executor)
    one = solve(problem, Sampling(), max_iterations=50)
    assert many.iterations == 200
    assert many.cost is not None
    assert one.cost is not None
    assert many.cost <= one.cost


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


@pytest.mark.parametrize(("seconds", "planned"), [(0.0, 10.0), (2.0, 8.0), (20.0, 0.5)])
def test_schedules_plan_with_what_presolve_left(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, seconds: float, planned: float
) -> None:
    """A search's horizon is the limit less a presolve of noticeable length."""
    budgets: list[Budget] = []

    class Planning(Sampling):
        def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None):
            budgets.append(budget)
            return super().start(problem, seed=seed, budget=budget, initial=initial)

    class Late(Clock):
        @property
        def now(self) -> float:
            return super().now + seconds

    monkeypatch.setattr("dabp.driver.solve.Clock", Late)
    solve(problem, Planning(), time_limit=10.0, max_iterations=10, presolve=True)
    assert budgets[0].time_limit == pytest.approx(planned, abs=0.4)


def test_a_given_start_is_not_lost_to_presolve() -> None:
    """A feasible start is the first answer, also where presolve leaves no place for its values."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        table = np.where(rng.random((3, 3)) < 0.4, np.inf, rng.integers(0, 9, (3, 3)))
        unary = rng.integers(0, 9, 3)
        problem = Problem([3, 3], [0, 0, 1], [0, 1, 3], np.concatenate([unary, table.ravel()]), [0, 3, 12])
        for start in np.ndindex(3, 3):
            cost = problem.cost(np.array(start))
            if np.isfinite(cost):
                result = solve(problem, "tabu", initial=np.array(start), max_iterations=0, presolve=True)
                assert result.cost is not None
                assert result.cost <= cost


def test_a_start_against_fixed_variables_is_no_answer(problem: Problem) -> None:
    """What is held at a value wins over the start."""
    start = np.zeros(problem.num_variables, dtype=np.int64)
    result = solve(problem, "tabu", initial=start, fix={"x0": 1}, max_iterations=0)
    assert result.assignment is not None
    assert result.assignment[0] == 1

"""The driver: the best of what a search gives, in either direction, repeatably; wrong options are refused."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.driver.stopping import Progress
from dabp.problem import Assignment, Problem
from dabp.problem.guard import resident_memory
from dabp.solvers.base import Budget
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status
from tests.sampling import Sampling


def test_the_best_of_all_iterations_is_reported(problem: Problem) -> None:
    """The result is the best candidate in the trace, at the cost of its labels added up by hand."""
    result = solve(problem, Sampling(), max_iterations=200)
    assert result.status is Status.LIMIT
    assert result.iterations == len(result.trace.iteration_costs) == 200
    by_hand = sum(
        problem.table(f)[tuple(result.values[f"x{v}"] for v in problem.scope(f))] for f in range(problem.num_factors)
    )
    assert result.cost == result.trace.iteration_costs.min() == by_hand
    costs = [cost for _, _, cost in result.trace.improvements]
    assert costs == sorted(costs, reverse=True)


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


def test_a_callback_can_end_it(problem: Problem) -> None:
    """A true answer from a callback ends with INTERRUPTED and the incumbent."""
    seen = []
    result = solve(problem, Sampling(), callbacks=[lambda p: seen.append(p.iterations) or p.iterations >= 30])
    assert seen == [10, 20, 30]
    assert result.status is Status.INTERRUPTED
    assert result.feasible


def test_callbacks_change_no_result(problem: Problem) -> None:
    """Whatever a callback writes into its progress, the answer is the same."""

    def writing(progress: Progress) -> None:
        progress.cost, progress.bound, progress.iterations, progress.assignment = -1e9, 1e9, 10**9, None
        progress.records.append({"member": "none"})

    expected = solve(problem, Sampling(bound=1.2), max_iterations=50)
    found = solve(problem, Sampling(bound=1.2), max_iterations=50, callbacks=[writing])
    assert (found.cost, found.bound, found.iterations) == (expected.cost, expected.bound, 50)
    assert found.trace.improvements[-1][1:] == expected.trace.improvements[-1][1:]
    assert found.trace.records == expected.trace.records


@pytest.mark.parametrize(("seconds", "planned"), [(0.0, 1000.0), (200.0, 800.0)])
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
    solve(problem, Planning(), time_limit=1000.0, max_iterations=10, presolve=True)
    assert budgets[0].time_limit == pytest.approx(planned, abs=40)


def test_nothing_begins_after_the_limit(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """A preparation that took all the time leaves the first guess, at once."""

    class Late(Clock):
        @property
        def now(self) -> float:
            return super().now + 20.0

    monkeypatch.setattr("dabp.driver.solve.Clock", Late)
    started: list[object] = []
    monkeypatch.setattr(Sampling, "start", lambda *_, **__: started.append(1))
    result = solve(problem, Sampling(), time_limit=10.0)
    assert (result.limit, result.feasible, started) == ("time limit", True, [])


class Slow(Sampling):
    """Prepares for as long as nobody stops it, as a layout of a large problem would."""

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None):
        while not budget.guard.over:
            time.sleep(0.005)
        return super().start(problem, seed=seed, budget=budget, initial=initial)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_preparation_is_answered(problem: Problem, number: signal.Signals) -> None:
    """The first guess is an answer from the first moment; what is prepared hears of the signal through its guard."""
    threading.Timer(0.2, os.kill, (os.getpid(), number)).start()
    result = solve(problem, Slow(), time_limit=60)
    assert (result.status, result.limit, result.feasible, result.iterations) == (Status.INTERRUPTED, None, True, 0)


@pytest.mark.parametrize(("options", "limit"), [({"time_limit": 0.2}, "time limit"), ({}, "memory limit")])
def test_limits_reach_the_preparation(problem: Problem, options: dict[str, float], limit: str) -> None:
    """Time and memory are asked for there, too."""
    held: list[bytearray] = []

    def hold() -> None:
        held.append(bytearray(200_000_000))

    if limit == "memory limit":
        options = {"memory_limit": resident_memory() + 100_000_000, "time_limit": 60}
        threading.Timer(0.2, hold).start()
    result = solve(problem, Slow(), **options)
    assert (result.status, result.limit, result.feasible) == (Status.LIMIT, limit, True)

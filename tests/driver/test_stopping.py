"""Limits end a solve where they say."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.driver.stopping import DEFAULT_SECONDS, Limits, Progress
from dabp.errors import ParameterError, SolverError
from dabp.problem import Assignment, Problem
from dabp.solvers import SOLVERS, make_solver
from dabp.solvers.base import Budget, Search, Step
from dabp.solvers.status import Status
from tests.sampling import Sampling, SamplingSearch


@pytest.mark.parametrize(
    ("limits", "progress", "reason", "maximize"),
    [
        (Limits(iterations=5), Progress(iterations=4), None, False),
        (Limits(iterations=5), Progress(iterations=5), "iteration limit", False),
        (Limits(target=3.0), Progress(cost=3.5), None, False),
        (Limits(target=3.0), Progress(), None, False),
        (Limits(target=3.0), Progress(cost=3.0), "target cost", False),
        (Limits(target=3.0), Progress(cost=2.0), None, True),
        (Limits(target=3.0), Progress(cost=4.0), "target cost", True),
        (Limits(stagnation=10), Progress(iterations=19, last_improvement=10), None, False),
        (Limits(stagnation=10), Progress(iterations=20, last_improvement=10), "no improvement", False),
    ],
)
def test_reasons(limits: Limits, progress: Progress, reason: str | None, maximize: bool) -> None:
    """Each limit by itself, on both sides of its border and in both directions."""
    assert limits.reached(progress, maximize=maximize) == reason


@pytest.mark.parametrize("name", ["time", "iterations", "stagnation", "memory"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("-inf")])
def test_limits_are_numbers_from_0(name: str, value: float) -> None:
    """Anything else is refused by name."""
    with pytest.raises(ParameterError, match=f"the {name} limit"):
        Limits(**{name: value})


def test_limits_are_given_one_by_one_or_as_an_object(problem: Problem) -> None:
    """Both mean the same; memory has units; both at once, or something else, are refused."""
    by_name = solve(problem, Sampling(), max_iterations=50, memory_limit="2 GB", time_limit=60)
    grouped = solve(problem, Sampling(), limits=Limits(iterations=50, memory=2 * 10**9, time=60))
    assert (by_name.limit, by_name.cost) == (grouped.limit, grouped.cost) == ("iteration limit", by_name.cost)
    amounts = ("3", "3b", "3kB", " 3.5 MB", "3GiB", 7, "999999999999999GB")
    assert [Limits(memory=each).bytes for each in amounts] == [3, 3, 3000, 3_500_000, 3 * 2**30, 7, 2**62]
    for wrong in ({"limits": 3}, {"limits": Limits(), "time_limit": 3}, {"memory_limit": "2 cups"}):
        with pytest.raises(ParameterError):
            solve(problem, Sampling(), **wrong)


def test_each_limit_ends_a_solve_that_would_go_on(problem: Problem) -> None:
    """Against what the trace says of the run."""
    stopped = solve(problem, Sampling(), time_limit=0.2)
    assert stopped.status is Status.LIMIT
    assert stopped.trace.blocks[-2][0] < 0.2 <= stopped.runtime
    best = np.minimum.accumulate(solve(problem, Sampling(), max_iterations=2000).trace.iteration_costs)
    target = float(best[-1])
    reached = solve(problem, Sampling(), target=target, time_limit=60)
    assert reached.cost == target
    assert reached.iterations == 10 * (1 + np.flatnonzero(best == target)[0] // 10)
    stale = solve(problem, Sampling(), stagnation=300, time_limit=60)
    assert stale.iterations - 10 - stale.trace.improvements[-1][1] < 300 <= stale.iterations
    assert solve(problem, Sampling(), max_iterations=0).iterations == 0


def test_a_result_says_which_limit_ended_it(problem: Problem) -> None:
    """By its word, in Python and in JSON; what ended by itself, or on request, names none."""
    ended = {
        "time limit": {"time_limit": 0.1},
        "iteration limit": {"max_iterations": 20},
        "target cost": {"target": 1e6, "time_limit": 60},
        "no improvement": {"stagnation": 50, "time_limit": 60},
        "memory limit": {"memory_limit": 1, "time_limit": 60},
    }
    for limit, options in ended.items():
        result = solve(problem, Sampling(), **options)
        assert (result.status, result.limit, result.to_dict(problem)["limit"]) == (Status.LIMIT, limit, limit)
        assert result.feasible
    own = {
        "own iterations done": ("dbp-scfg", {"restarts": 1, "max_iterations_per_restart": 3}),
        "restarts done": ("dbp-scfg", {"restarts": 2, "max_iterations_per_restart": 3}),
    }
    for limit, (solver, params) in own.items():
        result = solve(problem, solver, params=params)
        assert (result.status, result.limit) == (Status.LIMIT, limit)
        assert result.sentence.startswith("the solver has made its")
        given = solve(problem, solver, params=params, max_iterations=result.iterations)
        assert given.limit == "iteration limit"
    assert solve(problem, "mbe").limit is None
    stopped = solve(problem, Sampling(), callbacks=[lambda progress: True])
    assert (stopped.status, stopped.limit) == (Status.INTERRUPTED, None)


def test_without_a_limit_a_solve_ends_and_says_so(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python as the command line; only what is sure to end it takes its place."""
    monkeypatch.setattr("dabp.driver.stopping.DEFAULT_SECONDS", 0.2)
    for options in ({}, {"target": -1.0}, {"memory_limit": 2**60}):
        result = solve(problem, Sampling(), **options)
        assert (result.limit, result.runtime < 30) == ("time limit", True)
        assert any("no limit given, stopping after 0.2 s (time_limit" in note for note in result.notes)
    for limits in (Limits(iterations=5), Limits(stagnation=5), Limits(time=math.inf), Limits(time=3.0)):
        assert limits.for_solver(Sampling(), "sampling") == (limits, "")
    assert Limits(time=math.inf).seconds is None
    monkeypatch.undo()
    assert not any("stopping after" in note for note in solve(problem, "mbe").notes)  # it ended by itself


def test_a_limit_that_cannot_end_a_solver_is_bounded() -> None:
    """toulbar2's iterations are improvements: once they stop, a limit on them never comes."""
    for solver in (name for name in SOLVERS if name.startswith("toulbar2")):
        for limits in (Limits(iterations=1000), Limits(stagnation=10)):
            bounded, note = limits.for_solver(make_solver(solver), solver)
            assert bounded.time == DEFAULT_SECONDS
            assert "is an improvement" in note
        given = Limits(iterations=1000, time=math.inf)
        assert given.for_solver(make_solver(solver), solver) == (given, "")


class Spinning(Sampling):
    """Gives something in the first steps, then nothing for ever."""

    pause: float = 0.0

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        class Search(SamplingSearch):
            steps = 0

            def step(self) -> Step:
                Search.steps += 1
                time.sleep(Spinning.pause)
                return super().step() if Search.steps < 3 else Step()

        return Search(self, problem, seed)


def test_a_search_that_spins_is_an_error(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take a core for ever; one that waits for something is left to wait."""
    with pytest.raises(SolverError, match=r"gave nothing in \d+ short steps"):
        solve(problem, Spinning(), max_iterations=100)
    monkeypatch.setattr("dabp.driver.stopping.IDLE_STEPS", 50)
    monkeypatch.setattr(Spinning, "pause", 0.003)
    assert solve(problem, Spinning(), time_limit=0.5).limit == "time limit"

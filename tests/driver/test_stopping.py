"""Limits end a solve where they say."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.driver.stopping import Limits, Progress
from dabp.errors import ParameterError
from dabp.generators import generate
from dabp.problem import Problem
from dabp.solvers.status import Status
from tests.sampling import Sampling


@pytest.fixture(scope="module")
def problem() -> Problem:
    return generate("random-cop", variables=8, domain=3, density=0.5, seed=0)


@pytest.mark.parametrize(
    ("limits", "progress", "reason"),
    [
        (Limits(time=2.0), Progress(time=1.9), None),
        (Limits(time=2.0), Progress(time=2.0), "time limit"),
        (Limits(iterations=5), Progress(iterations=4), None),
        (Limits(iterations=5), Progress(iterations=5), "iteration limit"),
        (Limits(target=3.0), Progress(cost=3.5), None),
        (Limits(target=3.0), Progress(), None),
        (Limits(target=3.0), Progress(cost=3.0), "target cost"),
        (Limits(target=3.0, maximize=True), Progress(cost=2.0), None),
        (Limits(target=3.0, maximize=True), Progress(cost=4.0), "target cost"),
        (Limits(stagnation=10), Progress(iterations=19, last_improvement=10), None),
        (Limits(stagnation=10), Progress(iterations=20, last_improvement=10), "no improvement"),
        (Limits(memory=1), Progress(), "memory limit"),
        (Limits(memory=2**60), Progress(), None),
    ],
)
def test_reasons(limits: Limits, progress: Progress, reason: str | None) -> None:
    """Each limit by itself, on both sides of its border and in both directions."""
    assert limits.reached(progress) == reason


@pytest.mark.parametrize("name", ["time", "iterations", "stagnation", "memory"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("-inf")])
def test_limits_are_numbers_from_0(name: str, value: float) -> None:
    """Anything else is refused by name."""
    with pytest.raises(ParameterError, match=f"the {name} limit"):
        Limits(**{name: value})


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
    assert solve(problem, Sampling(), memory_limit=1, time_limit=60).iterations == 10
    assert solve(problem, Sampling(), max_iterations=0).iterations == 0

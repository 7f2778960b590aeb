"""toulbar2 in the background: components one after the other, their bounds added up, pauses, hopelessness."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dabp.generators import generate
from dabp.problem.columns import cheapest_values
from dabp.problem.guard import Guard
from dabp.solvers.portfolio.incumbent import Incumbent
from dabp.solvers.portfolio.prover import Prover, worth_proving
from tests.problems import exhaustive
from tests.solvers.portfolio.shapes import beside, cliques


def polled(prover: Prover, seconds: float) -> None:
    """Let it run until it is done, or for about so long."""
    start = last = time.perf_counter()
    while prover.running and last - start < seconds:
        now = time.perf_counter()
        prover.poll(now - start, now - last)
        last = now


def test_components_are_proved_one_after_the_other() -> None:
    """The bounds of two components and the constant add up to the optimum of the whole."""
    problem = beside(cliques(1, 5, 3), cliques(1, 6, 3, seed=1), constant=11.0)
    incumbent = Incumbent(problem)
    incumbent.offer(cheapest_values(problem), "the first guess", 0.0)
    prover = Prover(problem, incumbent, seed=0, horizon=30.0)
    polled(prover, 60.0)
    prover.close()
    parts = (exhaustive(cliques(1, 5, 3))[0], exhaustive(cliques(1, 6, 3, seed=1))[0])
    assert incumbent.cost == sum(parts) + 11.0
    assert incumbent.proved
    assert incumbent.bound_by == "toulbar2"


@pytest.mark.parametrize(("variables", "degree", "vast"), [(100, 25, True), (40, 10, False), (100, 8, False)])
def test_a_wide_gap_after_the_trial_is_hopeless(variables: int, degree: float, vast: bool) -> None:
    """With the gap open it gives way, but not before its trial, nor, if there is some hope, when nobody improves."""
    problem = generate("random-cop", variables=variables, density=degree / (variables - 1), seed=0)
    incumbent = Incumbent(problem)
    incumbent.offer(np.zeros(variables, dtype=np.int64), "a", 0.0)
    prover = Prover(problem, incumbent, seed=0, horizon=1.0)
    try:
        assert not prover.hopeless(0.1)
        prover.pause()
        prover.resume()
        polled(prover, 0.7)
        prover.poll(0.7, 1.0)
        assert prover.hopeless(1.0)
        assert prover.hopeless(100.0) == vast
    finally:
        prover.close()


def test_little_time_is_enough_where_there_is_structure() -> None:
    """Of two problems with as many assignments the sparse one is tried with less time than the dense one."""
    sparse, dense = (
        generate("random-cop", variables=100, density=degree / 99, domain=15, seed=0) for degree in (6, 40)
    )
    assert [worth_proving(problem, 1.9, Guard()) for problem in (sparse, dense)] == [True, False]
    assert [worth_proving(problem, 10.0, Guard()) for problem in (sparse, dense)] == [True, True]
    assert not worth_proving(sparse, 0.9, Guard())

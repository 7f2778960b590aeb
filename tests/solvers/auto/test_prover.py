"""toulbar2 in the background: components one after the other, their bounds added up, pauses, hopelessness."""

from __future__ import annotations

import time

import numpy as np
import pytest

from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.problem.columns import cheapest_values
from dabp.problem.guard import Guard
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.incumbent import Find, Incumbent
from dabp.solvers.auto.prover import Prover, worth_proving
from tests.problems import exhaustive
from tests.solvers.auto.shapes import beside, cliques


def polled(prover: Prover, seconds: float) -> None:
    """Let it run until it is done, or for about so long."""
    start = last = time.perf_counter()
    while prover.running and last - start < seconds:
        now = time.perf_counter()
        prover.poll(now - start, now - last)
        last = now


def worth(problem: Problem, seconds: float) -> bool:
    """Whether toulbar2 is tried on a problem."""
    return worth_proving(problem, features_of(problem), seconds, Guard())


def test_components_are_proved_one_after_the_other() -> None:
    """The bounds of two components and the constant add up to the optimum of the whole."""
    problem = beside(cliques(1, 5, 3), cliques(1, 6, 3, seed=1), constant=11.0)
    incumbent = Incumbent(problem)
    incumbent.offer(cheapest_values(problem), "first guess", 0.0)
    prover = Prover(problem, incumbent, seed=0, horizon=30.0)
    polled(prover, 60.0)
    prover.close()
    parts = (exhaustive(cliques(1, 5, 3))[0], exhaustive(cliques(1, 6, 3, seed=1))[0])
    assert incumbent.cost == sum(parts) + 11.0
    assert incumbent.proved
    assert incumbent.bound_by == "toulbar2"


@pytest.mark.parametrize(("variables", "degree", "vast"), [(100, 25, True), (40, 10, False), (100, 8, False)])
def test_a_wide_gap_after_the_trial_is_hopeless(variables: int, degree: float, vast: bool) -> None:
    """With the gap open it gives way, but not before its trial, nor, if there is some hope, when no member improves."""
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
        incumbent.finds.append(Find("b", 0.9, incumbent.cost))
        assert prover.hopeless(1.0)
        assert prover.hopeless(100.0) == vast
    finally:
        prover.close()


def test_little_time_is_enough_where_there_is_structure() -> None:
    """Of two problems with as many assignments the sparse one is tried with less time than the dense one."""
    sparse, dense = (
        generate("random-cop", variables=100, density=degree / 99, domain=15, seed=0) for degree in (6, 40)
    )
    assert [worth(problem, 1.9) for problem in (sparse, dense)] == [True, False]
    assert [worth(problem, 10.0) for problem in (sparse, dense)] == [True, True]
    assert not worth(sparse, 0.9)


def covering(places: int, customers: int) -> Problem:
    """A place for each customer, by distance; those that are open cost something (values: closed, open)."""
    rng = np.random.default_rng(0)
    scopes = [(i, places + j) for i in range(places) for j in range(customers)]
    closed = np.zeros((places, 2, places))
    closed[np.arange(places), 0, np.arange(places)] = np.inf
    own = [(0.0, float(price)) for price in rng.integers(200, 400, places)]
    distances = rng.integers(0, 100, (customers, places)).astype(float)
    unary = places + customers
    lengths = [2 * places] * places + [2] * places + [places] * customers
    return Problem(
        [2] * places + [places] * customers,
        [*np.array(scopes).ravel(), *range(unary)],
        np.cumsum([0, *[2] * len(scopes), *[1] * unary]),
        np.concatenate([closed.ravel(), np.ravel(own), distances.ravel()]),
        np.cumsum([0, *lengths]),
        [*np.repeat(np.arange(places), customers), *range(places, places + unary)],
    )


def test_where_much_is_forbidden_toulbar2_is_tried_and_leads_as_long_as_no_member_gets_further() -> None:
    """With little time, too; it dives by its own lights, however poor what is known is, and then is not hopeless."""
    problem = covering(30, 60)
    assert worth(problem, 1.5)
    incumbent = Incumbent(problem)
    incumbent.offer(np.concatenate([np.ones(30), np.arange(60) % 30]).astype(np.int64), "a", 0.0)
    poor = incumbent.cost
    prover = Prover(problem, incumbent, seed=0, horizon=1.0)
    try:
        start = time.perf_counter()
        while incumbent.cost == poor and time.perf_counter() - start < 60.0:
            prover.poll(0.1, 0.0)
        assert incumbent.cost < 0.6 * poor
        prover.poll(0.2, 100.0)
        assert not prover.hopeless(0.3)
        better = incumbent.cost - 1.0
        incumbent.finds.append(Find("b", 0.3, better))
        assert prover.hopeless(0.4)
    finally:
        prover.close()

"""Each better answer as it is found."""

from __future__ import annotations

import time

import pytest

import dabp
from dabp.driver.improvements import Improvement, Improvements, on_improvement


@pytest.fixture(scope="module")
def problem() -> dabp.Problem:
    """Large enough to be improved several times."""
    return dabp.generate("random-cop", variables=40, density=0.3, seed=5)


def check(problem: dabp.Problem, found: list[Improvement], result: dabp.Result) -> None:
    """Costs fall strictly to the answer's, are those of the values, and times do not decrease."""
    costs = [improvement.cost for improvement in found]
    assert costs == sorted(set(costs), reverse=True)
    assert costs[-1] == result.cost
    assert all(problem.cost(improvement.values) == improvement.cost for improvement in found)
    assert [i.seconds for i in found] == sorted(i.seconds for i in found)


def test_a_function_is_called_with_each_improvement(problem: dabp.Problem) -> None:
    """With the values by name, and only when the answer got better."""
    found: list[Improvement] = []
    result = dabp.solve(problem, "annealing", max_iterations=4000, callbacks=[on_improvement(problem, found.append)])
    assert len(found) > 1
    check(problem, found, result)


def test_a_function_ends_the_solve(problem: dabp.Problem) -> None:
    """By returning True, and by nothing else that it returns."""
    callback = on_improvement(problem, lambda improvement: True)
    assert dabp.solve(problem, "annealing", time_limit=60, callbacks=[callback]).runtime < 20
    counted = dabp.solve(problem, "bp", max_iterations=60, callbacks=[on_improvement(problem, lambda _: 1)])
    assert counted.iterations == 60


def test_a_loop_gets_each_improvement_and_the_result(problem: dabp.Problem) -> None:
    """In the order in which they are found; a second loop is empty."""
    improvements = Improvements(problem, "annealing", max_iterations=4000)
    found = list(improvements)
    check(problem, found, improvements.result)
    assert list(improvements) == []


def test_leaving_a_block_ends_the_solve(problem: dabp.Problem) -> None:
    """Long before its limit."""
    started = time.perf_counter()
    with dabp.Improvements(problem, "annealing", time_limit=60, threads=1) as improvements:
        for _ in improvements:
            break
    assert time.perf_counter() - started < 20
    assert improvements.result.status.value == "INTERRUPTED"


def test_errors_of_the_solve_reach_the_loop(problem: dabp.Problem) -> None:
    """They are not lost in the thread."""
    with pytest.raises(dabp.ParameterError, match="time limit"):
        list(Improvements(problem, time_limit=-1))


def test_an_iterator_ends_the_solve_when_it_is_left(problem: dabp.Problem) -> None:
    """Improvements one by one; closing it does not wait for the limit."""
    found = dabp.improvements(problem, "annealing", time_limit=60, threads=1)
    first, second = next(found), next(found)
    assert second.cost < first.cost
    started = time.perf_counter()
    found.close()
    assert time.perf_counter() - started < 20

"""What is wrong with an answer, in words; nothing if it is right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from checks.torture.kinds import Case
from dabp.driver.result import Result
from dabp.solvers.status import Status


def wrong(case: Case, result: Result) -> list[str]:
    """Every promise that an answer breaks: status, cost, bound, labels, warm start."""
    found = _answer(case, result) if result.assignment is not None else _no_answer(case, result)
    found += _bound(case, result)
    if case.initial is not None:
        found += _start(case, result)
    return found


def _answer(case: Case, result: Result) -> list[str]:
    oracle, problem = case.oracle, case.problem
    assert result.assignment is not None
    exact = oracle.exact_cost(result.assignment)
    if exact is None:
        return ["the assignment is forbidden, or not as fixed"]
    found = []
    if result.cost is None or abs(oracle.sign * Fraction(result.cost) - exact) > oracle.slack:
        found.append(f"cost {result.cost!r}, exactly {oracle.sign * float(exact)!r}")
    if oracle.limit is not None and exact >= oracle.limit + oracle.slack:
        found.append(f"cost {result.cost!r} is not better than the limit {problem.limit!r}")
    if result.values != {
        problem.names.variable(i): problem.names.labels(i)[v] for i, v in enumerate(result.assignment)
    }:
        found.append("values are not the assignment's labels")
    if result.status is Status.INFEASIBLE:
        found.append("INFEASIBLE with an assignment")
    assert oracle.optimum is not None
    if result.status is Status.OPTIMAL and exact > oracle.optimum + oracle.slack:
        found.append(f"OPTIMAL at {result.cost!r}, the optimum is {oracle.float_optimum!r}")
    if result.status is Status.OPTIMAL and result.gap != 0:
        found.append(f"OPTIMAL with a gap of {result.gap!r}")
    return found


def _no_answer(case: Case, result: Result) -> list[str]:
    if result.cost is not None or result.values is not None:
        return ["a cost without an assignment"]
    if result.status is Status.OPTIMAL:
        return ["OPTIMAL without an assignment"]
    if result.status is Status.INFEASIBLE and case.oracle.surely_feasible:
        return [f"INFEASIBLE, the optimum is {case.oracle.float_optimum!r} and the limit {case.problem.limit!r}"]
    return []


def _bound(case: Case, result: Result) -> list[str]:
    oracle = case.oracle
    if result.bound is None:
        return []
    if not np.isfinite(result.bound):
        return [f"bound {result.bound!r}"]
    bound = oracle.sign * Fraction(result.bound)
    found = []
    if oracle.optimum is not None and bound > oracle.optimum + oracle.slack and oracle.surely_feasible:
        found.append(f"bound {result.bound!r} beyond the optimum {oracle.float_optimum!r}")
    if result.cost is not None and bound > oracle.sign * Fraction(result.cost):
        found.append(f"bound {result.bound!r} beyond the cost {result.cost!r}")
    return found


def _start(case: Case, result: Result) -> list[str]:
    """Never worse than where it was started, if that was an answer."""
    oracle = case.oracle
    given = oracle.exact_cost(case.initial)
    if given is None or (oracle.limit is not None and given >= oracle.limit - oracle.slack):
        return []
    if result.cost is None or oracle.sign * Fraction(result.cost) > given + oracle.slack:
        return [f"cost {result.cost!r}, started at {oracle.sign * float(given)!r}"]
    return []

"""A share of the torture: two problems of each kind and every solver, and that a wrong answer would be seen."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import dabp
from checks.torture.kinds import KINDS, Case, case
from checks.torture.oracle import Oracle
from checks.torture.solving import judge
from checks.torture.verdict import wrong
from dabp.problem import Problem
from dabp.solvers.status import Status

SHARE = 2
"""Problems of each kind."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_right(kind: str) -> None:
    """Statuses, costs, bounds and labels of the solvers that see these seeds, against exact enumeration."""
    place = list(KINDS).index(kind)
    for number in range(SHARE):
        _, failures = judge(case(place + number * len(KINDS)))
        assert not failures, "\n".join(map(str, failures))


def made(**changes: object) -> Case:
    """A small problem whose optimum, 2.5 at 1 0, is known by hand."""
    problem = Problem([2, 2], [0, 1], [0, 2], [7.0, np.inf, 2.5, 3.0], [0, 4], **changes)
    return Case(0, "by hand", problem, Oracle(problem, {}))


def test_the_oracle_is_exact() -> None:
    """Costs that no float holds together are added up without rounding."""
    problem = Problem([2], [0, 0], [0, 1, 2], [1e12, 1e12, 1e-9, 3e-9], [0, 2, 4])
    assert Oracle(problem, {}).optimum == Fraction(1e12) + Fraction(1e-9)
    assert Oracle(problem, {"x0": 1}).optimum == Fraction(1e12) + Fraction(3e-9)
    assert made().oracle.optimum == Fraction(5, 2)
    assert made().oracle.exact_cost([0, 1]) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cost": 2.4}, "exactly 2.5"),
        ({"assignment": np.array([0, 1])}, "forbidden"),
        ({"assignment": np.array([1, 1]), "cost": 3.0, "bound": 3.0}, "OPTIMAL at 3.0"),
        ({"bound": 2.6}, "beyond the optimum"),
        ({"bound": 2.0}, "a gap"),
        ({"values": {"x0": 1, "x1": 1}}, "labels"),
        ({"status": Status.INFEASIBLE}, "INFEASIBLE with an assignment"),
        ({"assignment": None, "cost": None, "values": None, "status": Status.INFEASIBLE}, "the optimum is 2.5"),
        ({"assignment": None, "cost": None, "values": None}, "OPTIMAL without"),
        ({"bound": -np.inf}, "bound -inf"),
    ],
)
def test_a_wrong_answer_is_seen(changes: dict[str, object], words: str) -> None:
    """Each promise, broken by hand."""
    right = dabp.solve(made().problem, "mbe")
    assert wrong(made(), right) == []
    assert any(words in each for each in wrong(made(), dataclasses.replace(right, **changes)))


def test_a_start_is_never_forgotten() -> None:
    """An answer worse than the assignment it was started from, or none, is wrong."""
    started = dataclasses.replace(made(), initial=np.array([1, 0]))
    worse = dabp.solve(made().problem, "bp", fix={"x1": 1}, max_iterations=5)
    assert any("started at 2.5" in each for each in wrong(started, dataclasses.replace(worse, status=Status.LIMIT)))


def test_limits_exclude_what_is_not_better() -> None:
    """With a limit below the optimum the problem is infeasible, and an answer to it is wrong."""
    limited = made(limit=2.4)
    assert limited.oracle.surely_infeasible
    answer = dabp.solve(made().problem, "mbe")
    assert any("not better than the limit" in each for each in wrong(limited, answer))

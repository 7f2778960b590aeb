"""A result says what is known, and its gap is a share of the larger of cost and bound."""

from __future__ import annotations

import json

import pytest

import dabp
from dabp.driver.result import Result, relative_gap
from dabp.solvers.status import Status


@pytest.mark.parametrize(
    ("cost", "bound", "gap"),
    [
        (10.0, 8.0, 0.2),
        (-10.0, -12.5, 0.2),
        (8.0, 10.0, 0.2),
        (0.0, 0.0, 0.0),
        (5.0, None, None),
        (None, 5.0, None),
        (1e-12, 5e-13, 0.5),
        (1e308, -1e308, 2.0),
        (0.0, -1e-300, 1.0),
    ],
)
def test_gap(cost: float | None, bound: float | None, gap: float | None) -> None:
    """By hand, for both signs and both directions, and unknown if either is."""
    assert relative_gap(cost, bound) == (None if gap is None else pytest.approx(gap))


def test_json_values_hold_all_of_it() -> None:
    """What is printed can be read back; the cost per constraint counts factors of two or more variables."""
    problem = dabp.Problem([2, 2], [0, 1, 0, 1], [0, 2, 3, 4], [5.0, 1.0, 1.0, 5.0, 0.0, 2.0], [0, 4, 6], [0, 1, 1])
    result = dabp.solve(problem, "mbe")
    facts = json.loads(json.dumps(result.to_dict(problem)))
    assert (facts["cost"], facts["status"], facts["gap"]) == (3.0, "OPTIMAL", 0.0)
    assert facts["normalized_cost"] == pytest.approx(3.0)
    assert problem.cost(problem.assignment(facts["assignment"])) == 3.0


def test_nothing_known_is_null() -> None:
    """Without an answer there is neither cost nor gap, and that is no answer of cost 0."""
    problem = dabp.Problem([2], [0], [0, 1], [float("inf")] * 2, [0, 2])
    facts = Result(None, None, Status.INFEASIBLE, None, 0, 0.0, 0, "x").to_dict(problem)
    assert [facts[key] for key in ("cost", "normalized_cost", "bound", "gap", "assignment")] == [None] * 5

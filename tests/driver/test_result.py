"""A result says what is known, and its gap is a share of the larger of cost and bound."""

from __future__ import annotations

import json
import pickle
import sys

import pytest

import dabp
from dabp.driver.result import Result, relative_gap
from dabp.errors import DabpError
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
    assert problem.cost(problem.names.assignment(facts["assignment"])) == 3.0


def test_nothing_known_is_null() -> None:
    """Without an answer there is neither cost nor gap, and that is no answer of cost 0."""
    problem = dabp.Problem([2], [0], [0, 1], [float("inf")] * 2, [0, 2])
    facts = Result(None, None, Status.INFEASIBLE, None, 0, 0.0, 0, "x").to_dict(problem)
    assert [facts[key] for key in ("cost", "normalized_cost", "bound", "gap", "assignment")] == [None] * 5


def lunch() -> dabp.Problem:
    """Two people, two hours, one of them at most at each."""
    model = dabp.Model("lunch")
    model.add_variables(["ann", "bob"], ["noon", "one"])
    model.forbid(["ann", "bob"], lambda ann, bob: ann == bob, name="one table")
    model.add_cost("ann", [3, 1], name="hunger")
    return model.build()


def test_explanations_are_the_problems() -> None:
    """The costliest function first, as `Problem.explain` has them, cut after so many."""
    problem = lunch()
    result = dabp.solve(problem, "mbe")
    assert result.explain() == problem.explain(result.assignment)
    assert [line.name for line in result.explain(1)] == ["hunger"]
    for wrong in (-1, 2.5, "all"):
        with pytest.raises(DabpError, match="limit is a whole number"):
            result.explain(wrong)


def test_a_pickled_result_has_left_its_problem_behind() -> None:
    """Workers send small results; what needs the problem then says so, and what is without an answer, too."""
    result = dabp.solve(lunch(), "mbe")
    copy = pickle.loads(pickle.dumps(result))
    assert (copy.problem, copy.cost, copy.values) == (None, result.cost, result.values)
    assert repr(copy) == repr(result)
    for broken in (copy, Result(None, None, Status.INFEASIBLE, None, 0, 0.0, 0, "x", problem=lunch())):
        with pytest.raises(DabpError):
            broken.explain()


def test_frames_have_a_row_per_variable() -> None:
    """Names and labels as in `values`, in order."""
    result = dabp.solve(lunch(), "mbe")
    frame = result.to_frame()
    assert frame.to_dict("list") == {"variable": ["ann", "bob"], "value": ["one", "noon"]}


def test_a_frame_without_pandas_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install, and no traceback of an import."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DabpError, match="pip install pandas"):
        dabp.solve(lunch(), "mbe").to_frame()

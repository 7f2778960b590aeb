"""Model: the builder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.errors import ProblemError
from dabp.formats.solution import read_solution, write_solution
from dabp.problem.model import Model


def test_functions_see_labels_and_tables_see_indices() -> None:
    """A cost given as a function of labels equals the same cost given as a table."""
    model = Model()
    model.add_variables(["a", "b"], [1, 5, 7])
    model.add_cost(["a", "b"], lambda a, b: abs(a - b), name="distance")
    model.add_cost(["b", "a"], np.arange(9).reshape(3, 3))
    model.add_constant(2)
    problem = model.build()
    for i, a in enumerate((1, 5, 7)):
        for j, b in enumerate((1, 5, 7)):
            assert problem.cost([i, j]) == abs(a - b) + 3 * j + i + 2
    assert problem.factors[0].name == "distance"


def test_one_label_is_forbidden_as_it_is() -> None:
    """Text is a label and no list of letters."""
    model = Model()
    model.add_variable("a", ["late", "l", "off"])
    model.forbid("a", "late")
    assert np.isinf(model.build().cost([[0], [1], [2]])).tolist() == [True, False, False]
    with pytest.raises(ProblemError, match="no value 'lat'"):
        model.allow("a", "lat")


@pytest.mark.parametrize("maximize", [False, True])
def test_forbid_by_function_and_by_list(maximize: bool) -> None:
    """Forbidden combinations are infinitely bad in either direction."""
    model = Model(maximize=maximize)
    model.add_variables(["a", "b"], ["x", "y"])
    model.forbid(["a", "b"], lambda a, b: a == b)
    model.forbid("a", ["y"])
    model.forbid(["a", "b"], [("x", "x")])
    problem = model.build()
    costs = [problem.cost([a, b]) for a in (0, 1) for b in (0, 1)]
    bad = problem.facts.forbidden
    assert costs == [bad, 0, bad, bad]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda m: m.add_variable("a", 2), "already"),
        (lambda m: m.add_variable("c", []), "at least one value"),
        (lambda m: m.add_variable("c", ["x", "x"]), "twice"),
        (lambda m: m.add_cost(["a", "z"], [[0]]), "no variable 'z'"),
        (lambda m: m.add_cost(["a", "a"], [[0]]), "twice"),
        (lambda m: m.add_cost(["a"], [0, 1, 2]), "shape"),
        (lambda m: m.add_cost(["a"], lambda a: None), "no number"),
        (lambda m: m.add_cost(["a"], [0, np.nan]), "not a number"),
        (lambda m: m.forbid(["a"], ["q"]), "no value 'q'"),
        (lambda m: m.forbid(["a", "b"], [("x",)]), "does not name a value"),
    ],
)
def test_mistakes_are_explained(action, message: str) -> None:  # type: ignore[no-untyped-def]
    """A mistake while building says what and where."""
    model = Model()
    model.add_variables(["a", "b"], ["x", "y"])
    with pytest.raises(ProblemError, match=message):
        action(model)


def test_many_costs_at_once() -> None:
    """One table for all, one for each, or a few with an index give the problem that one by one gives."""
    rng = np.random.default_rng(0)
    scopes = [("a", "b"), ("c", "b"), ("a", "d")]
    few = rng.integers(0, 9, (2, 3, 3)) * 1.0
    for tables, index in ((few[0], None), (few[[0, 1, 0]], None), (few, [0, 1, 0])):
        whole, single = Model(), Model()
        for model in (whole, single):
            model.add_variables("abcd", 3)
        whole.add_costs(scopes, tables, index)
        for number, scope in enumerate(scopes):
            single.add_cost(scope, tables if tables.ndim == 2 else few[[0, 1, 0][number]])
        one, other = whole.build(), single.build()
        rows = rng.integers(0, 3, (50, 4))
        assert np.array_equal(one.cost(rows), other.cost(rows))
        assert len(one.pool) == 9 * (1 if tables.ndim == 2 else 2)
        by_number = Model()
        by_number.add_variables("abcd", 3)
        by_number.add_costs([["abcd".index(v) for v in scope] for scope in scopes], tables, index)
        assert np.array_equal(by_number.build().cost(rows), one.cost(rows))


@pytest.mark.parametrize(
    ("scopes", "tables", "index", "words"),
    [
        ([["a", "x"]], np.zeros((3, 3)), None, "no variable 'x'"),
        ([["a", "a"]], np.zeros((3, 3)), None, "twice"),
        ([[0, 9]], np.zeros((3, 3)), None, "0 to 4"),
        ([0, 1], np.zeros((3, 3)), None, "row for each"),
        ([["a", "b"], ["a", "two"]], np.zeros((3, 3)), None, "one shape"),
        ([["a", "b"]], np.zeros((3, 2)), None, "3×3"),
        ([["a", "b"], ["b", "c"]], np.zeros((3, 3, 3)), None, "3×3"),
        ([["a", "b"]], np.zeros((2, 3, 3)), [2], "index"),
        ([["a", "b"]], np.full((3, 3), np.nan), None, "not a number"),
    ],
)
def test_mistakes_in_many_costs_are_told(scopes: list, tables: np.ndarray, index: list | None, words: str) -> None:
    """In one sentence each."""
    model = Model()
    model.add_variables("abcd", 3)
    model.add_variable("two", 2)
    with pytest.raises(ProblemError, match=words):
        model.add_costs(scopes, tables, index)


@pytest.mark.parametrize(
    "state",
    [
        lambda m: m.add_cost({"a", "b"}, np.zeros((2, 2))),
        lambda m: m.forbid(frozenset({"a", "b"}), lambda a, b: a > b),
        lambda m: m.add_variable("c", {"x", "y"}),
        lambda m: m.add_variable("c", 10**30),
        lambda m: m.add_cost(["a"], np.ma.masked_array([1, 2], [True, False])),
        lambda m: m.forbid(["a", "b"], {(0, 0): False}),
        lambda m: m.forbid(["a", "b"], np.zeros((2, 2), dtype=bool)),
    ],
)
def test_what_could_be_meant_in_two_ways_is_refused(state: Callable[[Model], object]) -> None:
    """What has no order, hides numbers, or says yes or no where combinations are listed; nothing is added."""
    model = Model("m")
    model.add_variables(["a", "b"], 2)
    with pytest.raises(ProblemError):
        state(model)
    built = model.build()
    assert (built.num_variables, built.num_factors) == (2, 0)


def test_a_set_of_one_is_no_question() -> None:
    """And a masked array that hides nothing is an array."""
    model = Model("m")
    model.add_variable("a", {"x"})
    model.add_cost({"a"}, np.ma.masked_array([3.0]))
    assert model.build().cost([0]) == 3.0


def test_labels_of_any_kind_stay_what_they_are(tmp_path: Path) -> None:
    """True, 1 and 1.0 are different values; tuples can be labels, and are text in files; lists cannot."""
    model = Model()
    model.add_variable("mixed", [True, 1, 1.0, "one", None])
    model.add_variable("place", [(0, 1), (1, 0)])
    model.add_variable("number", np.arange(3) * 0.5)
    model.forbid("mixed", [1])
    model.forbid("place", [(0, 1)])
    model.at_most(["place"], (1, 0), 1)
    problem = model.build()
    assert np.isinf(problem.cost([[k, 1, 0] for k in range(5)])).tolist() == [False, True, False, False, False]
    assert problem.cost({"mixed": 1.0, "place": (0, 1), "number": 0.5}) == np.inf
    assert problem.cost({"mixed": True, "place": (1, 0), "number": 1.0}) == 0
    assert [type(label) for label in problem.names.labels(2)] == [float] * 3
    result = dabp.solve(model, fix={"mixed": None})
    assert result.values is not None
    assert result.values["place"] == (1, 0)
    write_solution(result, problem, tmp_path / "a.json")
    assert read_solution(tmp_path / "a.json", problem).tolist() == result.assignment.tolist()
    with pytest.raises(ProblemError, match=r"cannot have the value \[1\]"):
        model.add_variable("list", [[1], [2]])


@pytest.mark.parametrize("values", [0, -1, 2.5, None, []])
def test_variables_without_values_are_refused(values: Any) -> None:
    """Whatever they are given in place of some."""
    with pytest.raises(ProblemError, match="variable 'a'"):
        Model().add_variable("a", values)
    with pytest.raises(ProblemError, match="name of a variable is text, not 3"):
        Model().add_variable(3, 2)  # type: ignore[arg-type]

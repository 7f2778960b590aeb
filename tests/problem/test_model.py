"""Model: the builder."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import ProblemError
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
    assert problem.factor(0).name == "distance"


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
    bad = problem.forbidden
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

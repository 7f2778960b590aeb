"""Names, labels and assignments, both ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.model import Model
from tests.problem.test_problem import small


@pytest.mark.parametrize("assignment", [[0, 1], [0, 3, 0], [0, -1, 0], [0.5, 0, 0], ["a", "b", "c"]])
def test_wrong_assignments_are_refused(assignment: list[object]) -> None:
    """Neither a wrong length nor a value outside its domain reaches the tables."""
    with pytest.raises(ProblemError):
        small().cost(assignment)


def test_names_and_labels_go_both_ways() -> None:
    """An assignment by name and label survives the way to indices and back."""
    model = Model("rooms")
    model.add_variable("talk", ["red", "blue"])
    model.add_variable("hour", [9, 10, 11])
    problem = model.build()
    values = {"talk": "blue", "hour": 11}
    assert problem.names.labelled(problem.names.assignment(values)) == values
    assert problem.names.value_index(1, "10") == 1
    with pytest.raises(ProblemError, match="no value 'green'; it takes red, blue"):
        problem.names.assignment({"talk": "green", "hour": 9})
    with pytest.raises(ProblemError, match="no value for 'hour'"):
        problem.names.assignment({"talk": "red"})
    with pytest.raises(ProblemError, match="no variable 'x'"):
        problem.names.assignment({"x": 1})


def test_assignments_of_pandas_go_by_name() -> None:
    """A Series in any order of names; one that is just numbered by position; a frame is refused."""
    problem = Problem([2, 3], [0, 1], [0, 2], np.arange(6.0), [0, 6], variable_names=["a", "b"])
    assert problem.cost(pd.Series({"b": 2, "a": 0})) == 2
    assert problem.cost(pd.Series([1, 2])) == 5
    assert problem.cost(pd.Series([0, 1], index=["b", "a"])) == 3
    with pytest.raises(ProblemError, match="no variable 'c'"):
        problem.cost(pd.Series({"c": 2, "a": 0}))
    with pytest.raises(ProblemError, match="no DataFrame"):
        problem.cost(pd.DataFrame([[1, 2]], columns=["b", "a"]))

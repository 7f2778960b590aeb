"""Costs by label and by position, against the same written out."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dabp.errors import ProblemError
from dabp.problem.data import cost_table

NAMES, LABELS = ("a", "b", "c"), (("x", "y"), (1, True, 2.5), ("x", 7))
COSTS = np.arange(12.0).reshape(2, 3, 2)


def shuffled(rows: list[Any]) -> list[Any]:
    return [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]


def test_dictionaries_are_read_by_label() -> None:
    """Of one variable, of several by tuples, nested, and mixed; the order of the keys does not matter."""
    assert cost_table({"y": 2, "x": 1}, ["a"], [("x", "y")]).tolist() == [1, 2]
    cells = list(itertools.product(range(2), range(3), range(2)))
    flat = {tuple(row[k] for row, k in zip(LABELS, cell, strict=True)): COSTS[cell] for cell in shuffled(cells)}
    nested = {"y": {}, "x": {}}
    for (first, *rest), cost in flat.items():
        nested[first][tuple(rest)] = cost
    with pytest.raises(ProblemError, match="nothing about"):
        cost_table(flat, NAMES, LABELS)  # to a dictionary 1 and True are one key
    told_apart = [LABELS[0], (1, "True", 2.5), LABELS[2]]
    flat = {tuple(row[k] for row, k in zip(told_apart, cell, strict=True)): COSTS[cell] for cell in shuffled(cells)}
    nested = {first: {rest: flat[first, *rest] for rest in itertools.product(*told_apart[1:])} for first in ("y", "x")}
    for given in (flat, nested, {"x": nested["x"], **{key: cost for key, cost in flat.items() if key[0] == "y"}}):
        assert np.array_equal(cost_table(given, NAMES, told_apart), COSTS.ravel())
    assert cost_table({("y", 7): 3}, ["a", "c"], [LABELS[0], LABELS[2]], default=0.5).tolist() == [0.5, 0.5, 0.5, 3]


def test_pandas_is_aligned_by_label() -> None:
    """Rows, columns and levels in any order, and axes named after the variables in any order."""
    series = pd.Series({"y": 2.0, "x": 1.0})
    assert cost_table(series, ["a"], [("x", "y")]).tolist() == [1, 2]
    frame = pd.DataFrame([[1, 2], [3, 4], [5, 6]], index=[2, 1, 3], columns=["q", "p"])
    expected = [4, 3, 2, 1, 6, 5]
    labels = [(1, 2, 3), ("p", "q")]
    assert cost_table(frame, ["a", "b"], labels).tolist() == expected
    assert cost_table(frame.stack(), ["a", "b"], labels).tolist() == expected
    turned = frame.T.rename_axis(index="b", columns="a")
    assert cost_table(turned, ["a", "b"], labels).tolist() == expected
    assert cost_table(turned.stack(), ["a", "b"], labels).tolist() == expected
    assert cost_table(pd.Series([7, 8]), ["a"], [(0, 1)]).tolist() == [7, 8]


@pytest.mark.parametrize(
    ("cost", "names", "words"),
    [
        ({"x": 1}, ["a"], "nothing about 'y'; default="),
        ({"x": 1, "y": 2, "z": 3}, ["a"], "'z', which is no value of variable 'a'"),
        ({"x": 1, "y": "2"}, ["a"], "cost of 'y' is '2', not a number"),
        ({"x": 1, "y": None}, ["a"], "not a number"),
        ({"x": 1, "y": 2}, ["a", "b"], "'x' does not name a value for each of 2"),
        ({"x": {"y": 1}, ("x", "y"): 2}, ["a", "b"], r"\('x', 'y'\) twice"),
        (pd.Series([1.0, 2.0]), ["a"], "0, which is no value of variable 'a'"),
        (pd.Series([1, 2], index=["x", "x"]), ["a"], "index of the costs has 'x' twice"),
        (pd.Series([1, 2], index=["x", "y"]), ["a", "b"], "index of 2 levels, it has 1"),
        (pd.DataFrame(np.eye(2), list("xy"), list("xx")), ["a", "b"], "columns of the costs has 'x' twice"),
        (pd.DataFrame(np.eye(2), list("xy"), list("xy")), ["a"], "table over two variables"),
        ("12", ["a"], "not a str"),
        ({1, 2}, ["a"], "not a set"),
        (None, ["a"], "not a NoneType"),
        ((n for n in (1, 2)), ["a"], "not a generator"),
        (pd.Index([1, 2]), ["a"], "not a Index"),
        ([[1], [2, 3]], ["a", "b"], "no table of numbers"),
        ([1, "q"], ["a"], "no table of numbers"),
        ([1, 2j], ["a"], "no table of numbers"),
        ([1, 2, 3], ["a"], r"needs shape \(2,\), not \(3,\)"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(cost: Any, names: list[str], words: str) -> None:
    """What is missing, twice, unknown or no table of numbers is named."""
    with pytest.raises(ProblemError, match=words):
        cost_table(cost, names, [("x", "y")] * len(names))


def test_pandas_is_not_imported() -> None:
    """Building and costing a model leaves it out."""
    code = (
        "import sys, dabp\nm = dabp.Model()\nm.add_variable('a', ['x', 'y'])\n"
        "m.add_cost('a', {'x': 1, 'y': 2})\nassert m.build().cost({'a': 'y'}) == 2\nassert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

"""Functions by keyword cost what their definition says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from dabp.formats import read
from tests.formats.peer import optimal_values
from tests.problems import all_assignments

_TOP = 1000


def _pairs(values: Sequence[int]) -> int:
    return sum(a == b for a, b in itertools.combinations(values, 2))


def _soft(excess: float, delta: int) -> float:
    return max(excess, 0) if excess <= delta else np.inf


@pytest.mark.parametrize(
    ("text", "arity", "cost"),
    [
        ("salldiff var 1000", 3, lambda v: np.inf if _pairs(v) else 0),
        ("salldiff var 7", 3, lambda v: 7 * (len(v) - len(set(v)))),
        ("salldiff dec 7", 4, lambda v: 7 * _pairs(v)),
        ("salldiff decbi 7", 3, lambda v: 7 * _pairs(v)),
        ("salldiffkp hard 5000", 3, lambda v: np.inf if _pairs(v) else 0),
        ("walldiff hard 1000", 3, lambda v: np.inf if _pairs(v) else 0),
        (">= 1 1", 2, lambda v: _soft(v[1] + 1 - v[0], 1)),
        ("> 0 2", 2, lambda v: _soft(v[1] + 1 - v[0], 2)),
        ("<= -1 1", 2, lambda v: _soft(v[0] + 1 - v[1], 1)),
        ("< 1 0", 2, lambda v: _soft(v[0] - 1 + 1 - v[1], 0)),
        ("= 1 1", 2, lambda v: _soft(abs(v[1] + 1 - v[0]), 1)),
        ("disj 2 1 9", 2, lambda v: 0 if v[0] >= v[1] + 1 or v[1] >= v[0] + 2 else 9),
        ("clique 1 1 0 2 0 1 1 2", 3, lambda v: np.inf if (v[0] == 0) + (v[1] in (0, 1)) + (v[2] == 2) > 1 else 0),
    ],
)
def test_definition(text: str, arity: int, cost: Callable[[Sequence[int]], float], tmp_path: Path) -> None:
    """Every assignment costs what the definition of toulbar2's documentation gives."""
    path = tmp_path / "a.wcsp"
    path.write_text(f"p {arity} 3 1 {_TOP}\n{'3 ' * arity}\n{arity} {' '.join(map(str, range(arity)))} -1 {text}\n")
    problem = read(path)
    for values in all_assignments(problem).tolist():
        assert problem.cost(values) == cost(values), values


def test_knapsack_and_toulbar2(tmp_path: Path) -> None:
    """Linear constraints: toulbar2 finds the optimum that our tables have."""
    path = tmp_path / "k.wcsp"
    unary = "".join(f"1 {i} 0 1\n1 {3 + 2 * i}\n" for i in range(4))
    path.write_text(f"p 4 2 5 {_TOP}\n2 2 2 2\n4 0 1 2 3 -1 knapsack 7 2 3 4 5\n{unary}")
    problem = read(path)
    values = optimal_values([path])[0]
    assert problem.cost(values) == problem.cost(all_assignments(problem)).min() == 12


def test_many_variables_share_one_table(tmp_path: Path) -> None:
    """A large all-different is pairs of one table, not a table of all variables."""
    path = tmp_path / "a.wcsp"
    path.write_text(f"p 60 60 1 1\n{'60 ' * 60}\n60 {' '.join(map(str, range(60)))} -1 salldiff var 1\n")
    problem = read(path)
    assert (problem.num_factors, len(problem.pool)) == (60 * 59 // 2, 60 * 60)
    assert problem.cost(range(60)) == 0

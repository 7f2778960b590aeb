"""Functions by keyword cost what their definition says."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import read
from dabp.formats.intensional import PART
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


def test_many_variables_in_cfn() -> None:
    """The same in the other format, where it needs no table of all variables either."""
    problem = read(io.StringIO(_all_different_cfn(1, 80)), "cfn")
    assert (problem.num_factors, len(problem.pool)) == (80 * 79 // 2, 4)


def _all_different(functions: int, variables: int = 10) -> str:
    line = f"{variables} {' '.join(map(str, range(variables)))} -1 salldiff hard 1\n"
    return f"p {variables} 2 {functions} 1\n{'2 ' * variables}\n{line * functions}"


def _all_different_cfn(functions: int, variables: int = 10) -> str:
    scope = " ".join(map(str, range(variables)))
    line = f"{{scope: [{scope}], type: salldiff, params: {{metric: hard, cost: 1}}}}\n"
    declared = " ".join(f"x{i}: 2" for i in range(variables))
    return f"{{problem: {{name: p, mustbe: <1}}, variables: {{{declared}}}, functions: {{\n{line * functions}}}}}"


@pytest.mark.parametrize(("format", "text"), [("wcsp", _all_different), ("cfn", _all_different_cfn)])
def test_limit_on_the_parts_of_a_file(format: str, text: Callable[[int], str]) -> None:
    """What functions fall apart into counts against max_cells for the whole file, not for each of them alone."""
    limit = 3 * 45 * PART + 4 + 4  # the table that all share is made again before it is known
    assert read(io.StringIO(text(3)), format, max_cells=limit).num_factors == 3 * 45
    for functions, most in ((4, limit), (3, limit - 1)):
        with pytest.raises(FormatError, match=r"needs tables of 724 cells, more than \d+ \(max_cells\)"):
            read(io.StringIO(text(functions)), format, max_cells=most)


def test_limit_on_listed_costs_and_parts_together() -> None:
    """Tables of both kinds are in one pool, and so is their limit."""
    text = "p 2 2 2 9\n2 2\n2 0 1 -1 >= 0 0\n2 0 1 5 0\n"
    assert len(read(io.StringIO(text), "wcsp", max_cells=PART + 8).pool) == 8
    with pytest.raises(FormatError, match=f":4: its tables would have {PART + 8} cells"):
        read(io.StringIO(text), "wcsp", max_cells=PART + 7)


def test_work_grows_with_the_number_of_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each function by keyword is counted once, not again with every one that follows."""
    seen = 0

    def counted(parts: Sequence[object], known: object) -> int:
        nonlocal seen
        seen += len(parts)
        return 0

    monkeypatch.setattr("dabp.formats.wcsp.counted", counted)
    problem = read(io.StringIO("p 2 2 500 9\n2 2\n" + "2 0 1 -1 >= 0 0\n" * 500), "wcsp")
    assert (problem.num_factors, seen) == (500, 500)


_SHARED = "p 6 300 9 9\n300 300 300 300 300 2\n"


def test_functions_that_say_the_same_share_a_table() -> None:
    """Equal keywords, parameters and domains count once for the limit; equal tables are stored once."""
    same = "2 0 1 -1 >= 3 0\n2 2 3 -1 >= 3 0\n2 4 0 -1 >= 3 0\n2 1 2 -1 >= 4 0\n"
    others = "2 0 1 -1 > 3 0\n2 0 1 -1 >= 3 1\n2 0 5 -1 >= 3 0\n"
    cliques = "3 0 1 2 -1 clique 1 1 7 1 7 1 7\n2 3 4 -1 clique 1 1 7 1 7\n"
    problem = read(io.StringIO(_SHARED + same + others + cliques), "wcsp", max_cells=5 * 90_000 + 90_776)
    assert [int(table) for table in problem.factor_table] == [0, 0, 0, 1, 1, 2, 3, 4, 4, 4, 4]
    with pytest.raises(FormatError, match="max_cells"):
        read(io.StringIO(_SHARED + same + others + cliques), "wcsp", max_cells=5 * 90_000 + 90_775)


def test_functions_that_say_the_same_share_a_table_in_cfn() -> None:
    """So in the other format."""
    function = "{scope: [x y], type: >=, params: [%d 0]}\n"
    declared = "{problem: {name: p, mustbe: <9}, variables: {x: 300, y: 300}, functions: {\n"
    problem = read(io.StringIO(declared + function % 3 + function % 3 + function % 4 + "}}"), "cfn")
    assert (problem.num_factors, len(problem.pool)) == (3, 2 * 90_000)
    expected = np.maximum(np.arange(300)[None, :] + 3 - np.arange(300)[:, None], 0)
    assert np.array_equal(np.asarray(problem.cells(1)).reshape(300, 300), np.where(expected > 0, np.inf, 0.0))

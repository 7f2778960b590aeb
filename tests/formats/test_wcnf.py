"""MaxSAT files cost the weight of the clauses that are not satisfied, however long those are."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.formats.wcnf import AUXILIARY, as_maxsat
from dabp.problem import Problem
from tests.problems import all_assignments

_DATA = Path(__file__).parents[1] / "data" / "good"
_literal = st.integers(-6, 6).filter(bool)
_clause = st.tuples(st.none() | st.integers(1, 9), st.lists(_literal, max_size=9))
Clauses = list[tuple[int | None, list[int]]]


def _cost(clauses: Clauses, bits: tuple[int, ...]) -> float:
    """The definition: what is not satisfied costs its weight, None is hard."""
    total = 0.0
    for weight, literals in clauses:
        if not any((bits[abs(one) - 1] == 1) == (one > 0) for one in literals):
            total += np.inf if weight is None else weight
    return total


def _least(problem: Problem, size: int) -> dict[tuple[int, ...], float]:
    """The least cost of each assignment of the file's variables, over all values of the auxiliary ones."""
    found: dict[tuple[int, ...], float] = {}
    states = all_assignments(problem)
    for state, cost in zip(states.tolist(), problem.cost(states).tolist(), strict=True):
        bits = tuple(state[:size])
        found[bits] = min(found.get(bits, np.inf), cost)
    return found


def _text(clauses: Clauses, old: bool) -> str:
    top = 1 + sum(weight or 0 for weight, _ in clauses)
    hard = str(top) if old else "h"
    lines = [" ".join([hard if weight is None else str(weight), *map(str, row), "0"]) for weight, row in clauses]
    return "\n".join([f"p wcnf 6 {len(clauses)} {top}" if old else "c six variables", *lines, ""])


@settings(max_examples=60, deadline=None)
@given(clauses=st.lists(_clause, min_size=1, max_size=4), old=st.booleans())
def test_definition(clauses: Clauses, old: bool) -> None:
    """Both forms: repeated and opposite literals, empty clauses, and long ones cut by auxiliary variables."""
    problem = read(io.StringIO(_text(clauses, old)), "wcnf")
    size = sum(not name.startswith(AUXILIARY) for name in problem.names.variables)
    assert problem.arities.max(initial=0) <= 5
    for bits, cost in _least(problem, size).items():
        assert cost == _cost(clauses, (*bits, *(0 for _ in range(6 - size))))


def test_good_files() -> None:
    """Hand-made files of the three kinds, a clause over two lines included."""
    old = [(10, [1, -2, 4]), (None, [-1, -2, 3]), (3, [1]), (None, [1, 2, 3, 4]), (2, [-1, 2, -3, 4])]
    plain = [(1, [1, -2]), (1, [2, 3]), (1, [-1, -3])]
    for name, clauses, size in (("old.wcnf", old, 4), ("small.cnf", plain, 3)):
        problem = read(_DATA / name)
        for bits in itertools.product((0, 1), repeat=size):
            assert problem.cost(bits) == _cost(clauses, bits)


def test_many_literals_are_not_tabulated() -> None:
    """A clause of 2,000 literals takes some tables of eight cells, and its best completion costs what it should."""
    text = "5 " + " ".join(map(str, range(1, 2001))) + " 0\n"
    problem = read(io.StringIO(text), "wcnf")
    assert (problem.auxiliaries.num_visible, problem.num_factors) == (2000, problem.auxiliaries.count + 1)
    assert 1997 <= problem.auxiliaries.count <= 1998
    assert len(problem.pool) <= 64
    values = np.zeros(2000, dtype=int)
    assert problem.cost(problem.auxiliaries.completed(values)) == 5
    for literal in (0, 777, 1999):
        values[literal] = 1
        assert problem.cost(problem.auxiliaries.completed(values)) == 0
        values[literal] = 0


@settings(max_examples=60, deadline=None)
@given(clauses=st.lists(st.tuples(st.none() | st.integers(1, 9), st.lists(_literal, max_size=4)), max_size=5))
def test_reading_what_was_written(clauses: Clauses) -> None:
    """A written problem is the same function again, but for a constant that a note tells."""
    problem = read(io.StringIO("c\n" + _text([*clauses, (1, [6])], False)), "wcnf")
    stream = io.StringIO()
    notes = write(problem, stream, "wcnf")
    again = read(io.StringIO(stream.getvalue()), "wcnf")
    states = all_assignments(problem)
    costs = problem.cost(states)
    np.testing.assert_array_equal(again.cost(states) + problem.constant, costs)
    assert any("constant" in note for note in notes) == (problem.constant > 0)


def test_what_cannot_be_written() -> None:
    """Variables of three values are no booleans."""
    with pytest.raises(FormatError, match="MaxSAT has variables of two values; 'x0' has 3"):
        write(Problem([3]), io.StringIO(), "wcnf")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("h 2 0\n-1 1 0\n", ":2: a weight is -1; it should be 1 or more"),
        ("-2147483647 1 0\nh 2 0\n", ":1: a weight is -2.14748e"),
        ("1 1 0\n9007199254740993 1 0\n", ":2: 9007199254740993 is beyond 2^53".replace("^", r"\^")),
        ("1 1 0\n9007199254740993 1 0\n0.5 1 0\n", r":2: 9.0072e\+15 is beyond"),
        ("p wcnf 1 1 99999999999999999\n9007199254740993 1 0\n", ":2: 9007199254740993 is beyond"),
    ],
)
def test_weights_that_would_be_others(text: str, reason: str) -> None:
    """No number of a file stands for something else, and none is rounded."""
    with pytest.raises(FormatError, match=reason):
        read(io.StringIO(text), "wcnf")


def test_large_hard_weights() -> None:
    """From the top on any weight is hard, however large."""
    text = "p wcnf 1 2 9223372036854775000\n9223372036854775000 1 0\n9007199254740991 -1 0\n"
    assert read(io.StringIO(text), "wcnf").cost([[0], [1]]).tolist() == [np.inf, 2.0**53 - 1]


def test_answers() -> None:
    """The lines of the evaluations, without the auxiliary variables."""
    problem = read(_DATA / "new.wcnf")
    assert problem.num_variables > 7
    values = np.ones(problem.num_variables, dtype=int)
    assert as_maxsat(values, problem, 7.0, "LIMIT") == "o 7\ns SATISFIABLE\nv 1111111\n"
    assert as_maxsat(values, problem, 7.0, "OPTIMAL").splitlines()[1] == "s OPTIMUM FOUND"
    assert as_maxsat(None, problem, None, "LIMIT") == "s UNKNOWN\n"
    assert as_maxsat(None, problem, None, "INFEASIBLE") == "s UNSATISFIABLE\n"


@pytest.mark.parametrize("seed", range(20))
def test_pysat_reads_the_same(seed: int, tmp_path: Path) -> None:
    """python-sat finds the clauses and weights that we find, and its solver the optimum of our costs."""
    formula = pytest.importorskip("pysat.formula", reason="python-sat is not installed")
    examples = pytest.importorskip("pysat.examples.rc2")
    rng = np.random.default_rng(seed)
    clauses: Clauses = []
    for _ in range(12):
        row = (rng.permutation(6)[: rng.integers(1, 7)] + 1) * rng.choice([-1, 1])
        clauses.append((None if rng.random() < 0.3 else int(rng.integers(1, 9)), (row * 1).tolist()))
    path = tmp_path / "a.wcnf"
    path.write_text(_text(clauses, old=True))
    theirs = formula.WCNF(from_file=str(path))
    problem = read(path)
    least = min(_least(problem, 6).values())
    assert sorted(map(sorted, theirs.hard)) == sorted(sorted(row) for weight, row in clauses if weight is None)
    with examples.RC2(theirs) as solver:
        model = solver.compute()
        assert (model is None) == (least == np.inf)
        if model is not None:
            assert solver.cost == least

"""Integer tables of toulbar2: bounds, shared tables, constants."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem


def test_reading_what_toulbar2_reads(tmp_path: Path) -> None:
    """Costs at or above the stated bound are forbidden, alone and with the best of everything else."""
    path = tmp_path / "bound.wcsp"
    path.write_text("p 2 2 2 5\n2 2\n1 0 3 1\n1 0\n1 1 2 1\n0 4\n")
    assert read(path).cost([[1, 1], [0, 1], [1, 0]]).tolist() == [2, np.inf, 4]
    path.write_text("p 2 2 2 5\n2 2\n1 0 3 0\n1 1 3 0\n")
    assert np.isinf(read(path).cost([0, 0]))


def test_shared_tables_and_constants() -> None:
    """A negative arity defines a table, a negative number of tuples reuses it; arity 0 is added to every cost."""
    text = "p 3 2 4 100\n2 2 2\n-2 0 1 5 1\n1 0 7\n2 1 2 0 -1\n1 2 0 1\n1 3\n0 11 0\n"
    problem = read(io.StringIO(text), "wcsp")
    assert problem.factor_table[0] == problem.factor_table[1]
    assert problem.constant == 11
    assert problem.cost([1, 0, 0]) == 7 + 5 + 11
    assert problem.cost([1, 1, 1]) == 5 + 5 + 3 + 11


def test_a_shared_table_is_written_once() -> None:
    """A thousand factors with one table make a file of a thousand short lines."""
    table = np.arange(400.0)
    problem = Problem(
        [20] * 1001,
        np.column_stack([np.arange(1000), np.arange(1, 1001)]).ravel(),
        np.arange(0, 2001, 2),
        table,
        [0, 400],
        np.zeros(1000, dtype=int),
    )
    stream = io.StringIO()
    write(problem, stream, "wcsp")
    assert stream.getvalue().count(" -1\n") == 999
    assert read(io.StringIO(stream.getvalue()), "wcsp") == problem


def test_numbers_without_a_space_between() -> None:
    """toulbar2 reads ``29-1`` as two numbers, and lines are counted right after it."""
    expected = read(io.StringIO("p 2 2 1 100\n2 2\n1 0 29 1\n1 7\n"), "wcsp")
    assert read(io.StringIO("p 2 2 1 100\n2 2\n1 0 29+1\n1 7\n"), "wcsp") == expected
    shared = "p 2 2 2 100\n2 2\n-1 0 5 1\n1 7\n1 1 29-1\n"
    assert read(io.StringIO(shared), "wcsp").factor_table.tolist() == [0, 0]
    with pytest.raises(FormatError, match=":5: a number was expected, 'x' found"):
        read(io.StringIO("p 2 2 2 100\n2 2\n1 0 29+1\n1 7\nx"), "wcsp")
    with pytest.raises(FormatError, match=":3: a number was expected, '29--1' found"):
        read(io.StringIO("p 2 2 2 100\n2 2\n1 0 29--1\n1 7\n"), "wcsp")


@pytest.mark.parametrize("cost", ["9007199254740993", "-9223372036854775807"])
def test_costs_that_would_be_rounded(cost: str) -> None:
    """Integers beyond 2^53, listed or by default, are refused where they stand."""
    for function in (f"1 0 0\n1\n0 {cost}", f"1 0\n\n{cost}\n0"):
        with pytest.raises(FormatError, match=r":5: .* is beyond 2\^53"):
            read(io.StringIO(f"p 1 2 1 999999999999999999\n2\n{function}\n"), "wcsp")


@pytest.mark.parametrize("top", [100, 2**31, 10**15, 2**62, 10**20])
def test_any_bound_leaves_the_costs_as_they_are(top: int) -> None:
    """Bounds of any size, and costs below and above them of any size."""
    costs = [0, 99, 2**31, 10**14, 10**15]
    tuples = "\n".join(f"{value} {cost}" for value, cost in enumerate(costs))
    problem = read(io.StringIO(f"p 1 5 1 {top}\n5\n1 0 0 5\n{tuples}\n"), "wcsp")
    assert problem.pool.tolist() == [cost if cost < top else np.inf for cost in costs]


def test_a_table_at_every_edge_is_stored_once() -> None:
    """The image of which each pair has its table written out takes the memory of one."""
    body = "".join(f"{a} {b} {int(a != b)}\n" for a in range(12) for b in range(12))
    text = "p 50 12 49 100\n" + "12 " * 50 + "\n" + "".join(f"2 {i} {i + 1} 0 144\n{body}" for i in range(49))
    problem = read(io.StringIO(text), "wcsp")
    assert (problem.num_factors, len(problem.pool)) == (49, 144)
    assert problem.cost(np.arange(50) % 12) == 49

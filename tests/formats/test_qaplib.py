"""Quadratic assignments cost what their definition says."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import read, write
from dabp.problem import Problem


@pytest.mark.parametrize("header", ["4", "4 4 77"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_definition(header: str, symmetric: bool) -> None:
    """Every permutation costs flows times distances, those of a facility to itself too; the rest is forbidden."""
    flows, distances = np.random.default_rng(0).integers(0, 5, (2, 4, 4))
    if symmetric:
        flows = flows + flows.T
    text = f"{header}\n" + "\n".join(" ".join(map(str, row)) for row in (*flows.tolist(), *distances.tolist()))
    problem = read(io.StringIO(text), "qaplib")
    for p in itertools.product(range(4), repeat=4):
        expected = (flows * distances[np.ix_(p, p)]).sum() if len(set(p)) == 4 else np.inf
        assert problem.cost(p) == expected


def test_equal_flows_share_a_table() -> None:
    """Most flows are 0: n squared tables of n squared cells would be too many."""
    flows, distances = np.zeros((30, 30), dtype=int), np.arange(900).reshape(30, 30)
    flows[0, 1] = 2
    text = "30\n" + " ".join(map(str, [*flows.ravel().tolist(), *distances.ravel().tolist()]))
    assert len(read(io.StringIO(text), "qaplib").pool) == 2 * 900 + 30


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x 1 1", ":1: the number of facilities was expected, 'x' found"),
        ("0", ":1: the number of facilities"),
        ("2 1 1 1 1 1 1 1", ":1: 8 numbers of two matrices were expected after 2, 7 found"),
        ("1\n1\nx", ":3: a number was expected, 'x' found"),
        ("1\n1\n9007199254740993", r":3: 9007199254740993 is beyond 2\^53"),
        ("9999999 1 1", "numbers of two matrices"),
    ],
)
def test_wrong_files(text: str, reason: str) -> None:
    """One sentence with the line."""
    with pytest.raises(FormatError, match=reason):
        read(io.StringIO(text), "qaplib")


def test_cannot_be_written() -> None:
    """Said before anything is written."""
    with pytest.raises(FormatError, match="only read"):
        write(Problem([2]), io.StringIO(), "qaplib")

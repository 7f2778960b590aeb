"""Scopes of all functions at once, checked as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats.scopes import Scopes, domain_sizes
from dabp.formats.text import Source
from dabp.formats.tokens import Tokens


def _tokens(text: str, max_cells: int | None = None) -> Tokens:
    return Tokens(Source("f", f"title\n{text}".encode(), max_cells))


def test_columns() -> None:
    """Each function's variables in its order, and the product of their sizes, whatever the arities."""
    tokens = _tokens("2 3 4\n2 2 0\n0\n3 0 1 2\n1 1")
    sizes = domain_sizes(tokens, 3)
    scopes = Scopes(tokens, sizes, np.array([4, 7, 8, 12]), np.array([2, 0, 3, 1]))
    assert scopes.variables.tolist() == [2, 0, 0, 1, 2, 1]
    assert scopes.offsets.tolist() == [0, 2, 2, 5, 6]
    assert scopes.cells.tolist() == [8, 1, 24, 3]
    assert {k: rows.tolist() for k, rows in scopes.groups()} == {0: [1], 1: [3], 2: [0], 3: [2]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2 2\n1 0\n2 0 2", ":4: a scope names a variable outside 0..1"),
        ("2 2\n1 0\n2 1 1", ":4: a cost function names a variable twice"),
        ("2 2\n1 0.5\n2 1 0", ":3: a scope names a variable outside 0..1"),
    ],
)
def test_wrong_scopes(text: str, reason: str) -> None:
    """The first wrong one is refused where it stands."""
    tokens = _tokens(text)
    sizes = domain_sizes(tokens, 2)
    with pytest.raises(FormatError, match=reason):
        Scopes(tokens, sizes, np.array([3, 5]), np.array([1, 2]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2 0", "variable 1 has a domain of 0 values"),
        ("2 1.5", "variable 1 has a domain of 1.5 values"),
        ("2 101", r"variable 1 has a domain of 101 values; 1 to 100 \(max_cells\) can be"),
        ("60 60", ":2: its variables would have 120 values in all, more than the limit of 100"),
        ("2", "the file ends where a domain size should follow"),
    ],
)
def test_wrong_sizes(text: str, reason: str) -> None:
    """Sizes are whole, and limited one by one and together."""
    with pytest.raises(FormatError, match=reason):
        domain_sizes(_tokens(text, 100), 2)


def test_limit_on_all_tables() -> None:
    """The complaint stands at the function that passes the limit."""
    tokens = _tokens("9 9\n2 0 1\n2 1 0", 100)
    scopes = Scopes(tokens, domain_sizes(tokens, 2), np.array([3, 6]), np.array([2, 2]))
    with pytest.raises(FormatError, match=":4: its tables would have 162 cells, more than the limit of 100"):
        scopes.take_cells(scopes.cells)

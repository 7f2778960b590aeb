"""The sequence of restart lengths."""

from __future__ import annotations

from dabp.solvers.luby import luby


def test_luby_sequence() -> None:
    """The first terms as published."""
    assert [luby(k) for k in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]

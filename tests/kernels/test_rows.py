"""Rows are copied and measured as NumPy does it."""

from __future__ import annotations

import numpy as np

from dabp.kernels.decorators import kernel
from dabp.kernels.rows import copy_row, longest_row


@kernel
def _copied(source: np.ndarray, count: int, target: np.ndarray, start: int) -> None:
    copy_row(source, count, target, start)


@kernel
def _longest(offsets: np.ndarray, first: int, last: int) -> int:
    return longest_row(offsets, first, last)


def test_a_row_is_copied_to_its_place() -> None:
    """What lies before and after it stays."""
    source, target = np.arange(1.0, 7.0), np.zeros(10)
    expected = target.copy()
    expected[3:7] = source[:4]
    _copied(source, 4, target, 3)
    assert np.array_equal(target, expected)


def test_the_longest_row_is_that_of_the_differences() -> None:
    """Over a range of rows, and 0 over none."""
    lengths = np.random.default_rng(0).integers(0, 50, 20)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    for first, last in ((0, 20), (3, 9), (19, 20)):
        assert _longest(offsets, first, last) == np.diff(offsets[first : last + 1]).max()
    assert _longest(offsets, 5, 5) == 0

"""Arguments reach a kernel as they are: arrays of all kinds, alone and in tuples in tuples, or not at all."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest

from dabp.kernels.decorators import array_kernel, kernel


class Inner(NamedTuple):
    """Arrays and numbers."""

    small: np.ndarray
    flag: bool
    count: int
    rate: float


class Outer(NamedTuple):
    """The same type of array twice, a matrix, and tuples."""

    first: np.ndarray
    second: np.ndarray
    matrix: np.ndarray
    inner: Inner
    pair: tuple[int, float]


@array_kernel
def _summed(outer: Outer, strided: np.ndarray, empty: tuple[()], weight: float) -> float:
    total = weight * strided.sum() + outer.inner.rate * outer.inner.count + outer.pair[0] * outer.pair[1]
    for i in range(outer.first.size):
        total += outer.first[i] * outer.second[i]
    for i in range(outer.matrix.shape[0]):
        for j in range(outer.matrix.shape[1]):
            total += outer.matrix[i, j] * (i + 1)
    return total + (outer.inner.small[0] if outer.inner.flag else 0)


@kernel
def _last(outer: Outer) -> np.ndarray:
    return outer.matrix[outer.matrix.shape[0] - 1]


def _arguments(flag: bool = True) -> Outer:
    inner = Inner(np.array([7, 8], dtype=np.uint8), flag, 3, 0.5)
    return Outer(np.arange(4.0), np.arange(4.0) + 1, np.arange(6, dtype=np.int32).reshape(2, 3), inner, (2, 0.25))


@pytest.mark.parametrize("flag", [True, False])
def test_every_field_arrives(flag: bool) -> None:
    """As an independent sum of the same fields tells."""
    strided = np.arange(10.0)[::3]
    wanted = (
        2.0 * 18.0 + 1.5 + 0.5 + (0 * 1 + 1 * 2 + 2 * 3 + 3 * 4) + (0 + 1 + 2) + 2 * (3 + 4 + 5) + (7 if flag else 0)
    )
    assert _summed(_arguments(flag), strided, (), 2.0) == wanted


def test_arrays_are_held_no_longer_than_a_call() -> None:
    """What a kernel was given has as many references afterwards as before; a view that it returns holds its own."""
    outer = _arguments()
    held = [sys.getrefcount(field) for field in outer[:3]]
    for _ in range(5):
        view = _last(outer)
        assert view.tolist() == [3, 4, 5]
        del view
    assert [sys.getrefcount(field) for field in outer[:3]] == held


def test_a_frozen_array_is_another_type_and_works() -> None:
    """An array that may not be written to, and one of no length."""
    outer = _arguments()
    outer.first.flags.writeable = False
    outer = outer._replace(matrix=np.empty((0, 3), dtype=np.int32))
    assert _summed(outer, np.empty(0), (), 1.0) == 1.5 + 0.5 + 20 + 7

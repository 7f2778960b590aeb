"""Products are NumPy's and do not depend on how blocks are shared; sigmoids of vectors are right to the last places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dabp.kernels.attention.dense import ROWS, blocks_of, project, project_backward, sigmoid_of
from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import lanes_of, load, store


@pytest.mark.parametrize("rows", [1, 3, 70, ROWS, ROWS + 1, 2 * ROWS + 66])
@pytest.mark.parametrize(("inputs", "outputs"), [(8, 8), (16, 40), (32, 72)])
def test_products_and_gradients(rows: int, inputs: int, outputs: int) -> None:
    """Rows below, at and beyond a block; the bias's gradient is the sum of all rows."""
    rng, blocks = np.random.default_rng(rows), blocks_of(rows)
    x, columns, given = (rng.normal(size=shape) for shape in ((rows, inputs), (inputs, outputs), (rows, outputs)))
    y = np.full((rows, outputs), np.nan)
    project(0, blocks, x, columns, y)
    np.testing.assert_allclose(y, x @ columns, rtol=1e-12, atol=1e-12)
    grad_x, sums = np.full_like(x, np.nan), np.full((blocks, inputs + 1, outputs), np.nan)
    matrix = np.ascontiguousarray(columns.T)
    project_backward(0, blocks, x, matrix, given, grad_x, sums)
    whole = sums.sum(0)
    np.testing.assert_allclose(grad_x, given @ matrix, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(whole[:-1], x.T @ given, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(whole[-1], given.sum(0), rtol=1e-11, atol=1e-11)


def test_shares_of_blocks_give_the_same_bits() -> None:
    """One thread after the other, or all at once; without a gradient of x it is left out."""
    rng, rows = np.random.default_rng(0), 2 * ROWS + 9
    x, matrix, given = (rng.normal(size=shape).astype(np.float32) for shape in ((rows, 16), (40, 16), (rows, 40)))
    results = []
    for shares in ([(0, 3)], [(2, 3), (0, 1), (1, 2)]):
        grad_x, sums = np.empty_like(x), np.empty((3, 17, 40), np.float32)
        for first, last in shares:
            project_backward(first, last, x, matrix, given, grad_x, sums)
        results.append((grad_x, sums))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    sums = np.empty((3, 17, 40), np.float32)
    project_backward(0, 3, x, matrix, given, np.empty((0, 16), np.float32), sums)
    np.testing.assert_array_equal(sums, results[0][1])


@array_kernel
def sigmoids(data: Any, result: Any, lanes: Any) -> None:
    for place in range(0, len(data), len(lanes)):
        store(result, place, sigmoid_of(load(data, place, lanes)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sigmoids_in_both_precisions(kind: Any) -> None:
    """Right to a few last places, and between 0 and 1 however large the argument."""
    data = np.linspace(-20, 20, 512).astype(kind)
    result = np.zeros_like(data)
    sigmoids(data, result, lanes_of(8))
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-data.astype(np.float64))), rtol=60 * np.finfo(kind).eps)
    sigmoids(np.array([-1e9, 1e9] * 4, kind), result[:8], lanes_of(8))
    np.testing.assert_allclose(result[:8], [0, 1] * 4, atol=1e-30)

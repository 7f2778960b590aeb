# mypy: disable-error-code="untyped-decorator"
"""Products of matrices in vectors, and of many rows with a small matrix, forwards and backwards.

Rows of `project` are taken in blocks of `ROWS`, and a range of blocks is a thread's share. Sums over rows are made
block by block, so that nothing depends on the number of threads. Widths are whole vectors (`BLOCK`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner, inner, kernel, part
from dabp.kernels.simd import full_like, lanes_of, load, splat, store
from dabp.kernels.simd_functions import exponential_of

Floats = NDArray[np.floating]

BLOCK = 8
"""Message entries and neighbours are processed in vectors of this length."""
LANES = lanes_of(BLOCK)
ROWS = 512
"""Rows of a block."""
AT_ONCE = 64
"""Rows whose products with each other are added up together: they stay in the first cache."""


@inner
def whole_blocks(count: int) -> int:
    """`count` rounded up to whole vectors."""
    return (count + BLOCK - 1) // BLOCK * BLOCK


@part(_nrt=False)
def sigmoid_of(x: Any) -> Any:
    """1 / (1 + exp(−x)) of each lane."""
    one = full_like(1.0, x)
    return one / (one + exponential_of(full_like(0.0, x) - x))


@part(_nrt=False)
def _four_rows(a: Floats, b: Floats, c: Floats, r: int, x: int, fresh: bool, lanes: Any) -> None:
    """Write a vector of rows r to r + 3 of C from column x."""
    row, step = a.strides[0] // a.itemsize, a.strides[1] // a.itemsize
    below, wide = b.strides[0] // b.itemsize, c.strides[0] // c.itemsize
    here, place = r * row, r * wide + x
    if fresh:
        one = two = three = four = full_like(0.0, load(b, x, lanes))
    else:
        one, two = load(c, place, lanes), load(c, place + wide, lanes)
        three, four = load(c, place + 2 * wide, lanes), load(c, place + 3 * wide, lanes)
    for k in range(a.shape[1]):
        factor, at = load(b, k * below + x, lanes), here + k * step
        one = one + splat(a, at, lanes) * factor
        two = two + splat(a, at + row, lanes) * factor
        three = three + splat(a, at + 2 * row, lanes) * factor
        four = four + splat(a, at + 3 * row, lanes) * factor
    store(c, place, one)
    store(c, place + wide, two)
    store(c, place + 2 * wide, three)
    store(c, place + 3 * wide, four)


@array_inner
def product(a: Floats, b: Floats, c: Floats, fresh: bool) -> None:
    """C = A B, or C += A B unless `fresh`.

    A has any strides. Rows of B and C are whole vectors of adjacent numbers; C is as wide as it is written.
    """
    rows, width = c.shape
    row, step, below = a.strides[0] // a.itemsize, a.strides[1] // a.itemsize, b.strides[0] // b.itemsize
    r = 0
    while r + 4 <= rows:
        x = 0
        while x + 2 * BLOCK <= width:
            _four_rows(a, b, c, r, x, fresh, LANES + LANES)
            x += 2 * BLOCK
        if x < width:
            _four_rows(a, b, c, r, x, fresh, LANES)
        r += 4
    while r < rows:
        for x in range(0, width, BLOCK):
            place = r * (c.strides[0] // c.itemsize) + x
            total = full_like(0.0, load(b, x, LANES)) if fresh else load(c, place, LANES)
            for k in range(a.shape[1]):
                total = total + splat(a, r * row + k * step, LANES) * load(b, k * below + x, LANES)
            store(c, place, total)
        r += 1


@part(_nrt=False)
def add_rows(rows: Floats, total: Floats) -> None:
    """Add all rows, whole vectors one after the other, to `total`."""
    for n in range(0, len(total), BLOCK):
        whole = load(total, n, LANES)
        for r in range(len(rows)):
            whole = whole + load(rows, r * len(total) + n, LANES)
        store(total, n, whole)


def blocks_of(rows: int) -> int:
    """The number of blocks that `rows` rows fill, the last one partly."""
    return -(-rows // ROWS)


@kernel
def project(first: int, last: int, x: Floats, columns: Floats, y: Floats) -> None:
    """Write y = x M for blocks first..last − 1; `columns` is M, [inputs, outputs]."""
    begin, end = first * ROWS, min(last * ROWS, len(y))
    product(x[begin:end], columns, y[begin:end], True)


@kernel
def project_backward(
    first: int, last: int, x: Floats, matrix: Floats, grad_y: Floats, grad_x: Floats, sums: Floats
) -> None:
    """Write the gradients of `project`: that of x, and of M and of a bias the blocks' sums.

    `matrix` is Mᵀ, [outputs, inputs]; `sums` is [blocks, inputs + 1, outputs], the bias's in the last row. With an
    empty `grad_x` that of x is left out.
    """
    inputs = x.shape[1]
    for block in range(first, last):
        own = sums[block]
        own[:, :] = x.dtype.type(0.0)
        end = min((block + 1) * ROWS, len(x))
        for r in range(block * ROWS, end, AT_ONCE):
            rows = slice(r, min(r + AT_ONCE, end))
            if len(grad_x):
                product(grad_y[rows], matrix, grad_x[rows], True)
            product(x[rows].T, grad_y[rows], own[:inputs], False)
            add_rows(grad_y[rows], own[inputs])

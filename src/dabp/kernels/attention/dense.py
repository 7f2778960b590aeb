# mypy: disable-error-code="untyped-decorator"
"""Products of many rows with a small matrix, forwards and backwards: y = x M + b, M [inputs, outputs].

Rows are taken in blocks of `ROWS`, and a range of blocks is a thread's share. Sums over rows are made block by block
and the blocks' added up in their order (`total`), so that nothing depends on the number of threads. Widths are whole
vectors (`BLOCK`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.vectors import BLOCK, LANES
from dabp.kernels.decorators import kernel, part
from dabp.kernels.simd import full_like, load, splat, store

Floats = NDArray[np.floating]

ROWS = 512
"""Of a block."""
AT_ONCE = 64
"""Rows whose products with each other are added up together: they stay in the first cache."""


@part()
def product(
    rows: int,
    inner: int,
    a: Floats,
    start: int,
    row: int,
    step: int,
    b: Floats,
    begin: int,
    width: int,
    c: Floats,
    into: int,
    fresh: bool,
) -> None:
    """C = A B, or C += A B unless `fresh`; A[r, k] = ``a[start + r·row + k·step]``.

    B and C have rows of `width` numbers, whole vectors, one after the other from ``b[begin]`` and ``c[into]``.
    """
    r = 0
    while r + 4 <= rows:
        here, x = start + r * row, 0
        while x + 2 * BLOCK <= width:
            place = into + r * width + x
            if fresh:
                a1 = a2 = a3 = a4 = b1 = b2 = b3 = b4 = full_like(0.0, load(b, begin, LANES))
            else:
                a1, b1 = load(c, place, LANES), load(c, place + BLOCK, LANES)
                a2, b2 = load(c, place + width, LANES), load(c, place + width + BLOCK, LANES)
                a3, b3 = load(c, place + 2 * width, LANES), load(c, place + 2 * width + BLOCK, LANES)
                a4, b4 = load(c, place + 3 * width, LANES), load(c, place + 3 * width + BLOCK, LANES)
            for k in range(inner):
                one, two = load(b, begin + k * width + x, LANES), load(b, begin + k * width + x + BLOCK, LANES)
                first, second = splat(a, here + k * step, LANES), splat(a, here + row + k * step, LANES)
                third, fourth = splat(a, here + 2 * row + k * step, LANES), splat(a, here + 3 * row + k * step, LANES)
                a1, b1 = a1 + first * one, b1 + first * two
                a2, b2 = a2 + second * one, b2 + second * two
                a3, b3 = a3 + third * one, b3 + third * two
                a4, b4 = a4 + fourth * one, b4 + fourth * two
            store(c, place, a1)
            store(c, place + BLOCK, b1)
            store(c, place + width, a2)
            store(c, place + width + BLOCK, b2)
            store(c, place + 2 * width, a3)
            store(c, place + 2 * width + BLOCK, b3)
            store(c, place + 3 * width, a4)
            store(c, place + 3 * width + BLOCK, b4)
            x += 2 * BLOCK
        if x < width:
            place = into + r * width + x
            if fresh:
                a1 = a2 = a3 = a4 = full_like(0.0, load(b, begin, LANES))
            else:
                a1, a2 = load(c, place, LANES), load(c, place + width, LANES)
                a3, a4 = load(c, place + 2 * width, LANES), load(c, place + 3 * width, LANES)
            for k in range(inner):
                one = load(b, begin + k * width + x, LANES)
                a1 = a1 + splat(a, here + k * step, LANES) * one
                a2 = a2 + splat(a, here + row + k * step, LANES) * one
                a3 = a3 + splat(a, here + 2 * row + k * step, LANES) * one
                a4 = a4 + splat(a, here + 3 * row + k * step, LANES) * one
            store(c, place, a1)
            store(c, place + width, a2)
            store(c, place + 2 * width, a3)
            store(c, place + 3 * width, a4)
        r += 4
    while r < rows:
        for x in range(0, width, BLOCK):
            place = into + r * width + x
            a1 = full_like(0.0, load(b, begin, LANES)) if fresh else load(c, place, LANES)
            for k in range(inner):
                a1 = a1 + splat(a, start + r * row + k * step, LANES) * load(b, begin + k * width + x, LANES)
            store(c, place, a1)
        r += 1


def blocks_of(rows: int) -> int:
    """How many blocks so many rows are."""
    return -(-rows // ROWS)


@kernel
def project(first: int, last: int, x: Floats, columns: Floats, y: Floats) -> None:
    """Write y = x M for blocks first..last − 1; `columns` is M, [inputs, outputs]."""
    inputs, outputs = columns.shape
    begin, end = first * ROWS, min(last * ROWS, len(y))
    product(end - begin, inputs, x, begin * inputs, inputs, 1, columns, 0, outputs, y, begin * outputs, True)


@kernel
def project_backward(
    first: int, last: int, x: Floats, matrix: Floats, grad_y: Floats, grad_x: Floats, sums: Floats
) -> None:
    """Write the gradients of `project`: that of x, and of M and of a bias the blocks' sums.

    `matrix` is Mᵀ, [outputs, inputs]; `sums` is [blocks, inputs + 1, outputs], the bias's in the last row. With an
    empty `grad_x` that of x is left out.
    """
    outputs, inputs = matrix.shape
    for block in range(first, last):
        own = block * (inputs + 1) * outputs
        for n in range(0, (inputs + 1) * outputs, BLOCK):
            store(sums, own + n, full_like(0.0, load(grad_y, 0, LANES)))
        end = min((block + 1) * ROWS, len(x))
        for r in range(block * ROWS, end, AT_ONCE):
            rows, here, there = min(AT_ONCE, end - r), r * inputs, r * outputs
            if len(grad_x):
                product(rows, outputs, grad_y, there, outputs, 1, matrix, 0, inputs, grad_x, here, True)
            product(inputs, rows, x, here, 1, inputs, grad_y, there, outputs, sums, own, False)
            for n in range(0, outputs, BLOCK):
                place = own + inputs * outputs + n
                bias = load(sums, place, LANES)
                for k in range(rows):
                    bias = bias + load(grad_y, there + k * outputs + n, LANES)
                store(sums, place, bias)


@kernel
def total(sums: Floats, result: Floats) -> None:
    """Add up the sums of all blocks, [blocks, n] → [n], whole vectors, one after the other."""
    blocks, count = sums.shape
    for n in range(0, count, BLOCK):
        whole = load(sums, n, LANES)
        for block in range(1, blocks):
            whole = whole + load(sums, block * count + n, LANES)
        store(result, n, whole)

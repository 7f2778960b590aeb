# mypy: disable-error-code="untyped-decorator"
"""How far messages have moved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.dense import ROWS
from dabp.kernels.attention.one_variable import BLOCK, LANES
from dabp.kernels.decorators import kernel
from dabp.kernels.simd import full_like, lanes_of, load, maximum, minimum, store, sum_of

Floats = NDArray[np.floating]

SINGLE = lanes_of(1)


@kernel
def largest_change(first: int, last: int, before: Floats, after: Floats, largest: Floats) -> None:
    """Write max |after − before| over each block of rows first..last − 1 [n, D]; NaN if a difference is not finite."""
    count, width = before.shape
    lanes = np.empty(BLOCK, before.dtype)
    for block in range(first, last):
        begin, end = block * ROWS * width, min((block + 1) * ROWS, count) * width
        most = spoilt = full_like(0.0, load(before, begin, SINGLE))
        if end - begin >= BLOCK:
            high = low = none = full_like(0.0, load(before, begin, LANES))
            for n in range(begin, end, BLOCK):
                place = min(n, end - BLOCK)  # the last vector overlaps the one before
                moved = load(after, place, LANES) - load(before, place, LANES)
                high, low = maximum(moved, high), minimum(moved, low)
                none = none + moved * full_like(0.0, moved)
            store(lanes, 0, maximum(high, full_like(0.0, low) - low))
            for n in range(BLOCK):
                most = maximum(load(lanes, n, SINGLE), most)
            spoilt = spoilt + full_like(sum_of(none), spoilt)
        else:
            for n in range(begin, end):
                moved = load(after, n, SINGLE) - load(before, n, SINGLE)
                most = maximum(maximum(moved, full_like(0.0, moved) - moved), most)
                spoilt = spoilt + moved * full_like(0.0, moved)
        store(largest, block, most + spoilt)

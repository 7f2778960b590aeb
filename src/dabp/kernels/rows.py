"""Copies, growth and lengths of rows; Numba's own functions add formatted error messages to every kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner


@inner
def copy_row(source: NDArray[Any], count: int, target: NDArray[Any], start: int) -> None:
    """``target[start : start + count] = source[:count]``."""
    for k in range(count):
        target[start + k] = source[k]


@inner
def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array itself if it has `size` items, else a copy with room for more, at least twice as long."""
    if size <= len(array):
        return array
    longer = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    copy_row(array, len(array), longer, 0)
    return longer


@inner
def longest_row(offsets: NDArray[np.int64], first: int, last: int) -> Any:
    """The largest ``offsets[i + 1] − offsets[i]`` for i in first..last − 1, 0 if there is none."""
    longest = np.int64(0)
    for i in range(first, last):
        length = offsets[i + 1] - offsets[i]
        if length > longest:
            longest = length
    return longest

"""Memory for the large arrays of a window, which the next window uses again.

The operating system fills new memory with zeros, page by page, which takes longer than most computations that write to
it; a window of 20,000 variables has gigabytes of results. NumPy requests large pages for large arrays.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_BYTES = 2**18
"""Smaller arrays are NumPy's, whose allocator uses memory of this size again by itself."""


def _first_references(memory: deque[NDArray[np.uint8]]) -> int:
    """How many references to the first array exist, the queue's and those of counting included."""
    return sys.getrefcount(memory[0])


class Pool:
    """Memory by size, which is free again when no array outside the pool lies in it."""

    def __init__(self) -> None:
        self._memory: dict[int, deque[NDArray[np.uint8]]] = {}
        """By bytes. In NumPy every view refers to the array that owns the memory: to one of these."""
        self._unused = _first_references(deque([np.empty(0, np.uint8)]))
        """References to memory that only the pool has; what counting adds differs between versions of Python."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """An array of this shape; its contents are arbitrary."""
        count = math.prod(shape)
        if count * dtype.itemsize < LEAST_BYTES:
            return np.empty(shape, dtype)
        line = 64  # bytes of a cache line, at which arrays begin: fewer vectors then lie in two lines
        size = count * dtype.itemsize + line
        memory = self._memory.setdefault(size, deque())
        for _ in range(len(memory)):
            memory.rotate(-1)  # the next search starts behind what this one finds
            if _first_references(memory) == self._unused:
                break
        else:
            memory.appendleft(np.empty(size, np.uint8))
        start = -memory[0].ctypes.data % line
        return memory[0][start : start + size - line].view(dtype).reshape(shape)

    def clear(self) -> None:
        """Forget all memory; what is in use lives as long as something refers to it."""
        self._memory.clear()

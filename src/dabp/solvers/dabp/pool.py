"""Memory for the large arrays of a window, which the next window uses again.

What the operating system hands out anew is filled with zeros first, page by page, which takes longer than most of what
is computed into it; a window of 20,000 variables has gigabytes of results. NumPy asks for large pages for large arrays.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 2**18
"""Bytes: smaller arrays are left to NumPy, whose allocator uses memory of this size again by itself."""

CACHE_LINE = 64
"""Bytes: large arrays begin at a multiple of it, so that fewer vectors lie in two lines."""


def aligned(memory: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The numbers in memory of a cache line more, which begin with a line."""
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + len(memory) - CACHE_LINE].view(dtype)


def _first_references(memory: deque[NDArray[np.uint8]]) -> int:
    """How many the first of these has, the queue's and those of counting included."""
    return sys.getrefcount(memory[0])


_UNUSED = _first_references(deque([np.empty(0, np.uint8)]))
"""Of memory that only the pool knows: which references counting adds differs between versions of Python."""


class Pool:
    """Memory by size; some is free when no array outside the pool lies in it."""

    def __init__(self) -> None:
        self._memory: dict[int, deque[NDArray[np.uint8]]] = {}
        """By bytes. NumPy has every view refer to the array that owns the memory, these here."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """An array of this shape; its contents are arbitrary."""
        count = math.prod(shape)
        if count * dtype.itemsize < LEAST:
            return np.empty(shape, dtype)
        size = count * dtype.itemsize + CACHE_LINE
        memory = self._memory.setdefault(size, deque())
        for _ in range(len(memory)):
            memory.rotate(-1)  # the next search starts behind what this one finds
            if _first_references(memory) == _UNUSED:
                break
        else:
            memory.appendleft(np.empty(size, np.uint8))
        return aligned(memory[0], dtype).reshape(shape)

    def clear(self) -> None:
        """Forget all memory; what is in use lives as long as something refers to it."""
        self._memory.clear()

"""Memory for the large results of a window, which the next window uses again.

What the operating system hands out anew is filled with zeros first, page by page, which takes longer than most of what
is computed into it; a window of 20,000 variables has gigabytes of results. NumPy asks for large pages for large arrays.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

LEAST = 2**18
"""Bytes: smaller results are left to PyTorch, whose allocator uses memory of this size again by itself."""
ALIGNMENT = 64
"""Bytes, as PyTorch's own memory has: sums in its libraries depend on it."""


def _references(arrays: list[NDArray[np.floating]]) -> list[int]:
    """How many each of these arrays has, the list's and those of asking included."""
    return [sys.getrefcount(array) for array in arrays]


_UNUSED = _references([np.empty(0)])[0]
"""Of an array that no tensor uses: which those of asking are differs between versions of Python."""


class Pool:
    """Arrays by size; one is free when no tensor holds it any more."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[torch.dtype, int], list[NDArray[np.floating]]] = {}

    def empty(self, shape: Sequence[int], like: Tensor) -> Tensor:
        """A tensor of this shape, of the precision of `like`; what is in it is anybody's guess."""
        count = math.prod(shape)
        if count * like.element_size() < LEAST:
            return like.new_empty(shape)
        arrays = self._arrays.setdefault((like.dtype, count), [])
        for array, references in zip(arrays, _references(arrays), strict=True):
            if references == _UNUSED:
                return torch.from_numpy(array).view(*shape)
        arrays.append(_aligned(count, torch.empty(0, dtype=like.dtype).numpy().dtype))
        return torch.from_numpy(arrays[-1]).view(*shape)

    def clear(self) -> None:
        """Forget all arrays; those in use live as long as their tensors."""
        self._arrays.clear()


def _aligned(count: int, kind: np.dtype[np.floating]) -> NDArray[np.floating]:
    room = np.empty(count * kind.itemsize + ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + count * kind.itemsize].view(kind)

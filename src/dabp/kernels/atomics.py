# mypy: disable-error-code="untyped-decorator"
"""Numbers that threads inside compiled code tell each other: what was written before a number is told is seen after."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.compiler import intrinsic, types
from dabp.kernels.simd import pointer_to

APART = 8
"""Numbers of different threads are so many places apart, in cache lines of their own."""


PAGE, LINE = 4096, 64
"""Bytes of a page, beyond which a core's prefetching does not go, and of a cache line."""

_TURNS = itertools.count()


def zeros_apart(count: int, dtype: Any = np.int64) -> NDArray[Any]:
    """Zeros for what a thread writes all the time: no other memory on their pages, each time from another line of one.

    A core that writes to a line, or prefetches one next to what it reads, takes it from the other, and both then wait
    for each other. Rooms that begin at the same line of different pages were as slow (belief propagation on a grid, two
    threads: 4.0 to 4.7 ms an iteration, 3.3 from different lines).
    """
    size = np.dtype(dtype).itemsize
    line = next(_TURNS) * 17 % (PAGE // LINE) * LINE
    room = np.zeros((count * size + line + 3 * PAGE) // size, dtype=dtype)
    skip = -room.__array_interface__["data"][0] % PAGE + PAGE + line
    return room[skip // size : skip // size + count]


@intrinsic
def heard(typing: Any, array: Any, index: Any) -> Any:
    """``array[index]`` as it is now, looked up before anything that follows."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(pointer_to(context, builder, array, *args), "acquire", 8)

    return types.int64(array, types.intp), generate


@intrinsic
def tell(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index] = value`` after everything before it is done."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.cast(builder, args[2], value, types.int64)
        builder.store_atomic(number, pointer_to(context, builder, array, args[0], args[1]), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate

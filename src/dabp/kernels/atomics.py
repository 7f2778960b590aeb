# mypy: disable-error-code="untyped-decorator"
"""Numbers that threads inside compiled code tell each other: what was written before a number is told is seen after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

APART = 8
"""Numbers of different threads are so many places apart, in cache lines of their own."""


MARGIN = 1024
"""Bytes around what a thread writes all the time that nobody uses: a core that writes to a line, or prefetches one next
to what it reads, takes it from the other, and both then wait for each other (up to 1.4 times as long an iteration)."""


def zeros_apart(count: int, dtype: Any = np.int64) -> NDArray[Any]:
    """Zeros that begin at a cache line, with nothing of others near."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count + 2 * MARGIN // size, dtype=dtype)
    skip = (MARGIN - room.__array_interface__["data"][0] % 64) // size
    return room[skip : skip + count]


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Address of ``array[index]`` of a flat array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


@intrinsic
def heard(typing: Any, array: Any, index: Any) -> Any:
    """``array[index]`` as it is now, looked up before anything that follows."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, array, *args), "acquire", 8)

    return types.int64(array, types.intp), generate


@intrinsic
def tell(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index] = value`` after everything before it is done."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.cast(builder, args[2], value, types.int64)
        builder.store_atomic(number, _pointer(context, builder, array, args[0], args[1]), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate

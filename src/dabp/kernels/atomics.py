# mypy: disable-error-code="untyped-decorator"
"""Numbers that threads of compiled code exchange: writes before a number is stored are visible after it is loaded."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.compiler import intrinsic, types
from dabp.kernels.simd import pointer_to

APART = 8
"""Distance of the numbers of different threads in an array, which puts them on different cache lines."""

_TURNS = itertools.count()


def zeros_apart(count: int, dtype: Any = np.int64) -> NDArray[Any]:
    """Zeros that share no page with other data and begin at a cache line, at different ones in different calls.

    A core that writes to a cache line, or prefetches it, takes it from the other cores, which then wait. Arrays that
    begin at the same line of different pages slow each other, too.
    """
    page, line = 4096, 64
    size = np.dtype(dtype).itemsize
    offset = next(_TURNS) * 17 % (page // line) * line
    memory = np.zeros((count * size + offset + 3 * page) // size, dtype=dtype)
    skip = (-memory.__array_interface__["data"][0] % page + page + offset) // size
    return memory[skip : skip + count]


@intrinsic
def heard(typing: Any, array: Any, index: Any) -> Any:
    """Load ``array[index]`` before anything that follows (acquire)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(pointer_to(context, builder, array, *args), "acquire", 8)

    return types.int64(array, types.intp), generate


@intrinsic
def tell(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Store ``array[index] = value`` after everything before it (release)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.cast(builder, args[2], value, types.int64)
        builder.store_atomic(number, pointer_to(context, builder, array, args[0], args[1]), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate

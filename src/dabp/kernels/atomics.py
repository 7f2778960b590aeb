# mypy: disable-error-code="untyped-decorator"
"""Numbers that threads inside compiled code tell each other: what was written before a number is told is seen after."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

APART = 8
"""Numbers of different threads are so many places apart, in cache lines of their own."""


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

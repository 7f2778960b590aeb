# mypy: disable-error-code="untyped-decorator"
"""Vectors of fixed length inside compiled code, so that SIMD does not depend on an optimiser's mood.

A kernel that adds and takes minima over whole rows says so with `load`, `splat`, ``+``, `minimum`, `store`; LLVM
keeps the vectors in registers and cuts them into whatever the processor has (one AVX-512 register for 16 float32,
two of AVX2). The number of lanes travels in the type of an argument: a tuple with as many items (`lanes_of`).
Operations are elementwise unless said otherwise; there are no bounds checks.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from dabp.kernels.compiler import (
    cgutils,
    impl_ret_untracked,
    intrinsic,
    ir,
    lower_builtin,
    models,
    register_model,
    type_callable,
    types,
)

Lanes = tuple[int, ...]
"""As many zeros as a vector has lanes."""


def lanes_of(count: int) -> Lanes:
    """The tuple that tells a kernel to use vectors of `count` lanes (a power of two)."""
    return (0,) * count


class Vector(types.Type):
    """The compiler's type of a vector of `count` numbers."""

    def __init__(self, dtype: Any, count: int):
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Vector({dtype}, {count})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, vector: Vector):
        item = manager.lookup(vector.dtype).get_value_type()
        super().__init__(manager, vector, ir.VectorType(item, vector.count))


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Address of ``array[index]`` of a flat array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


def _broadcast(builder: Any, value: Any, count: int) -> Any:
    vector = ir.VectorType(value.type, count)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), count), None)
    return builder.shuffle_vector(single, ir.Constant(vector, ir.Undefined), zeros)


def _item_bytes(vector: Vector) -> int:
    return int(vector.dtype.bitwidth) // 8


@intrinsic
def load(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """``array[index : index + len(lanes)]``."""
    vector = Vector(array.dtype, lanes.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, array, args[0], args[1])
        wide = builder.bitcast(pointer, context.get_value_type(vector).as_pointer())
        return builder.load(wide, align=_item_bytes(vector))

    return vector(array, types.intp, lanes), generate


@intrinsic
def store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + count] = value``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, array, args[0], args[1])
        wide = builder.bitcast(pointer, args[2].type.as_pointer())
        builder.store(args[2], wide, align=_item_bytes(value))
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic
def item(typing: Any, array: Any, index: Any) -> Any:
    """``array[index]`` of a flat array, a whole number as int64; unlike with brackets no index counts from the end."""
    kind = types.int64 if isinstance(array.dtype, types.Integer) else array.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(_pointer(context, builder, array, args[0], args[1]))
        return context.cast(builder, value, array.dtype, kind)

    return kind(array, types.intp), generate


@intrinsic
def splat(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """``array[index]`` in every lane."""
    vector = Vector(array.dtype, lanes.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _broadcast(builder, builder.load(_pointer(context, builder, array, args[0], args[1])), lanes.count)

    return vector(array, types.intp, lanes), generate


@intrinsic
def full_like(typing: Any, value: Any, like: Any) -> Any:
    """The number `value` in every lane of a vector such as `like`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.cast(builder, args[0], value, like.dtype)
        return _broadcast(builder, number, like.count)

    return like(value, like), generate


def _compare(builder: Any, relation: str, a: Any, b: Any) -> Any:
    """A comparison of floats or of signed integers, as the lanes are."""
    integers = isinstance(a.type.element if isinstance(a.type, ir.VectorType) else a.type, ir.IntType)
    return (builder.icmp_signed if integers else builder.fcmp_ordered)(relation, a, b)


def _lesser(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(_compare(builder, "<", a, b), a, b)


@intrinsic
def minimum(typing: Any, a: Any, b: Any) -> Any:
    """The lesser of two vectors."""
    return a(a, b), lambda context, builder, signature, args: _lesser(builder, *args)


@intrinsic
def maximum(typing: Any, a: Any, b: Any) -> Any:
    """The greater of two vectors."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(_compare(builder, ">", *args), *args)

    return a(a, b), generate


@intrinsic
def where_negative(typing: Any, value: Any, a: Any, b: Any) -> Any:
    """Lanes of `a` where those of `value` are below 0, else of `b`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        negative = _compare(builder, "<", args[0], ir.Constant(args[0].type, None))
        return builder.select(negative, args[1], args[2])

    return a(value, a, b), generate


@intrinsic
def where_less(typing: Any, one: Any, other: Any, a: Any, b: Any) -> Any:
    """Lanes of `a` where those of `one` are below those of `other`, else of `b`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(_compare(builder, "<", args[0], args[1]), args[2], args[3])

    return a(one, other, a, b), generate


def _fold(builder: Any, value: Any, count: int, join: Callable[[Any, Any, Any], Any] = _lesser) -> Any:
    """All lanes joined (the least of them), by halves."""
    i32 = ir.IntType(32)
    while count > 1:
        count //= 2
        undefined = ir.Constant(value.type, ir.Undefined)
        low = ir.Constant(ir.VectorType(i32, count), list(range(count)))
        high = ir.Constant(ir.VectorType(i32, count), list(range(count, 2 * count)))
        value = join(
            builder, builder.shuffle_vector(value, undefined, low), builder.shuffle_vector(value, undefined, high)
        )
    return builder.extract_element(value, ir.Constant(i32, 0))


@intrinsic
def least(typing: Any, value: Any) -> Any:
    """The least lane, as a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(builder, args[0], value.count)

    return value.dtype(value), generate


@intrinsic
def sum_of(typing: Any, value: Any) -> Any:
    """The sum of all lanes, as a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(builder, args[0], value.count, lambda builder, a, b: builder.fadd(a, b))

    return value.dtype(value), generate


@intrinsic
def any_below(typing: Any, value: Any, number: Any) -> Any:
    """Whether some lane is less than `number`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limit = _broadcast(builder, context.cast(builder, args[1], number, value.dtype), value.count)
        bits = builder.bitcast(_compare(builder, "<", args[0], limit), ir.IntType(value.count))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(value.count), 0))

    return types.boolean(value, number), generate


@intrinsic
def first_equal(typing: Any, value: Any, number: Any) -> Any:
    """Index of the first lane that equals `number`; some lane does."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        equal = _compare(builder, "==", args[0], _broadcast(builder, args[1], value.count))
        bits = builder.bitcast(equal, ir.IntType(value.count))
        place = builder.cttz(builder.zext(bits, ir.IntType(64)), ir.Constant(ir.IntType(1), 1))
        return place

    return types.int64(value, value.dtype), generate


@intrinsic
def next_equal(typing: Any, value: Any, number: Any, start: Any) -> Any:
    """Index of the first lane at or after `start`, cyclically, that equals `number`, or −1; 8 lanes or more."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits, wide = ir.IntType(value.count), ir.IntType(64)
        mask = builder.bitcast(_compare(builder, "==", args[0], _broadcast(builder, args[1], value.count)), bits)
        rotate = builder.module.declare_intrinsic("llvm.fshr", [bits], ir.FunctionType(bits, [bits] * 3))
        rotated = builder.call(rotate, [mask, mask, builder.trunc(args[2], bits)])
        steps = builder.cttz(builder.zext(rotated, wide), ir.Constant(ir.IntType(1), 0))
        lane = builder.and_(builder.add(steps, args[2]), ir.Constant(wide, value.count - 1))
        none = builder.icmp_unsigned("==", mask, ir.Constant(bits, 0))
        return builder.select(none, ir.Constant(wide, -1), lane)

    return types.int64(value, value.dtype, types.int64), generate


@intrinsic
def as_float32(typing: Any, value: Any) -> Any:
    """Integers as single-precision numbers."""
    single = Vector(types.float32, value.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sitofp(args[0], context.get_value_type(single))

    return single(value), generate


@intrinsic
def as_int32(typing: Any, value: Any) -> Any:
    """Numbers as whole ones, towards 0."""
    whole = Vector(types.int32, value.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fptosi(args[0], context.get_value_type(whole))

    return whole(value), generate


@intrinsic
def rounded_product(typing: Any, a: Any, b: Any) -> Any:
    """``a * b`` of floats that is rounded before anything is added to it: it never becomes a fused multiply-add."""
    return a(a, b), lambda context, builder, signature, args: builder.fmul(*args)


@intrinsic
def widened(typing: Any, value: Any, like: Any) -> Any:
    """Integers as those of a vector such as `like`, which has as many bits or more."""
    wide = Vector(like.dtype, value.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sext(args[0], context.get_value_type(wide))

    return wide(value, like), generate


def _elementwise(operation: Any, instruction: str) -> None:
    """Teach the compiler ``vector ∘ vector``."""

    @type_callable(operation)
    def typer(context: Any) -> Any:
        def resolve(a: Any, b: Any) -> Any:
            return a if isinstance(a, Vector) and a == b else None

        return resolve

    @lower_builtin(operation, Vector, Vector)
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # Contraction to fused multiply-add is the one liberty taken: it only rounds less.
        integers = isinstance(signature.return_type.dtype, types.Integer)
        result = (
            getattr(builder, instruction)(*args)
            if integers
            else getattr(builder, f"f{instruction}")(*args, flags=["contract"])
        )
        return impl_ret_untracked(context, builder, signature.return_type, result)


for _operation, _instruction in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
    _elementwise(_operation, _instruction)
_elementwise(operator.truediv, "div")  # of floats

__all__ = [
    "Lanes",
    "Vector",
    "any_below",
    "as_float32",
    "as_int32",
    "first_equal",
    "full_like",
    "item",
    "lanes_of",
    "least",
    "load",
    "maximum",
    "minimum",
    "next_equal",
    "prefetch",
    "prefetch_early",
    "rounded_product",
    "splat",
    "store",
    "sum_of",
    "where_less",
    "where_negative",
    "widened",
]


def _asking(locality: int) -> Any:
    """An intrinsic that asks for a cache line, into all caches (3) or all but the first (2)."""

    def ask(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            i32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            pointer = builder.bitcast(_pointer(context, builder, array, args[0], args[1]), byte)
            builder.call(function, [pointer, ir.Constant(i32, 0), ir.Constant(i32, locality), ir.Constant(i32, 1)])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    return intrinsic(ask)


prefetch = _asking(3)
"""``prefetch(array, index)`` asks for the cache line of ``array[index]``, to be there when it is needed."""
prefetch_early = _asking(2)
"""`prefetch` into the second cache: many may be asked for at once, long before they are needed."""

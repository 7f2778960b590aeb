# mypy: disable-error-code="untyped-decorator"
"""Vectors of fixed length inside compiled code, so that SIMD does not depend on what the optimiser recognises.

A kernel on whole rows uses `load`, `splat`, ``+``, `minimum`, `store`; LLVM keeps the vectors in registers and cuts
them into those of the processor (one AVX-512 register for 16 float32, two of AVX2). The number of lanes is part of the
type of an argument, a tuple with as many items (`lanes_of`). Operations are elementwise unless their docstring says
otherwise. Indices are not checked.
"""

from __future__ import annotations

import inspect
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
"""A tuple of zeros, as long as a vector has lanes."""


def lanes_of(count: int) -> Lanes:
    """The argument for vectors of `count` lanes, a power of two."""
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


# ---- memory ------------------------------------------------------------------------------------


def pointer_to(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Address of ``array[index]`` of a flat array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index], inbounds=True)


def _broadcast(builder: Any, value: Any, count: int) -> Any:
    vector = ir.VectorType(value.type, count)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), count), None)
    return builder.shuffle_vector(single, ir.Constant(vector, ir.Undefined), zeros)


@intrinsic
def load(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """``array[index : index + len(lanes)]``."""
    vector = Vector(array.dtype, lanes.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = pointer_to(context, builder, array, args[0], args[1])
        wide = builder.bitcast(pointer, context.get_value_type(vector).as_pointer())
        return builder.load(wide, align=int(array.dtype.bitwidth) // 8)

    return vector(array, types.intp, lanes), generate


@intrinsic
def store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index : index + count] = value``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = pointer_to(context, builder, array, args[0], args[1])
        wide = builder.bitcast(pointer, args[2].type.as_pointer())
        builder.store(args[2], wide, align=int(value.dtype.bitwidth) // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic
def item(typing: Any, array: Any, index: Any) -> Any:
    """``array[index]`` of a flat array, integers as int64; a negative index does not count from the end."""
    kind = types.int64 if isinstance(array.dtype, types.Integer) else array.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(pointer_to(context, builder, array, args[0], args[1]))
        return context.cast(builder, value, array.dtype, kind)

    return kind(array, types.intp), generate


@intrinsic
def splat(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """``array[index]`` in every lane."""
    vector = Vector(array.dtype, lanes.count)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _broadcast(builder, builder.load(pointer_to(context, builder, array, args[0], args[1])), lanes.count)

    return vector(array, types.intp, lanes), generate


@intrinsic
def full_like(typing: Any, value: Any, like: Any) -> Any:
    """The number `value` in every lane of a vector of the type of `like`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _broadcast(builder, context.cast(builder, args[0], value, like.dtype), like.count)

    return like(value, like), generate


def _prefetching(locality: int) -> Any:
    """An intrinsic that fetches a cache line into all caches (3) or all but the first (2)."""

    def fetch(typing: Any, array: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            i32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            pointer = builder.bitcast(pointer_to(context, builder, array, args[0], args[1]), byte)
            builder.call(function, [pointer, ir.Constant(i32, 0), ir.Constant(i32, locality), ir.Constant(i32, 1)])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    return intrinsic(fetch)


prefetch = _prefetching(3)
"""``prefetch(array, index)`` starts to fetch the cache line of ``array[index]``."""
prefetch_early = _prefetching(2)
"""`prefetch` into the second cache, for lines that are needed much later."""


# ---- lane by lane ------------------------------------------------------------------------------


def _compare(builder: Any, relation: str, a: Any, b: Any) -> Any:
    """A comparison of floats or of signed integers, whichever `a` and `b` are."""
    integers = isinstance(a.type.element if isinstance(a.type, ir.VectorType) else a.type, ir.IntType)
    return (builder.icmp_signed if integers else builder.fcmp_ordered)(relation, a, b)


def _lesser(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(_compare(builder, "<", a, b), a, b)


def _elementwise(instruction: Callable[..., Any]) -> Any:
    """An intrinsic of vectors, which gives one of the type of the last: ``instruction(builder, *vectors)``."""

    def function(typing: Any, *vectors: Any) -> Any:
        return vectors[-1](*vectors), lambda context, builder, signature, args: instruction(builder, *args)

    function.__signature__ = inspect.signature(instruction)  # type: ignore[attr-defined] # Numba allows no *vectors
    return intrinsic(function)


minimum = _elementwise(_lesser)
"""``minimum(a, b)``: the lesser of two vectors."""
maximum = _elementwise(lambda builder, a, b: builder.select(_compare(builder, ">", a, b), a, b))
"""``maximum(a, b)``: the greater of two vectors."""
where_less = _elementwise(lambda builder, one, other, a, b: builder.select(_compare(builder, "<", one, other), a, b))
"""``where_less(one, other, a, b)``: lanes of `a` where those of `one` are below those of `other`, else of `b`."""
where_negative = _elementwise(
    lambda builder, value, a, b: builder.select(_compare(builder, "<", value, ir.Constant(value.type, None)), a, b)
)
"""``where_negative(value, a, b)``: lanes of `a` where those of `value` are below 0, else of `b`."""
rounded_product = _elementwise(lambda builder, a, b: builder.fmul(a, b))
"""``a * b`` of floats, rounded before anything is added to it: it never becomes part of a fused multiply-add."""


def _operator(operation: Any, instruction: str) -> None:
    """Make ``vector ∘ vector`` compile to an LLVM instruction."""

    @type_callable(operation)
    def typer(context: Any) -> Any:
        return lambda a, b: a if isinstance(a, Vector) and a == b else None

    @lower_builtin(operation, Vector, Vector)
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if isinstance(signature.return_type.dtype, types.Integer):
            result = getattr(builder, instruction)(*args)
        else:  # contraction to a fused multiply-add is allowed: it only rounds less
            result = getattr(builder, f"f{instruction}")(*args, flags=["contract"])
        return impl_ret_untracked(context, builder, signature.return_type, result)


_operator(operator.add, "add")
_operator(operator.sub, "sub")
_operator(operator.mul, "mul")
_operator(operator.truediv, "div")  # of floats


def _converting(instruction: str, dtype: Any) -> Any:
    """An intrinsic that converts each lane to another type."""

    def function(typing: Any, value: Any) -> Any:
        return _conversion(instruction, Vector(dtype, value.count), value)

    return intrinsic(function)


def _conversion(instruction: str, vector: Vector, *values: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, instruction)(args[0], context.get_value_type(vector))

    return vector(*values), generate


as_float32 = _converting("sitofp", types.float32)
"""``as_float32(value)``: integers as single-precision numbers."""
as_int32 = _converting("fptosi", types.int32)
"""``as_int32(value)``: numbers rounded towards 0."""


@intrinsic
def widened(typing: Any, value: Any, like: Any) -> Any:
    """Integers as those of a vector such as `like`, which has as many bits or more."""
    return _conversion("sext", Vector(like.dtype, value.count), value, like)


# ---- all lanes together ------------------------------------------------------------------------


def _folding(join: Callable[..., Any]) -> Any:
    """An intrinsic that joins all lanes to a number, by halves."""

    def function(typing: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            (joined,), count, i32 = args, value.count, ir.IntType(32)
            while count > 1:
                count //= 2
                undefined = ir.Constant(joined.type, ir.Undefined)
                low = ir.Constant(ir.VectorType(i32, count), list(range(count)))
                high = ir.Constant(ir.VectorType(i32, count), list(range(count, 2 * count)))
                low, high = (builder.shuffle_vector(joined, undefined, half) for half in (low, high))
                joined = join(builder, low, high)
            return builder.extract_element(joined, ir.Constant(i32, 0))

        return value.dtype(value), generate

    return intrinsic(function)


least = _folding(_lesser)
"""``least(value)``: the least lane, as a number."""
sum_of = _folding(lambda builder, a, b: builder.fadd(a, b))
"""``sum_of(value)``: the sum of all lanes, as a number."""


def _lanes_that(builder: Any, relation: str, value: Any, number: Any, count: int) -> Any:
    """An integer with a bit for each lane: whether it is in the relation to a number."""
    return builder.bitcast(_compare(builder, relation, value, _broadcast(builder, number, count)), ir.IntType(count))


@intrinsic
def any_below(typing: Any, value: Any, number: Any) -> Any:
    """Whether some lane is less than `number`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limit = context.cast(builder, args[1], number, value.dtype)
        bits = _lanes_that(builder, "<", args[0], limit, value.count)
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(value, number), generate


@intrinsic
def first_equal(typing: Any, value: Any, number: Any) -> Any:
    """Index of the first lane that equals `number`; some lane must."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = _lanes_that(builder, "==", args[0], args[1], value.count)
        return builder.cttz(builder.zext(bits, ir.IntType(64)), ir.Constant(ir.IntType(1), 1))

    return types.int64(value, value.dtype), generate


@intrinsic
def next_equal(typing: Any, value: Any, number: Any, start: Any) -> Any:
    """Index of the first lane at or after `start`, cyclically, that equals `number`, or −1; 8 lanes or more."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits, wide = ir.IntType(value.count), ir.IntType(64)
        mask = _lanes_that(builder, "==", args[0], args[1], value.count)
        rotate = builder.module.declare_intrinsic("llvm.fshr", [bits], ir.FunctionType(bits, [bits] * 3))
        rotated = builder.call(rotate, [mask, mask, builder.trunc(args[2], bits)])
        steps = builder.cttz(builder.zext(rotated, wide), ir.Constant(ir.IntType(1), 0))
        lane = builder.and_(builder.add(steps, args[2]), ir.Constant(wide, value.count - 1))
        none = builder.icmp_unsigned("==", mask, ir.Constant(bits, 0))
        return builder.select(none, ir.Constant(wide, -1), lane)

    return types.int64(value, value.dtype, types.int64), generate

# mypy: disable-error-code="untyped-decorator"
"""Powers of two, exponentials and logarithms to base two of whole vectors in single precision, without a branch.

They separate the exponent, which is in the bits of a number, and evaluate a polynomial that was fitted (Remez) on the
range of the rest, with an error of one or two units in the last place.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from dabp.kernels.compiler import cgutils, intrinsic, ir, types

MANTISSA = 23
"""Bits of the mantissa in single precision."""

LEAST_POWER = -126.0
"""Exponent of the least normal power of two."""

_POWER = (
    1.0000000716546822,
    0.693146967064733,
    0.24022119723848653,
    0.055507132735430786,
    0.009675541334209474,
    0.0013276471979285658,
)
"""2^r for r in [−½, ½], relative error 7.5e-8."""

_LOGARITHM = (
    1.4426947724272816,
    -0.7213571489142275,
    0.48093944489632284,
    -0.36008721622221956,
    0.28670745366817024,
    -0.250069036405471,
    0.23689038933436662,
    -0.145744501081194,
)
"""log₂(1 + f) / f for 1 + f in [√½, √2], error 5e-8 of the logarithm."""


class _Numbers:
    """Constants and operations of the IR on vectors of one length."""

    def __init__(self, builder: Any, like: Any):
        self.builder, self.real = builder, like
        self.integer = ir.VectorType(ir.IntType(32), like.count)

    def of(self, value: float) -> Any:
        """The number in every lane, rounded to single precision."""
        rounded = struct.unpack("<f", struct.pack("<f", value))[0]
        return ir.Constant(self.real, [rounded] * self.real.count)

    def whole(self, value: int) -> Any:
        """The integer in every lane."""
        return ir.Constant(self.integer, [value] * self.real.count)

    def fused(self, a: Any, b: Any, c: Any) -> Any:
        """The sum a · b + c, fused where the processor can."""
        return self.builder.fadd(self.builder.fmul(a, b, flags=["contract"]), c, flags=["contract"])

    def polynomial(self, x: Any, coefficients: tuple[float, ...]) -> Any:
        """Σ c_k x^k by Horner's rule."""
        result = self.of(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.fused(result, x, self.of(coefficient))
        return result


def _power(numbers: _Numbers, x: Any) -> Any:
    """2^x, x between `LEAST_POWER` and 127."""
    builder = numbers.builder
    # Added to a number whose last place is 1, the sum is rounded to an integer, which its last bits hold.
    magic = numbers.of(1.5 * 2.0**MANTISSA)
    shifted = builder.fadd(x, magic)
    rest = builder.fsub(x, builder.fsub(shifted, magic))
    series = builder.bitcast(numbers.polynomial(rest, _POWER), numbers.integer)
    exponent = builder.shl(builder.bitcast(shifted, numbers.integer), numbers.whole(MANTISSA))
    return builder.bitcast(builder.add(series, exponent), numbers.real)


@intrinsic
def power_of_two(typing: Any, value: Any) -> Any:
    """2 to the power of each lane, which lies between `LEAST_POWER` and 127."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _power(_Numbers(builder, args[0].type), args[0])

    return value(value), generate


@intrinsic
def power_or_zero(typing: Any, value: Any) -> Any:
    """As `power_of_two`, and 0 in lanes below `LEAST_POWER`, whatever they hold."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = _Numbers(builder, args[0].type)
        least = numbers.of(LEAST_POWER)
        low = builder.fcmp_ordered("<", args[0], least)
        power = _power(numbers, builder.select(low, least, args[0]))
        return builder.select(low, numbers.of(0.0), power)

    return value(value), generate


@intrinsic
def exponential_of(typing: Any, value: Any) -> Any:
    """The exponential of each lane; in single precision of numbers beyond ±87 that of ±87, in double the library's."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if value.dtype != types.float32:
            kind, name = args[0].type, f"llvm.exp.v{value.count}f64"
            library = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), name)
            return builder.call(library, args)
        numbers = _Numbers(builder, args[0].type)
        x = builder.fmul(args[0], numbers.of(math.log2(math.e)))
        for relation, limit in (("<", LEAST_POWER), (">", -LEAST_POWER)):
            x = builder.select(builder.fcmp_ordered(relation, x, numbers.of(limit)), numbers.of(limit), x)
        return _power(numbers, x)

    return value(value), generate


@intrinsic
def logarithm(typing: Any, value: Any) -> Any:
    """Logarithm to base two of each lane, which must be a positive normal number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers = _Numbers(builder, args[0].type)
        # x = 2^e m with m in [√½, √2): the bits of √½ are taken off before the exponent is read.
        root = int.from_bytes(struct.pack("<f", math.sqrt(0.5)), "little")
        raw = builder.bitcast(args[0], numbers.integer)
        power = builder.ashr(builder.sub(raw, numbers.whole(root)), numbers.whole(MANTISSA))
        bits = builder.sub(raw, builder.shl(power, numbers.whole(MANTISSA)))
        f = builder.fsub(builder.bitcast(bits, numbers.real), numbers.of(1.0))
        return numbers.fused(f, numbers.polynomial(f, _LOGARITHM), builder.sitofp(power, numbers.real))

    return value(value), generate

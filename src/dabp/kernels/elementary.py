# mypy: disable-error-code="untyped-decorator"
"""Exponential and sigmoid for kernels: the library's in double precision, a vectorising one in single.

LLVM does not vectorise calls of ``exp``; in single precision a polynomial and a few bit operations do, at the same
accuracy and about a tenth of the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dabp.kernels.compiler import overload, types
from dabp.kernels.decorators import kernel

FAST = {"contract", "reassoc", "nsz", "arcp", "nnan", "ninf"}
"""What kernels on finite numbers may assume, so that sums vectorise."""

_LOG2_E = np.float32(1.4426950408889634)
_LN_2 = np.float32(0.6931471805599453)
_LIMIT = np.float32(87.0)
_BIAS = np.int32(127)
_MANTISSA = np.int32(23)
_HALF, _ONE = np.float32(0.5), np.float32(1.0)
_C2, _C3, _C4 = np.float32(1 / 2), np.float32(1 / 6), np.float32(1 / 24)
_C5, _C6, _C7 = np.float32(1 / 120), np.float32(1 / 720), np.float32(1 / 5040)
_SQRT_E = np.float32(math.exp(0.5))


@kernel(inline="always")
def _polynomial(x: Any) -> Any:
    """exp(x) for |x| ≤ 1/2."""
    return _ONE + x * (_ONE + x * (_C2 + x * (_C3 + x * (_C4 + x * (_C5 + x * (_C6 + x * _C7))))))


@kernel(inline="always")
def _exp32(x: Any) -> Any:
    """2^n times a polynomial of the rest, without a branch."""
    x = min(max(x, -_LIMIT), _LIMIT)
    n = np.floor(x * _LOG2_E + _HALF)
    scale = np.int32((np.int32(n) + _BIAS) << _MANTISSA).view(np.float32)
    return _polynomial(x - n * _LN_2) * scale


def unit_exponential(x: Any) -> Any:
    """exp(x) for 0 ≤ x ≤ 1."""
    return math.exp(x)


@overload(unit_exponential, inline="always")
def _unit_exponential(x: Any) -> Callable[..., Any]:
    if x == types.float32:

        def single(x: Any) -> Any:
            return _SQRT_E * _polynomial(x - _HALF)

        return single

    def double(x: Any) -> Any:
        return math.exp(x)

    return double


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(−x))."""
    return 1.0 / (1.0 + math.exp(-x))


@overload(sigmoid, inline="always")
def _sigmoid(x: Any) -> Callable[..., Any]:
    if x == types.float32:

        def single(x: Any) -> Any:
            return _ONE / (_ONE + _exp32(-x))

        return single

    def double(x: Any) -> Any:
        return 1.0 / (1.0 + math.exp(-x))

    return double

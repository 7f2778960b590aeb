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

_SERIES = tuple(np.float32(1 / math.factorial(k)) for k in range(8))
"""Coefficients of the exponential series."""


@kernel(inline="always")
def _polynomial(x: Any) -> Any:
    """exp(x) for |x| ≤ 1/2."""
    c = _SERIES
    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * (c[5] + x * (c[6] + x * c[7]))))))


@kernel(inline="always")
def _exp32(x: Any) -> Any:
    """2^n times a polynomial of the rest, without a branch."""
    x = min(max(x, np.float32(-87.0)), np.float32(87.0))
    n = np.floor(x * np.float32(1.4426950408889634) + np.float32(0.5))
    scale = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
    return _polynomial(x - n * np.float32(0.6931471805599453)) * scale


def unit_exponential(x: Any) -> Any:
    """exp(x) for 0 ≤ x ≤ 1."""
    return math.exp(x)


@overload(unit_exponential, inline="always")
def _unit_exponential(x: Any) -> Callable[..., Any]:
    if x == types.float32:

        def single(x: Any) -> Any:
            return np.float32(1.6487212707001282) * _polynomial(x - np.float32(0.5))

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
            return _SERIES[0] / (_SERIES[0] + _exp32(-x))

        return single

    def double(x: Any) -> Any:
        return 1.0 / (1.0 + math.exp(-x))

    return double

"""Functions of whole vectors in the attention's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dabp.kernels.attention.vectors import sigmoid_of
from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import lanes_of, load, store


@array_kernel
def sigmoids(data: Any, result: Any, lanes: Any) -> None:
    for place in range(0, len(data), len(lanes)):
        store(result, place, sigmoid_of(load(data, place, lanes)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sigmoids_in_both_precisions(kind: Any) -> None:
    """Right to a few last places, and between 0 and 1 however large the argument."""
    data = np.linspace(-20, 20, 512).astype(kind)
    result = np.zeros_like(data)
    sigmoids(data, result, lanes_of(8))
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-data.astype(np.float64))), rtol=60 * np.finfo(kind).eps)
    sigmoids(np.array([-1e9, 1e9] * 4, kind), result[:8], lanes_of(8))
    np.testing.assert_allclose(result[:8], [0, 1] * 4, atol=1e-30)

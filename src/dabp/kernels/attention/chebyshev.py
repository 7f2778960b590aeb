# mypy: disable-error-code="untyped-decorator"
"""Interpolation of a function of query + key at Chebyshev nodes of the keys' range.

exp(σ(q + k)) and its relatives are smooth: on a short range of keys a few nodes k_j give
h(q + k) = Σ_j h(q + k_j) L_j(k) to machine precision, so that a sum over d keys for each of d queries
costs O(d · nodes) and not O(d²). With t = (k − middle) / half and θ_j = (2j + 1)π / 2R,
L_j(k) = (1 + 2 Σ_n cos(nθ_j) T_n(t)) / R, n from 1 to R − 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dabp.kernels.decorators import inner

LARGEST = 24
"""More nodes than this are not worth it."""
_SAFETY = 1.1
"""exp(σ(·)) has an essential singularity where σ has a pole, at ±iπ: stay a little below."""


class Interpolation(NamedTuple):
    """Tables that depend on the precision alone."""

    limits: NDArray[np.floating]
    """See `half_ranges`."""
    cosines: NDArray[np.floating]
    """See `cosines`."""


def interpolation(dtype: DTypeLike) -> Interpolation:
    """The tables for one precision."""
    return Interpolation(half_ranges(dtype), cosines(dtype))


def half_ranges(dtype: DTypeLike) -> NDArray[np.floating]:
    """[LARGEST + 1]: entry R is the largest half-range that R nodes interpolate to about the precision of `dtype`.

    The error falls like ρ^−R, ρ = s + √(s² + 1) with s = π / half-range (the Bernstein ellipse through the pole of σ).
    """
    result = np.zeros(LARGEST + 1)
    for nodes in range(2, LARGEST + 1):
        rho = (1.0 / np.finfo(dtype).eps) ** (1.0 / nodes)
        result[nodes] = math.pi / (_SAFETY * (rho - 1.0 / rho) / 2)
    return result.astype(dtype)


def cosines(dtype: DTypeLike) -> NDArray[np.floating]:
    """[LARGEST + 1, LARGEST, LARGEST]: entry (R, n, j) is cos(n θ_j) for R nodes."""
    result = np.zeros((LARGEST + 1, LARGEST, LARGEST))
    for nodes in range(1, LARGEST + 1):
        theta = (2 * np.arange(nodes) + 1) * math.pi / (2 * nodes)
        result[nodes, :nodes, :nodes] = np.cos(np.arange(nodes)[:, None] * theta)
    return result.astype(dtype)


@inner
def nodes_for(half: float, limits: NDArray[np.floating]) -> int:
    """The least sufficient number of nodes, LARGEST + 1 if there is none."""
    nodes = 2
    while nodes < len(limits) and limits[nodes] < half:
        nodes += 1
    return nodes

# mypy: disable-error-code="untyped-decorator"
"""Graph attention over edges sorted by target, forward and backward, in one pass each.

Node i's edges come from ``source[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel

Array = NDArray[Any]


class Nodes(NamedTuple):
    """What attention reads of the nodes before a layer (n) and after it (m); or the gradients of that."""

    projected: Array
    """W h by head, [n, H, C]."""
    from_source: Array
    """What they score as sources, [n, H]."""
    from_target: Array
    """What they score as targets, [m, H]."""


@kernel(fastmath=True)
def attend(
    nodes: Nodes,
    offsets: Array,
    source: Array,
    slope: float,
    weight: Array,
    mixed: Array,
) -> None:
    """Fill `weight` [edges, H] with the softmax of the leaky scores and `mixed` [m, H, C] with the weighted sums."""
    num_heads, channels = nodes.projected.shape[1], nodes.projected.shape[2]
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        for h in range(num_heads):
            highest = -np.inf
            for e in range(begin, end):
                score = nodes.from_source[source[e], h] + nodes.from_target[i, h]
                if score < 0:
                    score *= slope
                weight[e, h] = score
                highest = max(highest, score)
            total = nodes.projected.dtype.type(0)
            for e in range(begin, end):
                weight[e, h] = np.exp(weight[e, h] - nodes.projected.dtype.type(highest))
                total += weight[e, h]
            for c in range(channels):
                mixed[i, h, c] = 0
            for e in range(begin, end):
                weight[e, h] /= total
                for c in range(channels):
                    mixed[i, h, c] += weight[e, h] * nodes.projected[source[e], h, c]


@kernel(fastmath=True)
def attend_backward(
    gradient: Array,
    nodes: Nodes,
    offsets: Array,
    source: Array,
    slope: float,
    weight: Array,
    totals: Nodes,
    scratch: Array,
) -> None:
    """Add to `totals` the gradients of `attend` given that of `mixed`; scratch is [edges]."""
    num_heads, channels = nodes.projected.shape[1], nodes.projected.shape[2]
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        for h in range(num_heads):
            mean = nodes.projected.dtype.type(0)
            for e in range(begin, end):
                product = nodes.projected.dtype.type(0)
                for c in range(channels):
                    product += gradient[i, h, c] * nodes.projected[source[e], h, c]
                    totals.projected[source[e], h, c] += weight[e, h] * gradient[i, h, c]
                scratch[e] = product
                mean += weight[e, h] * product
            for e in range(begin, end):
                d_score = weight[e, h] * (scratch[e] - mean)
                if nodes.from_source[source[e], h] + nodes.from_target[i, h] < 0:
                    d_score *= slope
                totals.from_source[source[e], h] += d_score
                totals.from_target[i, h] += d_score

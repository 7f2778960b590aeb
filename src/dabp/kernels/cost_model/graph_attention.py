# mypy: disable-error-code="untyped-decorator"
"""Graph attention over edges sorted by target, forward and backward, in one pass each.

Shapes: `projected` [n, H, C] and `from_source` [n, H] by node before the layer, `from_target` [m, H] by node after
it. Node i's edges come from ``source[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel

Array = NDArray[Any]


@kernel(fastmath=True)
def attend(
    projected: Array,
    from_source: Array,
    from_target: Array,
    offsets: Array,
    source: Array,
    slope: float,
    weight: Array,
    mixed: Array,
) -> None:
    """Fill `weight` [edges, H] with the softmax of the leaky scores and `mixed` [m, H, C] with the weighted sums."""
    num_heads, channels = projected.shape[1], projected.shape[2]
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        for h in range(num_heads):
            highest = -np.inf
            for e in range(begin, end):
                score = from_source[source[e], h] + from_target[i, h]
                if score < 0:
                    score *= slope
                weight[e, h] = score
                highest = max(highest, score)
            total = projected.dtype.type(0)
            for e in range(begin, end):
                weight[e, h] = np.exp(weight[e, h] - projected.dtype.type(highest))
                total += weight[e, h]
            for c in range(channels):
                mixed[i, h, c] = 0
            for e in range(begin, end):
                weight[e, h] /= total
                for c in range(channels):
                    mixed[i, h, c] += weight[e, h] * projected[source[e], h, c]


@kernel(fastmath=True)
def attend_backward(
    gradient: Array,
    projected: Array,
    from_source: Array,
    from_target: Array,
    offsets: Array,
    source: Array,
    slope: float,
    weight: Array,
    d_projected: Array,
    d_source: Array,
    d_target: Array,
    scratch: Array,
) -> None:
    """Add the gradients of `attend` given that of `mixed`; the last but one three start at zero, scratch is [edges]."""
    num_heads, channels = projected.shape[1], projected.shape[2]
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        for h in range(num_heads):
            mean = projected.dtype.type(0)
            for e in range(begin, end):
                product = projected.dtype.type(0)
                for c in range(channels):
                    product += gradient[i, h, c] * projected[source[e], h, c]
                    d_projected[source[e], h, c] += weight[e, h] * gradient[i, h, c]
                scratch[e] = product
                mean += weight[e, h] * product
            for e in range(begin, end):
                d_score = weight[e, h] * (scratch[e] - mean)
                if from_source[source[e], h] + from_target[i, h] < 0:
                    d_score *= slope
                d_source[source[e], h] += d_score
                d_target[i, h] += d_score

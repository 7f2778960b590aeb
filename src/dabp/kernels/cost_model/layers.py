# mypy: disable-error-code="untyped-decorator"
"""The steps of an attention layer of the cost model at one node: 64 = 8 heads × 8 channels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.cost_model.columns import Array
from dabp.kernels.decorators import inner

HEADS, CHANNELS, WIDTH = 8, 8, 64
SLOPE = np.float32(0.2)


class Source(NamedTuple):
    """A node that attention looks at, or with one axis more several of them."""

    projected: Array
    """What it sends, [64]."""
    scores: Array
    """What it scores by head, [8]."""


@inner
def leaky(x: Any) -> Any:
    """The leaky ReLU of attention scores."""
    return x if x > 0 else x * SLOPE


@inner(fastmath=True)
def elu(x: Array) -> None:
    """In place; exp(x) = p(x/64)^64 with a Taylor polynomial p, which vectorises and is right to 1e-5."""
    for i in range(len(x)):
        y = max(min(x[i], np.float32(0)), np.float32(-20)) * np.float32(1 / 64)
        p = y * (np.float32(1) + y * (np.float32(1 / 2) + y * (np.float32(1 / 6) + y * np.float32(1 / 24))))
        # (1 + p)² − 1 = p (p + 2): squaring without the 1 keeps small results exact.
        p = p * (p + np.float32(2))
        p = p * (p + np.float32(2))
        p = p * (p + np.float32(2))
        p = p * (p + np.float32(2))
        p = p * (p + np.float32(2))
        p = p * (p + np.float32(2))
        x[i] = max(x[i], np.float32(0)) + p


@inner(fastmath=True)
def project(x: Array, matrix: Array, out: Array) -> None:
    """Out = x @ matrix."""
    for j in range(matrix.shape[1]):
        out[j] = 0
    for i in range(0, matrix.shape[0], 4):
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(matrix.shape[1]):
            out[j] += a * matrix[i, j] + b * matrix[i + 1, j] + c * matrix[i + 2, j] + d * matrix[i + 3, j]


@inner(fastmath=True)
def head_scores(x: Array, vector: Array, out: Array) -> None:
    """Per head the dot product of its channels."""
    for h in range(HEADS):
        total = np.float32(0)
        for c in range(h * CHANNELS, (h + 1) * CHANNELS):
            total += x[c] * vector[c]
        out[h] = total


@inner(fastmath=True)
def attend_pair(own: Source, below: Source, to_own: Array, bias: Array, out: Array) -> None:
    """A pair's next embedding from its own and its lower value's: a softmax over two is a sigmoid."""
    for h in range(HEADS):
        gap = leaky(below.scores[h] + to_own[h]) - leaky(own.scores[h] + to_own[h])
        share = np.float32(1) / (np.float32(1) + np.exp(gap))
        for c in range(h * CHANNELS, (h + 1) * CHANNELS):
            out[c] = below.projected[c] + share * (own.projected[c] - below.projected[c]) + bias[c]
    elu(out)


@inner(fastmath=True)
def attend_value(
    own: Source,
    unary: Source,
    has_unary: bool,
    pairs: Source,
    chosen: Any,
    to_value: Array,
    bias: Array,
    score: Array,
    out: Array,
) -> None:
    """A value's next embedding from itself, its unary cost and the pairs `chosen`; `score` is scratch as long."""
    count = len(chosen)
    for h in range(HEADS):
        mine = leaky(own.scores[h] + to_value[h])
        cost = leaky(unary.scores[h] + to_value[h]) if has_unary else mine
        highest = max(mine, cost)
        for k in range(count):
            score[k] = leaky(pairs.scores[chosen[k], h] + to_value[h])
            highest = max(highest, score[k])
        mine = np.exp(mine - highest)
        cost = np.exp(cost - highest) if has_unary else np.float32(0)
        total = mine + cost
        first, last = h * CHANNELS, (h + 1) * CHANNELS
        for c in range(first, last):
            out[c] = mine * own.projected[c] + cost * unary.projected[c]
        for k in range(count):
            weight = np.exp(score[k] - highest)
            total += weight
            for c in range(first, last):
                out[c] += weight * pairs.projected[chosen[k], c]
        for c in range(first, last):
            out[c] = out[c] / total + bias[c]
    elu(out)

# mypy: disable-error-code="untyped-decorator"
"""Predictions of the GAT-PCM cost model for the values of one target variable, without building its graph.

What the structure of the microstructure gives (see `solvers.gat_pcm.microstructure`):

- after the first layer a pair of values is a function of its cost, so that it is tabulated (`level_tables`);
- after the second a pair depends on its cost and its lower value, and that value on its own constraints below;
- only pairs with the target reach the third layer, and the last layer is averaged before its matrix is applied.

Per target that is one 64×64 product for each pair with a value of a variable below; the rest is small.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel

Array = NDArray[Any]

HEADS, CHANNELS, WIDTH = 8, 8, 64
LAST_HEADS, LAST_CHANNELS = 4, 16
SLOPE = np.float32(0.2)


@kernel
def _leaky(x: Any) -> Any:
    return x if x > 0 else x * SLOPE


@kernel(fastmath=True)
def _elu(x: Array) -> None:
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


@kernel(fastmath=True)
def _project(x: Array, matrix: Array, out: Array) -> None:
    """Out = x @ matrix."""
    for j in range(matrix.shape[1]):
        out[j] = 0
    for i in range(0, matrix.shape[0], 4):
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(matrix.shape[1]):
            out[j] += a * matrix[i, j] + b * matrix[i + 1, j] + c * matrix[i + 2, j] + d * matrix[i + 3, j]


@kernel(fastmath=True)
def _scores(x: Array, vector: Array, out: Array) -> None:
    """Per head the dot product of its channels."""
    for h in range(HEADS):
        total = np.float32(0)
        for c in range(h * CHANNELS, (h + 1) * CHANNELS):
            total += x[c] * vector[c]
        out[h] = total


@kernel(fastmath=True)
def _pair(own: Array, below: Array, from_own: Array, from_below: Array, to_own: Array, bias: Array, out: Array) -> None:
    """A pair's next embedding from its own and its lower value's: a softmax over two is a sigmoid."""
    for h in range(HEADS):
        gap = _leaky(from_below[h] + to_own[h]) - _leaky(from_own[h] + to_own[h])
        share = np.float32(1) / (np.float32(1) + np.exp(gap))
        for c in range(h * CHANNELS, (h + 1) * CHANNELS):
            out[c] = below[c] + share * (own[c] - below[c]) + bias[c]
    _elu(out)


@kernel
def level_tables(amounts: Array, weights: Any) -> Any:
    """What the model makes of each different cost.

    Returns
    -------
    score_1
        What a pair of this cost scores in a value's first attention, [levels, 8].
    projected_2, from_2, to_2
        A pair's input to the second layer, and its scores as source and target, [levels, 64] and [levels, 8].
    """
    count = len(amounts)
    score_1 = np.empty((count, HEADS), np.float32)
    projected_2 = np.empty((count, WIDTH), np.float32)
    from_2 = np.empty((count, HEADS), np.float32)
    to_2 = np.empty((count, HEADS), np.float32)
    node, embedding = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    from_value, to_value = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    from_pair, to_pair = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    _scores(weights.value_1, weights.source_1, from_value)
    _scores(weights.value_1, weights.target_1, to_value)
    for i in range(count):
        for c in range(WIDTH):
            node[c] = weights.cost_1[c] + amounts[i] * weights.amount_1[c]
        _scores(node, weights.source_1, from_pair)
        _scores(node, weights.target_1, to_pair)
        for h in range(HEADS):
            score_1[i, h] = _leaky(from_pair[h] + to_value[h])
        _pair(node, weights.value_1, from_pair, from_value, to_pair, weights.bias_1, embedding)
        _project(embedding, weights.matrix_2, projected_2[i])
        _scores(projected_2[i], weights.source_2, from_2[i])
        _scores(projected_2[i], weights.target_2, to_2[i])
    return score_1, projected_2, from_2, to_2


@kernel(fastmath=True)
def _mix(
    self_input: Array,
    from_self: Array,
    unary_input: Array,
    from_unary: Array,
    has_unary: bool,
    inputs: Array,
    from_inputs: Array,
    chosen: Array,
    count: int,
    to_value: Array,
    score: Array,
    bias: Array,
    out: Array,
) -> None:
    """A value's next embedding from itself, its unary cost and ``inputs[chosen[:count]]``."""
    for h in range(HEADS):
        own = _leaky(from_self[h] + to_value[h])
        unary = _leaky(from_unary[h] + to_value[h]) if has_unary else own
        highest = max(own, unary)
        for k in range(count):
            score[k] = _leaky(from_inputs[chosen[k], h] + to_value[h])
            highest = max(highest, score[k])
        own = np.exp(own - highest)
        unary = np.exp(unary - highest) if has_unary else np.float32(0)
        total = own + unary
        first, last = h * CHANNELS, (h + 1) * CHANNELS
        for c in range(first, last):
            out[c] = own * self_input[c] + unary * unary_input[c]
        for k in range(count):
            weight = np.exp(score[k] - highest)
            total += weight
            for c in range(first, last):
                out[c] += weight * inputs[chosen[k], c]
        for c in range(first, last):
            out[c] = out[c] / total + bias[c]
    _elu(out)


@kernel(fastmath=True)
def embed_value(
    amount: float,
    has_unary: bool,
    levels: Array,
    level_amount: Array,
    tables: Any,
    weights: Any,
    score: Array,
    projected: Array,
    scores: Array,
    unary: Array,
) -> None:
    """The first two layers at one value, given its unary cost and the levels of its pairs with values below.

    Parameters
    ----------
    score
        Scratch, at least as long as `levels`.
    projected
        Filled: the value's inputs to the second and third layer, [2, 64].
    scores
        Filled: their scores as sources (rows 0 and 2) and targets (rows 1 and 3), [4, 8].
    unary
        Filled: the embedding of the unary cost after one and after two layers, [2, 64]; used by the target only.
    """
    score_1, projected_2, from_2, _ = tables
    value, cost, per_amount = weights.value_1, weights.cost_1, weights.amount_1
    node, embedding = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    from_unary, to_value = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    from_value = np.empty(HEADS, np.float32)
    count = len(levels)

    for c in range(WIDTH):
        node[c] = cost[c] + amount * per_amount[c]
        unary[0, c] = node[c] + weights.bias_1[c]
    _elu(unary[0])
    _scores(node, weights.source_1, from_unary)
    _scores(value, weights.source_1, from_value)
    _scores(value, weights.target_1, to_value)
    for h in range(HEADS):
        own = _leaky(from_value[h] + to_value[h])
        mine = _leaky(from_unary[h] + to_value[h]) if has_unary else own
        highest = max(own, mine)
        for k in range(count):
            highest = max(highest, score_1[levels[k], h])
        own = np.exp(own - highest)
        others = np.exp(mine - highest) if has_unary else np.float32(0)
        average = others * amount
        for k in range(count):
            weight = np.exp(score_1[levels[k], h] - highest)
            others += weight
            average += weight * level_amount[levels[k]]
        total = own + others
        for c in range(h * CHANNELS, (h + 1) * CHANNELS):
            embedding[c] = (own * value[c] + others * cost[c] + average * per_amount[c]) / total + weights.bias_1[c]
    _elu(embedding)

    _project(embedding, weights.matrix_2, projected[0])
    _scores(projected[0], weights.source_2, scores[0])
    _scores(projected[0], weights.target_2, scores[1])
    _project(unary[0], weights.matrix_2, node)
    _scores(node, weights.source_2, from_unary)
    for c in range(WIDTH):
        unary[1, c] = node[c] + weights.bias_2[c]
    _elu(unary[1])
    _mix(
        projected[0], scores[0], node, from_unary, has_unary,
        projected_2, from_2, levels, count, scores[1], score, weights.bias_2, embedding,
    )  # fmt: skip
    _project(embedding, weights.matrix_3, projected[1])
    _scores(projected[1], weights.source_3, scores[2])
    _scores(projected[1], weights.target_3, scores[3])


@kernel(fastmath=True)
def predict_value(
    projected: Array,
    scores: Array,
    unary: Array,
    has_unary: bool,
    levels: Array,
    below_projected: Array,
    below_scores: Array,
    tables: Any,
    weights: Any,
    everyone: Array,
    pair_projected: Array,
    pair_scores: Array,
    pair_embedding: Array,
    pair_last: Array,
    score: Array,
) -> Any:
    """The model's prediction for one value of the target (without what is the same for all of its values).

    Parameters
    ----------
    projected, scores, unary
        The value's own, from `embed_value`.
    levels
        Of its pairs with the values below, in the order of these.
    below_projected, below_scores
        Of the values below, [values, 2, 64] and [values, 4, 8].
    everyone
        0, 1, …, as long as `levels`.
    pair_projected, pair_scores, pair_embedding, pair_last, score
        Scratch by pair: [pairs, 64], [pairs, 8], [pairs, 64], [pairs, 4], [pairs].
    """
    _, projected_2, from_2, to_2 = tables
    count = len(levels)
    node, embedding = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    to_pair, from_unary = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    for k in range(count):
        level = levels[k]
        _pair(
            projected_2[level], below_projected[k, 0], from_2[level], below_scores[k, 0], to_2[level],
            weights.bias_2, embedding,
        )  # fmt: skip
        _project(embedding, weights.matrix_3, pair_projected[k])
        _scores(pair_projected[k], weights.source_3, pair_scores[k])
        _scores(pair_projected[k], weights.target_3, to_pair)
        _pair(
            pair_projected[k], below_projected[k, 1], pair_scores[k], below_scores[k, 2], to_pair,
            weights.bias_3, pair_embedding[k],
        )  # fmt: skip
        for h in range(LAST_HEADS):
            total = np.float32(0)
            for c in range(WIDTH):
                total += pair_embedding[k, c] * weights.source_4[h, c]
            pair_last[k, h] = total

    _project(unary[1], weights.matrix_3, node)
    _scores(node, weights.source_3, from_unary)
    _mix(
        projected[1], scores[2], node, from_unary, has_unary,
        pair_projected, pair_scores, everyone, count, scores[3], score, weights.bias_3, embedding,
    )  # fmt: skip
    for c in range(WIDTH):
        node[c] += weights.bias_3[c]
    _elu(node)
    return _read_out(embedding, node, has_unary, pair_embedding, pair_last, count, score, weights)


@kernel(fastmath=True)
def _read_out(
    value: Array, unary: Array, has_unary: bool, pairs: Array, from_pairs: Array, count: int, score: Array, weights: Any
) -> Any:
    """The last attention at a value, and the value's half of the output."""
    mixed, head = np.empty(WIDTH, np.float32), np.empty(LAST_CHANNELS, np.float32)
    final = np.empty(LAST_CHANNELS, np.float32)
    for c in range(LAST_CHANNELS):
        final[c] = weights.bias_4[c]
    for h in range(LAST_HEADS):
        from_value, to_value, from_unary = np.float32(0), np.float32(0), np.float32(0)
        for c in range(WIDTH):
            from_value += value[c] * weights.source_4[h, c]
            to_value += value[c] * weights.target_4[h, c]
            from_unary += unary[c] * weights.source_4[h, c]
        own = _leaky(from_value + to_value)
        mine = _leaky(from_unary + to_value) if has_unary else own
        highest = max(own, mine)
        for k in range(count):
            score[k] = _leaky(from_pairs[k, h] + to_value)
            highest = max(highest, score[k])
        own = np.exp(own - highest)
        mine = np.exp(mine - highest) if has_unary else np.float32(0)
        total = own + mine
        for c in range(WIDTH):
            mixed[c] = own * value[c] + mine * unary[c]
        for k in range(count):
            weight = np.exp(score[k] - highest)
            total += weight
            for c in range(WIDTH):
                mixed[c] += weight * pairs[k, c]
        _project(mixed, weights.matrix_4[h], head)
        for c in range(LAST_CHANNELS):
            final[c] += head[c] / total / LAST_HEADS
    _elu(final)
    _project(final, weights.transform, head)
    _elu(head)
    prediction = np.float32(0)
    for c in range(LAST_CHANNELS):
        prediction += head[c] * weights.out[c]
    return prediction

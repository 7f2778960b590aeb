# mypy: disable-error-code="untyped-decorator"
"""Predictions of the GAT-PCM cost model for the values of one target variable, without building its graph.

What follows from the structure of the graph (see `lab.cost_model.microstructure`):

- after the first layer a pair of values is a function of its cost, so that it is tabulated (`level_tables`);
- after the second a pair depends on its cost and its lower value, and that value on its own constraints below;
- only pairs with the target reach the third layer, and the last layer is averaged before its matrix is applied.

Per target that is one 64×64 product for each pair with a value of a variable below; the rest is small.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel

Array = NDArray[np.float32]

HEADS = 8
"""Heads of the first three layers."""
CHANNELS = 8
"""Channels of each of them."""
WIDTH = HEADS * CHANNELS
"""Numbers of a node between layers."""
LAST_HEADS = 4
"""Heads of the last layer, which averages them."""
LAST_CHANNELS = 16
"""Channels of each of these."""


class Parameters(NamedTuple):
    """What predicting the values of a target needs; 64 = 8 heads × 8 channels, matrices as [in, out].

    `source_i` and `target_i` are the attention vectors of layer i, applied to what the layer's matrix gives; those
    of the last layer are multiplied by its matrix beforehand and apply to its inputs.
    """

    value_1: Array  # W x of a value node in the first layer, [64]
    cost_1: Array  # W x of a cost node of cost 0, [64]; a cost c adds c times `amount_1`
    amount_1: Array
    source_1: Array
    target_1: Array
    bias_1: Array
    matrix_2: Array
    source_2: Array
    target_2: Array
    bias_2: Array
    matrix_3: Array
    source_3: Array
    target_3: Array
    bias_3: Array
    matrix_4: Array  # [4 heads, 64, 16]
    source_4: Array  # [4 heads, 64]
    target_4: Array
    bias_4: Array
    transform: Array  # of the value node's embedding, [16, 16]
    out: Array  # [16]: the value node's half; the constraints' half adds the same to all values


class LevelTables(NamedTuple):
    """What the model makes of a pair of each different cost."""

    amount: Array  # the costs, in the model's units, [levels]
    score_1: Array  # what a pair of this cost scores in a value's first attention, [levels, 8]
    projected_2: Array  # a pair's input to the second layer, [levels, 64]
    from_2: Array  # its scores there as a source, [levels, 8]
    to_2: Array  # its scores there as a target, [levels, 8]


class Embedding(NamedTuple):
    """A value after two layers, or with one axis more several values."""

    projected: Array  # its inputs to the second and third layer, [2, 64]
    scores: Array  # their scores as sources (rows 0 and 2) and targets (rows 1 and 3), [4, 8]
    unary: Array  # the embedding of its unary cost after one and after two layers, [2, 64]; used by the target only


class ValueCosts(NamedTuple):
    """What the model reads of one value."""

    amount: float  # its unary cost
    has_unary: bool
    levels: NDArray[np.int32]  # of its pairs with values below, [pairs]


class Pairs(NamedTuple):
    """Scratch for the pairs of one value of the target with the values below."""

    everyone: NDArray[np.int64]  # 0, 1, …, [pairs]
    projected: Array  # inputs to the third layer, [pairs, 64]
    scores: Array  # their scores as sources, [pairs, 8]
    embedding: Array  # after the third layer, [pairs, 64]
    last: Array  # their scores as sources in the last layer, [pairs, 4]
    score: Array  # by head, [pairs]


class Source(NamedTuple):
    """A node that attention looks at, or with one axis more several of them."""

    projected: Array  # what it sends, [64]
    scores: Array  # what it scores by head, [8]


@inner
def leaky(x: Any) -> Any:
    """The leaky ReLU of attention scores."""
    return x if x > 0 else x * np.float32(0.2)


@inner(fastmath=True)
def elu(x: Array) -> None:
    """In place; exp(x) = p(x/64)^64 with a Taylor polynomial p, which vectorises and is right to 1e-5."""
    for i in range(len(x)):
        y = max(min(x[i], np.float32(0)), np.float32(-20)) * np.float32(1 / 64)
        p = y * (np.float32(1) + y * (np.float32(1 / 2) + y * (np.float32(1 / 6) + y * np.float32(1 / 24))))
        # (1 + p)² − 1 = p (p + 2): squaring without the 1 keeps small results exact.
        for _ in range(6):
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
    own: Source, unary: Source, has_unary: bool, pairs: Source, chosen: Any, to_value: Array, bias: Array, score: Array,
    out: Array,
) -> None:  # fmt: skip
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


@kernel
def level_tables(amounts: Array, model: Parameters) -> LevelTables:
    """What the model makes of each different cost."""
    count = len(amounts)
    tables = LevelTables(
        amounts,
        np.empty((count, HEADS), np.float32),
        np.empty((count, WIDTH), np.float32),
        np.empty((count, HEADS), np.float32),
        np.empty((count, HEADS), np.float32),
    )
    node, embedding = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    from_value, to_value = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    from_pair, to_pair = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    head_scores(model.value_1, model.source_1, from_value)
    head_scores(model.value_1, model.target_1, to_value)
    for i in range(count):
        for c in range(WIDTH):
            node[c] = model.cost_1[c] + amounts[i] * model.amount_1[c]
        head_scores(node, model.source_1, from_pair)
        head_scores(node, model.target_1, to_pair)
        for h in range(HEADS):
            tables.score_1[i, h] = leaky(from_pair[h] + to_value[h])
        attend_pair(Source(node, from_pair), Source(model.value_1, from_value), to_pair, model.bias_1, embedding)
        project(embedding, model.matrix_2, tables.projected_2[i])
        head_scores(tables.projected_2[i], model.source_2, tables.from_2[i])
        head_scores(tables.projected_2[i], model.target_2, tables.to_2[i])
    return tables


@inner(fastmath=True)
def _first_layer(costs: ValueCosts, from_unary: Array, tables: LevelTables, model: Parameters, out: Array) -> None:
    """A value's embedding after one layer: everything it looks at is linear in a cost, so costs are averaged."""
    amount, has_unary, levels = costs
    value, cost, per_amount = model.value_1, model.cost_1, model.amount_1
    from_value, to_value = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    count = len(levels)
    head_scores(value, model.source_1, from_value)
    head_scores(value, model.target_1, to_value)
    for h in range(HEADS):
        own = leaky(from_value[h] + to_value[h])
        mine = leaky(from_unary[h] + to_value[h]) if has_unary else own
        highest = max(own, mine)
        for k in range(count):
            highest = max(highest, tables.score_1[levels[k], h])
        own = np.exp(own - highest)
        others = np.exp(mine - highest) if has_unary else np.float32(0)
        average = others * amount
        for k in range(count):
            weight = np.exp(tables.score_1[levels[k], h] - highest)
            others += weight
            average += weight * tables.amount[levels[k]]
        total = own + others
        for c in range(h * CHANNELS, (h + 1) * CHANNELS):
            out[c] = (own * value[c] + others * cost[c] + average * per_amount[c]) / total + model.bias_1[c]
    elu(out)


@inner(fastmath=True)
def embed_value(costs: ValueCosts, tables: LevelTables, model: Parameters, score: Array, out: Embedding) -> None:
    """Write the first two layers at one value; `score` is scratch, at least as long as its levels."""
    amount, has_unary, levels = costs
    node, embedding = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    from_unary = np.empty(HEADS, np.float32)
    for c in range(WIDTH):
        node[c] = model.cost_1[c] + amount * model.amount_1[c]
        out.unary[0, c] = node[c] + model.bias_1[c]
    elu(out.unary[0])
    head_scores(node, model.source_1, from_unary)
    _first_layer(costs, from_unary, tables, model, embedding)

    project(embedding, model.matrix_2, out.projected[0])
    head_scores(out.projected[0], model.source_2, out.scores[0])
    head_scores(out.projected[0], model.target_2, out.scores[1])
    project(out.unary[0], model.matrix_2, node)
    head_scores(node, model.source_2, from_unary)
    for c in range(WIDTH):
        out.unary[1, c] = node[c] + model.bias_2[c]
    elu(out.unary[1])
    own, unary = Source(out.projected[0], out.scores[0]), Source(node, from_unary)
    pairs = Source(tables.projected_2, tables.from_2)
    attend_value(own, unary, has_unary, pairs, levels, out.scores[1], model.bias_2, score, embedding)
    project(embedding, model.matrix_3, out.projected[1])
    head_scores(out.projected[1], model.source_3, out.scores[2])
    head_scores(out.projected[1], model.target_3, out.scores[3])


@inner(fastmath=True)
def predict_value(
    own: Embedding, costs: ValueCosts, below: Embedding, tables: LevelTables, model: Parameters, pairs: Pairs
) -> Any:
    """The model's prediction for one value of the target (without what is the same for all of its values).

    `own` is the value's, from `embed_value`; `below` those of the values below, [values, 2, 64] and [values, 4, 8], in
    the order of the value's levels.
    """
    has_unary, levels = costs.has_unary, costs.levels
    node, embedding = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    to_pair, from_unary = np.empty(HEADS, np.float32), np.empty(HEADS, np.float32)
    for k in range(len(levels)):
        level = levels[k]
        itself = Source(tables.projected_2[level], tables.from_2[level])
        lower = Source(below.projected[k, 0], below.scores[k, 0])
        attend_pair(itself, lower, tables.to_2[level], model.bias_2, embedding)
        project(embedding, model.matrix_3, pairs.projected[k])
        head_scores(pairs.projected[k], model.source_3, pairs.scores[k])
        head_scores(pairs.projected[k], model.target_3, to_pair)
        itself = Source(pairs.projected[k], pairs.scores[k])
        lower = Source(below.projected[k, 1], below.scores[k, 2])
        attend_pair(itself, lower, to_pair, model.bias_3, pairs.embedding[k])
        for h in range(LAST_HEADS):
            total = np.float32(0)
            for c in range(WIDTH):
                total += pairs.embedding[k, c] * model.source_4[h, c]
            pairs.last[k, h] = total

    project(own.unary[1], model.matrix_3, node)
    head_scores(node, model.source_3, from_unary)
    mine, unary = Source(own.projected[1], own.scores[2]), Source(node, from_unary)
    several = Source(pairs.projected, pairs.scores)
    attend_value(mine, unary, has_unary, several, pairs.everyone, own.scores[3], model.bias_3, pairs.score, embedding)
    for c in range(WIDTH):
        node[c] += model.bias_3[c]
    elu(node)
    return _read_out(embedding, node, has_unary, pairs, model)


@inner(fastmath=True)
def _read_out(value: Array, unary: Array, has_unary: bool, pairs: Pairs, model: Parameters) -> Any:
    """The last attention at a value, and the value's half of the output."""
    score, count = pairs.score, len(pairs.everyone)
    mixed, head = np.empty(WIDTH, np.float32), np.empty(LAST_CHANNELS, np.float32)
    final = np.empty(LAST_CHANNELS, np.float32)
    for c in range(LAST_CHANNELS):
        final[c] = model.bias_4[c]
    for h in range(LAST_HEADS):
        from_value, to_value, from_unary = np.float32(0), np.float32(0), np.float32(0)
        for c in range(WIDTH):
            from_value += value[c] * model.source_4[h, c]
            to_value += value[c] * model.target_4[h, c]
            from_unary += unary[c] * model.source_4[h, c]
        own = leaky(from_value + to_value)
        mine = leaky(from_unary + to_value) if has_unary else own
        highest = max(own, mine)
        for k in range(count):
            score[k] = leaky(pairs.last[k, h] + to_value)
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
                mixed[c] += weight * pairs.embedding[k, c]
        project(mixed, model.matrix_4[h], head)
        for c in range(LAST_CHANNELS):
            final[c] += head[c] / total / LAST_HEADS
    elu(final)
    project(final, model.transform, head)
    elu(head)
    prediction = np.float32(0)
    for c in range(LAST_CHANNELS):
        prediction += head[c] * model.out[c]
    return prediction

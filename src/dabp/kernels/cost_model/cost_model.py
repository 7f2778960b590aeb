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

from dabp.kernels.cost_model.columns import Array, Embedding, LevelTables, Pairs, Parameters
from dabp.kernels.cost_model.layers import (
    CHANNELS,
    HEADS,
    WIDTH,
    Source,
    attend_pair,
    attend_value,
    elu,
    head_scores,
    leaky,
    project,
)
from dabp.kernels.decorators import inner, kernel

LAST_HEADS, LAST_CHANNELS = 4, 16


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
def _first_layer(
    amount: float,
    has_unary: bool,
    from_unary: Array,
    levels: NDArray[np.int32],
    tables: LevelTables,
    model: Parameters,
    out: Array,
) -> None:
    """A value's embedding after one layer: everything it looks at is linear in a cost, so costs are averaged."""
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
def embed_value(
    amount: float,
    has_unary: bool,
    levels: NDArray[np.int32],
    tables: LevelTables,
    model: Parameters,
    score: Array,
    out: Embedding,
) -> None:
    """The first two layers at one value, given its unary cost and the levels of its pairs with values below.

    Fills `out`; `score` is scratch, at least as long as `levels`.
    """
    node, embedding = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    from_unary = np.empty(HEADS, np.float32)
    for c in range(WIDTH):
        node[c] = model.cost_1[c] + amount * model.amount_1[c]
        out.unary[0, c] = node[c] + model.bias_1[c]
    elu(out.unary[0])
    head_scores(node, model.source_1, from_unary)
    _first_layer(amount, has_unary, from_unary, levels, tables, model, embedding)

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
    own: Embedding,
    has_unary: bool,
    levels: NDArray[np.int32],
    below: Embedding,
    tables: LevelTables,
    model: Parameters,
    pairs: Pairs,
) -> Any:
    """The model's prediction for one value of the target (without what is the same for all of its values).

    Parameters
    ----------
    own, has_unary
        The value's own, from `embed_value`.
    levels
        Of its pairs with the values below, in the order of these.
    below
        Of the values below, [values, 2, 64] and [values, 4, 8].
    pairs
        Scratch.
    """
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

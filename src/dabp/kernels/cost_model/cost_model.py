# mypy: disable-error-code="untyped-decorator"
"""Predictions of the GAT-PCM cost model for the values of one target variable, without building its graph.

What follows from the structure of the graph (see `lab.cost_model.microstructure`):

- after the first layer a pair of values is a function of its cost, so that it is tabulated (`level_tables`);
- after the second a pair depends on its cost and its lower value, and that value on its own constraints below;
- only pairs with the target reach the third layer and the last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel

Array = NDArray[np.float32]
Levels = NDArray[np.int64]

WIDTH = 64
"""Numbers of a node between layers, and heads × channels of each layer."""
HEADS = 8
"""Heads of the first three layers; the last has half as many."""


class Layer(NamedTuple):
    """A layer of attention: node i becomes the sum of α_ij W x_j over itself and the nodes j that it looks at.

    α_ij ∝ exp(leaky(source · W x_j + target · W x_i)) for each head.
    """

    channels: tuple[int, ...]  # as many zeros as a head has channels: a constant of the compiled loops
    matrix: Array  # W, [inputs, 64]
    source: Array  # of all heads, [64]
    target: Array
    bias: Array  # [64], of the last layer [16]


class Parameters(NamedTuple):
    """What predicting the values of a target needs."""

    first: Layer
    second: Layer
    third: Layer
    last: Layer  # averages its heads
    transform: Array  # of the value node's embedding, [16, 16]
    out: Array  # [16]: the value node's half; the constraints' half adds the same to all values


class Nodes(NamedTuple):
    """Nodes as a layer reads them."""

    projected: Array  # W x, [nodes, 64]
    scores: Array  # by head, as what is looked at and as what looks, [nodes, 2, 8]


class LevelTables(NamedTuple):
    """What two layers make of a pair of each different cost; two rows more are space for a value and its unary cost."""

    first: Nodes
    second: Nodes


@inner
def leaky(x: Any) -> Any:
    """The leaky ReLU of attention scores."""
    return x if x > 0 else x * np.float32(0.2)


@inner(fastmath=True)
def elu(x: Array, bias: Array) -> None:
    """ELU of x + bias in place; exp(x) = p(x/64)^64 with a Taylor polynomial p, which vectorises, right to 1e-5."""
    for i in range(len(x)):
        z = x[i] + bias[i]
        y = max(min(z, np.float32(0)), np.float32(-20)) * np.float32(1 / 64)
        p = y * (np.float32(1) + y * (np.float32(1 / 2) + y * (np.float32(1 / 6) + y * np.float32(1 / 24))))
        # (1 + p)² − 1 = p (p + 2): squaring without the 1 keeps small results exact.
        for _ in range(6):
            p = p * (p + np.float32(2))
        x[i] = max(z, np.float32(0)) + p


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
def enter(x: Array, layer: Layer, nodes: Nodes, place: int) -> None:
    """Write the node with embedding x to a place among the nodes of a layer."""
    row, scores, channels = nodes.projected[place], nodes.scores[place], len(layer.channels)
    project(x, layer.matrix, row)
    for h in range(WIDTH // channels):
        source, target = np.float32(0), np.float32(0)
        for c in range(h * channels, (h + 1) * channels):
            source += row[c] * layer.source[c]
            target += row[c] * layer.target[c]
        scores[0, h], scores[1, h] = source, target


@inner(fastmath=True)
def attend_pair(layer: Layer, own: Nodes, place: int, below: Nodes, other: int, out: Array) -> None:
    """A pair's next embedding from itself and its lower value: a softmax over two is a sigmoid."""
    itself, lower, scores = own.projected[place], below.projected[other], own.scores[place]
    channels = len(layer.channels)
    for h in range(WIDTH // channels):
        gap = leaky(below.scores[other, 0, h] + scores[1, h]) - leaky(scores[0, h] + scores[1, h])
        share = np.float32(1) / (np.float32(1) + np.exp(gap))
        for c in range(h * channels, (h + 1) * channels):
            out[c] = lower[c] + share * (itself[c] - lower[c])
    elu(out, layer.bias)


@inner(fastmath=True)
def attend(layer: Layer, nodes: Nodes, place: int, looked_at: Levels, out: Array) -> None:
    """The weighted sum of the nodes that the node at `place` looks at, itself one of them."""
    scores, projected, to_value = nodes.scores, nodes.projected, nodes.scores[place, 1]
    channels, weights = len(layer.channels), np.empty(len(looked_at), np.float32)
    for h in range(WIDTH // channels):
        highest, total = leaky(scores[place, 0, h] + to_value[h]), np.float32(0)
        for k in range(len(looked_at)):
            weights[k] = leaky(scores[looked_at[k], 0, h] + to_value[h])
            highest = max(highest, weights[k])
        first, last = h * channels, (h + 1) * channels
        for c in range(first, last):
            out[c] = 0
        for k in range(len(looked_at)):
            weight = np.exp(weights[k] - highest)
            total += weight
            for c in range(first, last):
                out[c] += weight * projected[looked_at[k], c]
        for c in range(first, last):
            out[c] /= total


@inner
def empty_nodes(count: int) -> Nodes:
    """Space for nodes of one layer."""
    return Nodes(np.empty((count, WIDTH), np.float32), np.empty((count, 2, HEADS), np.float32))


@inner
def _enter_cost(amount: Any, model: Parameters, nodes: Nodes, place: int) -> None:
    """Write the node of a cost; its features are those of `weights.Feature`."""
    features = np.zeros(4, np.float32)
    features[1], features[3] = 1, amount
    enter(features, model.first, nodes, place)


@kernel
def level_tables(amounts: Array, model: Parameters) -> LevelTables:
    """What the model makes of each different cost."""
    count = len(amounts)
    tables = LevelTables(empty_nodes(count + 2), empty_nodes(count + 2))
    value, embedding = np.zeros(4, np.float32), np.empty(WIDTH, np.float32)
    value[2] = 1
    enter(value, model.first, tables.first, count)
    for i in range(count):
        _enter_cost(amounts[i], model, tables.first, i)
        attend_pair(model.first, tables.first, i, tables.first, count, embedding)
        enter(embedding, model.second, tables.second, i)
    return tables


@inner
def embed_value(
    amount: Any, looked_at: Levels, tables: LevelTables, model: Parameters, second: Nodes, third: Nodes, place: int
) -> Array:
    """Write a value to a place among the nodes of the second and the third layer.

    `amount` is its unary cost, `looked_at` the levels of its pairs with values below, the row of `tables` after all
    levels (the value itself) and, if it has a unary cost, the last row. Returns the embedding of the unary cost.
    """
    embedding, own, unary = (
        np.empty(WIDTH, np.float32),
        len(tables.first.projected) - 2,
        len(tables.first.projected) - 1,
    )
    _enter_cost(amount, model, tables.first, unary)
    cost: Array = tables.first.projected[unary].copy()
    elu(cost, model.first.bias)
    attend(model.first, tables.first, own, looked_at, embedding)
    elu(embedding, model.first.bias)
    enter(embedding, model.second, tables.second, own)
    second.projected[place], second.scores[place] = tables.second.projected[own], tables.second.scores[own]
    enter(cost, model.second, tables.second, unary)
    cost[:] = tables.second.projected[unary]
    elu(cost, model.second.bias)
    attend(model.second, tables.second, own, looked_at, embedding)
    elu(embedding, model.second.bias)
    enter(embedding, model.third, third, place)
    return cost


@inner
def predict_value(
    levels: Levels, has_unary: bool, cost: Array, tables: LevelTables, model: Parameters, second: Nodes, third: Nodes,
    pairs: Nodes, last: Nodes,
) -> Any:  # fmt: skip
    """The model's prediction for one value of the target (without what is the same for all of its values).

    `second` and `third` have the values below, in the order of `levels`, and in their last row the value itself, from
    `embed_value`, which gave the `cost`. `pairs` and `last` are scratch of two rows more than there are values below.
    """
    embedding, count = np.empty(WIDTH, np.float32), len(levels)
    for k in range(count):
        attend_pair(model.second, tables.second, levels[k], second, k, embedding)
        enter(embedding, model.third, pairs, k)
        attend_pair(model.third, pairs, k, third, k, embedding)
        enter(embedding, model.last, last, k)
    pairs.projected[count], pairs.scores[count] = third.projected[count], third.scores[count]
    enter(cost, model.third, pairs, count + 1)
    looked_at = np.arange(count + 2 if has_unary else count + 1)
    attend(model.third, pairs, count, looked_at, embedding)
    elu(embedding, model.third.bias)
    enter(embedding, model.last, last, count)
    cost[:] = pairs.projected[count + 1]
    elu(cost, model.third.bias)
    enter(cost, model.last, last, count + 1)
    attend(model.last, last, count, looked_at, embedding)
    return _read_out(embedding, model)


@inner(fastmath=True)
def _read_out(heads: Array, model: Parameters) -> Any:
    """The value's half of the output from the heads of the last layer."""
    channels = len(model.out)
    mean, made, nothing = np.zeros(channels, np.float32), np.empty(channels, np.float32), np.zeros(channels, np.float32)
    for c in range(WIDTH):
        mean[c % channels] += heads[c] * np.float32(channels / WIDTH)
    elu(mean, model.last.bias)
    project(mean, model.transform, made)
    elu(made, nothing)
    prediction = np.float32(0)
    for c in range(channels):
        prediction += made[c] * model.out[c]
    return prediction

# mypy: disable-error-code="untyped-decorator"
"""A graph attention layer on the message-node graph (paper Eq. 9), gathers only.

The graph is regular: a factor attends to the v2f nodes of its edges, an f2v node to its factor, a variable to the f2v
nodes of its edges, a v2f node to its variable, and each to itself. Seen from a *hub* (a factor, or a variable): it
attends to one kind of message node of its edges (`inward`) and is attended to by the other kind (`outward`). Every
message node has one hub of each kind, so the work on different hubs writes different rows, and a range of hubs is a
thread's share; hubs of the two kinds take turns.

A node of the layer below is a row: W e, [heads × channels], then a_src·W e of each head, then a_dst·W e of each head.
One product makes them all, and they lie side by side where a node is looked up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel, part
from dabp.kernels.elementary import FAST, exponential, sigmoid
from dabp.kernels.rows import longest_row
from dabp.kernels.scratch import rows_apart
from dabp.kernels.simd import prefetch

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]

HEADS = 4
"""Heads of every GAT layer, decided here: a constant of the kernels, so that loops over heads unroll."""


LINE = 16
"""Numbers of single precision in a cache line."""
MOST_AHEAD = 32
"""So many message nodes of the next hub are fetched from memory while the work on a hub is done."""


class Hubs(NamedTuple):
    """Hubs of one kind: hub i and its edges ``edges[offsets[i]:offsets[i + 1]]``, e one of them."""

    node: int
    """Hub i is node ``node + i``."""
    offsets: Integers
    edges: Integers
    inward: int
    """The hub attends to nodes ``inward + e``."""
    outward: int
    """Nodes ``outward + e`` attend to the hub."""


class Shape(NamedTuple):
    """Constants of a layer."""

    slope: np.floating
    """Of the LeakyReLU on scores, in the precision of the scores."""
    lanes: tuple[int, ...]
    """As many items as a head has channels: a length known to the compiler, which unrolls loops into vectors."""


@part(fastmath=FAST)
def _weights(hub: int, inward: int, edges: Integers, nodes: Floats, shape: Shape, alphas: Floats) -> None:
    """Softmax over the inward nodes of a hub and, in the last row, itself: `alphas` [degree + 1, heads]."""
    slope, lanes = shape
    degree, source, target = len(edges), HEADS * len(lanes), HEADS * len(lanes) + HEADS
    ours, top, total = nodes[hub], alphas[degree + 1], alphas[degree + 2]
    for h in range(HEADS):
        score = ours[target + h] + ours[source + h]
        alphas[degree, h] = top[h] = max(score, slope * score)
        total[h] = 0.0
    for n in range(degree):
        theirs = nodes[inward + edges[n]]
        for h in range(HEADS):
            score = ours[target + h] + theirs[source + h]
            score = max(score, slope * score)
            alphas[n, h] = score
            top[h] = max(top[h], score)
    for n in range(degree + 1):
        for h in range(HEADS):
            power = exponential(alphas[n, h] - top[h])
            alphas[n, h] = power
            total[h] += power
    for h in range(HEADS):
        total[h] = nodes.dtype.type(1.0) / total[h]
    for n in range(degree + 1):
        for h in range(HEADS):
            alphas[n, h] *= total[h]


@part()
def _fetch(edges: Integers, node: int, rows: Floats) -> None:
    """Ask for what is known of the nodes ``node + e``, which lie anywhere: to be there when their hub's turn comes."""
    wide = rows.shape[1]
    for n in range(min(len(edges), MOST_AHEAD)):
        here = node + edges[n]
        for x in range(0, wide, LINE):
            prefetch(rows, here * wide + x)


@kernel(fastmath=FAST)
def attend(first: int, last: int, hubs: Hubs, nodes: Floats, shape: Shape, mixed: Floats) -> None:
    """Write Σ_j α_ij W e_j into `mixed` for hubs first..last − 1 and the message nodes that attend to them.

    Nodes beyond the end of `mixed` are not needed and left out.
    """
    begin, offsets, edges, inward, outward = hubs
    slope, lanes = shape
    count = len(mixed)
    alphas = rows_apart(longest_row(offsets, first, last) + 3, HEADS, nodes)
    channels = len(lanes)
    source, target = HEADS * channels, HEADS * channels + HEADS
    one = nodes.dtype.type(1.0)
    for i in range(first, last):
        hub, around = begin + i, edges[offsets[i] : offsets[i + 1]]
        degree, center = len(around), nodes[hub]
        if i + 1 < last:
            after = edges[offsets[i + 1] : offsets[i + 2]]
            if hub + 1 < count:
                _fetch(after, inward, nodes)
            if outward < count:
                _fetch(after, outward, nodes)
        if hub < count:
            _weights(hub, inward, around, nodes, shape, alphas)
            out = mixed[hub]
            for h in range(HEADS):
                for c in range(channels):
                    out[h * channels + c] = alphas[degree, h] * center[h * channels + c]
            for n in range(degree):
                row = nodes[inward + around[n]]
                for h in range(HEADS):
                    alpha = alphas[n, h]
                    for c in range(channels):
                        out[h * channels + c] += alpha * row[h * channels + c]
        if outward >= count:
            continue
        for n in range(degree):
            node = outward + around[n]
            row, out = nodes[node], mixed[node]
            for h in range(HEADS):
                own, other = row[target + h] + row[source + h], row[target + h] + center[source + h]
                alphas[0, h] = sigmoid(max(other, slope * other) - max(own, slope * own))
            for h in range(HEADS):
                alpha = alphas[0, h]
                for c in range(channels):
                    x = h * channels + c
                    out[x] = alpha * center[x] + (one - alpha) * row[x]


@kernel(fastmath=FAST)
def attend_backward(
    first: int, last: int, hubs: Hubs, nodes: Floats, shape: Shape, grad_mixed: Floats, gradients: Floats
) -> None:
    """Add the gradients of `attend` to `gradients`, given that of `mixed`."""
    begin, offsets, edges, inward, outward = hubs
    slope, lanes = shape
    count = len(grad_mixed)
    largest = longest_row(offsets, first, last)
    alphas, dots = rows_apart(largest + 3, HEADS, nodes), rows_apart(largest + 3, HEADS, nodes)
    channels = len(lanes)
    source, target = HEADS * channels, HEADS * channels + HEADS
    zero, one = nodes.dtype.type(0.0), nodes.dtype.type(1.0)
    for i in range(first, last):
        hub, around = begin + i, edges[offsets[i] : offsets[i + 1]]
        degree, center, to_center = len(around), nodes[hub], gradients[hub]
        if i + 1 < last:
            after = edges[offsets[i + 1] : offsets[i + 2]]
            if hub + 1 < count:
                _fetch(after, inward, nodes)
                _fetch(after, inward, gradients)
            if outward < count:
                _fetch(after, outward, nodes)
                _fetch(after, outward, gradients)
                _fetch(after, outward, grad_mixed)
        if hub < count:
            _weights(hub, inward, around, nodes, shape, alphas)
            gradient, mean = grad_mixed[hub], dots[degree + 1]
            for h in range(HEADS):
                mean[h] = zero
            for n in range(degree + 1):
                node = hub if n == degree else inward + around[n]
                row, into = nodes[node], gradients[node]
                for h in range(HEADS):
                    alpha, dot = alphas[n, h], zero
                    for c in range(channels):
                        x = h * channels + c
                        dot += gradient[x] * row[x]
                        into[x] += alpha * gradient[x]
                    dots[n, h] = dot
                for h in range(HEADS):
                    mean[h] += alphas[n, h] * dots[n, h]
            for n in range(degree + 1):
                node = hub if n == degree else inward + around[n]
                row, into = nodes[node], gradients[node]
                for h in range(HEADS):
                    change = alphas[n, h] * (dots[n, h] - mean[h])
                    change *= slope if center[target + h] + row[source + h] < zero else one
                    into[source + h] += change
                    to_center[target + h] += change
        if outward >= count:
            continue
        for n in range(degree):
            node = outward + around[n]
            row, into, gradient = nodes[node], gradients[node], grad_mixed[node]
            for h in range(HEADS):
                own, other = row[target + h] + row[source + h], row[target + h] + center[source + h]
                alphas[0, h] = sigmoid(max(other, slope * other) - max(own, slope * own))
            for h in range(HEADS):
                alpha, dot = alphas[0, h], zero
                for c in range(channels):
                    x = h * channels + c
                    dot += gradient[x] * (center[x] - row[x])
                    to_center[x] += alpha * gradient[x]
                    into[x] += (one - alpha) * gradient[x]
                dots[0, h] = dot
            for h in range(HEADS):
                own, other = row[target + h] + row[source + h], row[target + h] + center[source + h]
                change = alphas[0, h] * (one - alphas[0, h]) * dots[0, h]
                to_other = change * (slope if other < zero else one)
                to_own = -change * (slope if own < zero else one)
                to_center[source + h] += to_other
                into[source + h] += to_own
                into[target + h] += to_other + to_own

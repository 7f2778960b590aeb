# mypy: disable-error-code="untyped-decorator"
"""A graph attention layer on the message-node graph (paper Eq. 9), gathers only.

The graph is regular: a factor attends to the v2f nodes of its edges, an f2v node to its factor, a variable to the f2v
nodes of its edges, a v2f node to its variable, and each to itself. Seen from a *hub* (a factor, or a variable): it
attends to one kind of message node of its edges (`inward`) and is attended to by the other kind (`outward`). Every
message node has one hub of each kind, so the work on different hubs writes different rows, and a range of hubs is a
thread's share; hubs of the two kinds take turns.

A node of the layer below is a row: W e, [heads × channels], then a_src·W e of each head, then a_dst·W e of each head.
One product makes them all, and they lie side by side where a node is looked up. A row of the result has all heads one
after the other, or their mean if it is as long as one of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.attention.dense import Floats, sigmoid_of
from dabp.kernels.attention.one_variable import Integers
from dabp.kernels.decorators import kernel, part
from dabp.kernels.rows import longest_row
from dabp.kernels.simd import full_like, lanes_of, load, maximum, prefetch, splat, store, sum_of, where_negative
from dabp.kernels.simd_functions import exponential_of

HEADS = 4
"""Heads of every GAT layer: a constant of the kernels, so that loops over heads unroll."""
EACH_HEAD = lanes_of(HEADS)


class Hubs(NamedTuple):
    """Hubs of one kind: hub i and its edges ``edges[offsets[i]:offsets[i + 1]]``, e one of them."""

    node: int  # hub i is node ``node + i``
    offsets: Integers
    edges: Integers
    inward: int  # the hub attends to nodes ``inward + e``
    outward: int  # nodes ``outward + e`` attend to the hub


class Shape(NamedTuple):
    """Constants of a layer."""

    slope: np.floating  # of the LeakyReLU on scores, in the precision of the scores
    output_slope: np.floating  # of the one on results
    lanes: tuple[int, ...]  # of a vector, as many as a head has channels


class Given(NamedTuple):
    """What the gradients are computed from."""

    gradient: Floats  # of the results
    results: Floats


class Scratch(NamedTuple):
    """Numbers of a hub's edges and, in the last row, of itself, [degree + 1, heads]."""

    alphas: Floats  # weights of Eq. 9
    dots: Floats  # products of gradients with rows


@part()
def _leaky(score: Any, slope: Any) -> Any:
    return maximum(score, slope * score)


@part()
def _weights(hub: int, inward: int, edges: Integers, nodes: Floats, shape: Shape, alphas: Floats) -> None:
    """Softmax over the inward nodes of a hub and, in the last row, itself: `alphas` [degree + 1, heads]."""
    degree, wide, source = len(edges), nodes.shape[1], HEADS * len(shape.lanes)
    ours = load(nodes, hub * wide + source + HEADS, EACH_HEAD)
    slope = full_like(shape.slope, ours)
    top = _leaky(ours + load(nodes, hub * wide + source, EACH_HEAD), slope)
    store(alphas, degree * HEADS, top)
    for n in range(degree):
        score = _leaky(ours + load(nodes, (inward + edges[n]) * wide + source, EACH_HEAD), slope)
        store(alphas, n * HEADS, score)
        top = maximum(top, score)
    total = full_like(0.0, top)
    for n in range(degree + 1):
        power = exponential_of(load(alphas, n * HEADS, EACH_HEAD) - top)
        store(alphas, n * HEADS, power)
        total = total + power
    scale = full_like(1.0, total) / total
    for n in range(degree + 1):
        store(alphas, n * HEADS, load(alphas, n * HEADS, EACH_HEAD) * scale)


@part()
def _shares(hub: int, outward: int, edges: Integers, nodes: Floats, shape: Shape, alphas: Floats) -> None:
    """How much each outward node attends to the hub, the rest to itself: `alphas` [degree, heads]."""
    wide, source = nodes.shape[1], HEADS * len(shape.lanes)
    theirs = load(nodes, hub * wide + source, EACH_HEAD)
    slope = full_like(shape.slope, theirs)
    for n in range(len(edges)):
        place = (outward + edges[n]) * wide + source
        ours = load(nodes, place + HEADS, EACH_HEAD)
        own = _leaky(ours + load(nodes, place, EACH_HEAD), slope)
        store(alphas, n * HEADS, sigmoid_of(_leaky(ours + theirs, slope) - own))


@part()
def _fetch(edges: Integers, node: int, rows: Floats) -> None:
    """Start to load the rows of the nodes ``node + e``, which lie anywhere in memory, before their hub is computed."""
    wide = rows.shape[1]
    for n in range(min(len(edges), 32)):  # of a hub with more the first rows would be gone from the cache again
        here = node + edges[n]
        for x in range(0, wide, 16):  # a cache line of float32
            prefetch(rows, here * wide + x)


@part()
def _finish(row: Floats, bias: Floats, shape: Shape, results: Floats, node: int) -> None:
    """Write a node's result: LeakyReLU of bias and heads, [heads × channels], or of bias and their mean."""
    lanes, made = shape.lanes, results.shape[1]
    if made == len(lanes):
        whole = load(row, 0, lanes)
        for h in range(1, HEADS):
            whole = whole + load(row, h * len(lanes), lanes)
        whole = whole * full_like(1.0 / HEADS, whole) + load(bias, 0, lanes)
        store(results, node * made, _leaky(whole, full_like(shape.output_slope, whole)))
        return
    for h in range(HEADS):
        x = h * len(lanes)
        whole = load(row, x, lanes) + load(bias, x, lanes)
        store(results, node * made + x, _leaky(whole, full_like(shape.output_slope, whole)))


@kernel
def attend(first: int, last: int, hubs: Hubs, nodes: Floats, shape: Shape, bias: Floats, results: Floats) -> None:
    """Write LeakyReLU(Σ_j α_ij W e_j + b) for hubs first..last − 1 and the message nodes that attend to them.

    Nodes beyond the end of `results` are not needed and left out.
    """
    begin, offsets, edges, inward, outward = hubs
    lanes, wide, count = shape.lanes, nodes.shape[1], len(results)
    alphas = np.empty((longest_row(offsets, first, last) + 1, HEADS), nodes.dtype)
    mixed = np.empty(HEADS * len(lanes), nodes.dtype)
    for i in range(first, last):
        hub, around = begin + i, edges[offsets[i] : offsets[i + 1]]
        degree = len(around)
        if i + 1 < last:
            after = edges[offsets[i + 1] : offsets[i + 2]]
            if hub + 1 < count:
                _fetch(after, inward, nodes)
            if outward < count:
                _fetch(after, outward, nodes)
        if hub < count:
            _weights(hub, inward, around, nodes, shape, alphas)
            for h in range(HEADS):
                x = h * len(lanes)
                total = splat(alphas, degree * HEADS + h, lanes) * load(nodes, hub * wide + x, lanes)
                for n in range(degree):
                    row = load(nodes, (inward + around[n]) * wide + x, lanes)
                    total = total + splat(alphas, n * HEADS + h, lanes) * row
                store(mixed, x, total)
            _finish(mixed, bias, shape, results, hub)
        if outward >= count:
            continue
        _shares(hub, outward, around, nodes, shape, alphas)
        for n in range(degree):
            node = outward + around[n]
            for h in range(HEADS):
                x = h * len(lanes)
                row = load(nodes, node * wide + x, lanes)
                store(mixed, x, row + splat(alphas, n * HEADS + h, lanes) * (load(nodes, hub * wide + x, lanes) - row))
            _finish(mixed, bias, shape, results, node)


@kernel
def attend_backward(
    first: int, last: int, hubs: Hubs, nodes: Floats, shape: Shape, given: Given, gradients: Floats
) -> None:
    """Add what goes through the weighted sums of some hubs, and of the nodes that attend to them, to `gradients`.

    As the weights of a node add up to 1, the bias has the sum of all rows of W e's.
    """
    begin, offsets, edges, inward, outward = hubs
    count, largest = len(given.results), longest_row(offsets, first, last)
    scratch = Scratch(np.empty((largest + 1, HEADS), nodes.dtype), np.empty((largest + 1, HEADS), nodes.dtype))
    for i in range(first, last):
        hub, around = begin + i, edges[offsets[i] : offsets[i + 1]]
        if i + 1 < last:
            after = edges[offsets[i + 1] : offsets[i + 2]]
            if hub + 1 < count:
                _fetch(after, inward, nodes)
                _fetch(after, inward, gradients)
            if outward < count:
                _fetch(after, outward, nodes)
                _fetch(after, outward, gradients)
                _fetch(after, outward, given.gradient)
                _fetch(after, outward, given.results)
        if hub < count:
            _weights(hub, inward, around, nodes, shape, scratch.alphas)
            _inward_backward(hub, inward, around, nodes, shape, scratch, given, gradients)
        if outward < count:
            _shares(hub, outward, around, nodes, shape, scratch.alphas)
            _outward_backward(hub, outward, around, nodes, shape, scratch, given, gradients)


@part()
def _gradient(node: int, head: int, given: Given, shape: Shape) -> Any:
    """Of a head's sum of a node."""
    lanes, made = shape.lanes, given.results.shape[1]
    mean = made == len(lanes)
    place = node * made + (0 if mean else head * len(lanes))
    gradient, result = load(given.gradient, place, lanes), load(given.results, place, lanes)
    one, zero = full_like(1.0 / HEADS if mean else 1.0, gradient), full_like(0.0, gradient)
    return gradient * where_negative(zero - result, one, one * full_like(shape.output_slope, gradient))


@part()
def _inward_backward(
    hub: int, inward: int, edges: Integers, nodes: Floats, shape: Shape, scratch: Scratch, given: Given,
    gradients: Floats,
) -> None:  # fmt: skip
    """Add the gradients that come from a hub's own row, whose weights are the alphas."""
    alphas, dots = scratch
    degree, lanes, wide, source = len(edges), shape.lanes, nodes.shape[1], HEADS * len(shape.lanes)
    for h in range(HEADS):
        x = h * len(lanes)
        gradient = _gradient(hub, h, given, shape)
        for n in range(degree + 1):
            place = (hub if n == degree else inward + edges[n]) * wide + x
            dots[n, h] = sum_of(gradient * load(nodes, place, lanes))
            store(gradients, place, load(gradients, place, lanes) + splat(alphas, n * HEADS + h, lanes) * gradient)
    ours = load(nodes, hub * wide + source + HEADS, EACH_HEAD)
    slope, one, received = full_like(shape.slope, ours), full_like(1.0, ours), full_like(0.0, ours)
    mean = received
    for n in range(degree + 1):
        mean = mean + load(alphas, n * HEADS, EACH_HEAD) * load(dots, n * HEADS, EACH_HEAD)
    for n in range(degree + 1):
        place = (hub if n == degree else inward + edges[n]) * wide + source
        change = load(alphas, n * HEADS, EACH_HEAD) * (load(dots, n * HEADS, EACH_HEAD) - mean)
        change = change * where_negative(ours + load(nodes, place, EACH_HEAD), slope, one)
        store(gradients, place, load(gradients, place, EACH_HEAD) + change)
        received = received + change
    place = hub * wide + source + HEADS
    store(gradients, place, load(gradients, place, EACH_HEAD) + received)


@part()
def _outward_backward(
    hub: int, outward: int, edges: Integers, nodes: Floats, shape: Shape, scratch: Scratch, given: Given,
    gradients: Floats,
) -> None:  # fmt: skip
    """Add the gradients that come from the rows of a hub's outward nodes, whose shares are the alphas."""
    alphas, dots = scratch
    degree, lanes, wide, source = len(edges), shape.lanes, nodes.shape[1], HEADS * len(shape.lanes)
    for h in range(HEADS):
        x = h * len(lanes)
        center, received = load(nodes, hub * wide + x, lanes), load(gradients, hub * wide + x, lanes)
        for n in range(degree):
            node = outward + edges[n]
            gradient = _gradient(node, h, given, shape)
            passed = splat(alphas, n * HEADS + h, lanes) * gradient
            dots[n, h] = sum_of(gradient * (center - load(nodes, node * wide + x, lanes)))
            received = received + passed
            store(gradients, node * wide + x, load(gradients, node * wide + x, lanes) + (gradient - passed))
        store(gradients, hub * wide + x, received)
    theirs, total = load(nodes, hub * wide + source, EACH_HEAD), load(gradients, hub * wide + source, EACH_HEAD)
    slope, one = full_like(shape.slope, theirs), full_like(1.0, theirs)
    for n in range(degree):
        place = (outward + edges[n]) * wide + source
        ours, alpha = load(nodes, place + HEADS, EACH_HEAD), load(alphas, n * HEADS, EACH_HEAD)
        change = alpha * (one - alpha) * load(dots, n * HEADS, EACH_HEAD)
        to_other = change * where_negative(ours + theirs, slope, one)
        to_own = change * where_negative(ours + load(nodes, place, EACH_HEAD), slope, one)
        total = total + to_other
        store(gradients, place, load(gradients, place, EACH_HEAD) - to_own)
        target = place + HEADS
        store(gradients, target, load(gradients, target, EACH_HEAD) + (to_other - to_own))
    store(gradients, hub * wide + source, total)

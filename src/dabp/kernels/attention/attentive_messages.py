# mypy: disable-error-code="untyped-decorator"
"""Attention over the factors of a variable (paper Eq. 10-13): damping factors and weighted sums of messages.

Per variable of degree d, head k, target ℓ and neighbour m: a = σ(query_ℓ + key_m), w = softmax of a over m ≠ ℓ,
λ = σ(a_ℓ − mean of a over m ≠ ℓ). Scores are made row by row, forwards and again backwards; nothing of size d × d is
ever stored. Variables are independent, so a range of them is a thread's share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.chebyshev import LARGEST
from dabp.kernels.attention.interpolated_attention import BLOCK, interpolated, interpolated_backward, pays
from dabp.kernels.decorators import kernel, part
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]


@kernel
def _gather(edges: Integers, edge_factor: Integers, by_factor: Floats, result: Floats) -> None:
    """[F, K] → [K, d]."""
    for m in range(len(edges)):
        for k in range(len(result)):
            result[k, m] = by_factor[edge_factor[edges[m]], k]


@kernel
def _gather_rows(edges: Integers, by_edge: Floats, result: Floats) -> None:
    """[E, D] → [d, wide], zero beyond D."""
    width = by_edge.shape[1]
    for m in range(len(edges)):
        for x in range(result.shape[1]):
            result[m, x] = by_edge[edges[m], x] if x < width else by_edge.dtype.type(0.0)


@part(fastmath=FAST)
def _all_pairs(
    degree: int, wide: int, queries: Floats, keys: Floats, messages: Floats, rows: Floats, damping: Floats, out: Floats
) -> None:
    """One variable, every target with every neighbour; `rows` [2, d] is scratch."""
    heads, kind = len(queries), queries.dtype.type
    share, others, zero = kind(1.0 / heads), kind(degree - 1), kind(0.0)
    weights, powers = rows[0], rows[1]
    for target in range(degree):
        weights[:degree] = zero
        mixed = zero
        for k in range(heads):
            ours, row = queries[k, target], keys[k]
            total = score_sum = zero
            for m in range(degree):
                score = sigmoid(ours + row[m])
                power = unit_exponential(score)
                powers[m] = power
                total += power
                score_sum += score
            own = sigmoid(ours + row[target])
            mixed += sigmoid(own - (score_sum - own) / others)
            scale = share * others / (total - powers[target])
            for m in range(degree):
                weights[m] += scale * powers[m]
        weights[target] = zero
        damping[target] = mixed * share
        into = out[target]
        for block in range(0, wide, BLOCK):
            for c in range(BLOCK):
                into[block + c] = zero
            for m in range(degree):
                weight = weights[m]
                for c in range(BLOCK):
                    into[block + c] += weight * messages[m, block + c]


@part(fastmath=FAST)
def _all_pairs_backward(
    degree: int,
    wide: int,
    queries: Floats,
    keys: Floats,
    messages: Floats,
    rows: Floats,
    grad_damping: Floats,
    grad_out: Floats,
    grad_queries: Floats,
    grad_keys: Floats,
    grad_messages: Floats,
) -> None:
    """Gradients of `_all_pairs`, added to `grad_messages` and written to the others; `rows` is [5, d]."""
    heads, kind = len(queries), queries.dtype.type
    share, others, zero, one = kind(1.0 / heads), kind(degree - 1), kind(0.0), kind(1.0)
    weights, scores, powers, dots, passed = rows[0], rows[1], rows[2], rows[3], rows[4]
    grad_keys[:, :degree] = zero
    for target in range(degree):
        gradient = grad_out[target]
        for m in range(degree):
            weights[m] = zero
            dot = zero
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    dot += gradient[block + c] * messages[m, block + c]
            dots[m] = dot
        for k in range(heads):
            ours, row = queries[k, target], keys[k]
            total = score_sum = mean = zero
            for m in range(degree):
                score = sigmoid(ours + row[m])
                power = unit_exponential(score)
                scores[m], powers[m] = score, power
                total += power
                score_sum += score
                mean += power * dots[m]
            own, own_power = scores[target], powers[target]
            own_slope = own * (one - own)
            inverse = one / (total - own_power)
            mean = (mean - own_power * dots[target]) * inverse
            damped = sigmoid(own - (score_sum - own) / others)
            of_own = grad_damping[target] * share * damped * (one - damped)
            of_others = -of_own / others
            scale = share * others * inverse
            powers[target] = zero
            query_sum = zero
            for m in range(degree):
                weight = scale * powers[m]
                weights[m] += weight
                slope, change = scores[m] * (one - scores[m]), weight * (dots[m] - mean)
                passed[m] = (change + of_others) * slope
                # Changes add up to 0, so the target's own slope may be taken off: the sum does not cancel then.
                query_sum += change * (slope - own_slope) + of_others * slope
            grad_queries[k, target] = query_sum + (of_own - of_others) * own_slope
            passed[target] = of_own * own_slope
            for m in range(degree):
                grad_keys[k, m] += passed[m]
        for m in range(degree):
            weight, into = weights[m], grad_messages[m]
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    into[block + c] += weight * gradient[block + c]


@kernel
def attend(
    first: int,
    last: int,
    offsets: Integers,
    variable_edges: Integers,
    edge_factor: Integers,
    limits: Floats,
    cosines: Floats,
    query: Floats,
    key: Floats,
    f2v: Floats,
    damping: Floats,
    summed: Floats,
) -> None:
    """Write λ into `damping` [E] and (d − 1) Σ w f2v into `summed` [E, D] for the edges of variables first..last − 1.

    `query` and `key` are [F, K]; `limits` and `cosines` are those of `chebyshev`.
    """
    heads, width, kind = query.shape[1], f2v.shape[1], f2v.dtype
    wide, largest = (width + BLOCK - 1) // BLOCK * BLOCK, np.diff(offsets[first : last + 1]).max()
    queries, keys = np.empty((heads, largest), kind), np.empty((heads, largest), kind)
    messages, out = np.empty((largest, wide), kind), np.empty((largest, wide), kind)
    rows, lambdas = np.empty((2, largest), kind), np.empty(largest, kind)
    per_key, per_node = (LARGEST, largest), (LARGEST, wide + 1)
    room = (
        np.empty(per_key, kind),
        np.empty(per_node, kind),
        np.empty(per_node, kind),
        np.empty(per_key, kind),
        np.empty(per_key, kind),
        np.empty((4, largest), kind),
    )
    for variable in range(first, last):
        edges = variable_edges[offsets[variable] : offsets[variable + 1]]
        degree = len(edges)
        if degree == 1:
            damping[edges[0]] = 0.0
            summed[edges[0]] = 0.0
            continue
        _gather(edges, edge_factor, query, queries)
        _gather(edges, edge_factor, key, keys)
        _gather_rows(edges, f2v, messages)
        if pays(queries, keys, degree, limits):
            interpolated(degree, wide, queries, keys, messages, limits, cosines, room, lambdas, out)
        else:
            _all_pairs(degree, wide, queries, keys, messages, rows, lambdas, out)
        for m in range(degree):
            damping[edges[m]] = lambdas[m]
            summed[edges[m]] = out[m, :width]


@kernel
def attend_backward(
    first: int,
    last: int,
    offsets: Integers,
    variable_edges: Integers,
    edge_factor: Integers,
    limits: Floats,
    cosines: Floats,
    query: Floats,
    key: Floats,
    f2v: Floats,
    grad_damping: Floats,
    grad_summed: Floats,
    grad_query: Floats,
    grad_key: Floats,
    grad_f2v: Floats,
) -> None:
    """Write the gradients of `attend` by edge: `grad_query` and `grad_key` [E, K], `grad_f2v` [E, D]."""
    heads, width, kind = query.shape[1], f2v.shape[1], f2v.dtype
    wide, largest = (width + BLOCK - 1) // BLOCK * BLOCK, np.diff(offsets[first : last + 1]).max()
    queries, keys = np.empty((heads, largest), kind), np.empty((heads, largest), kind)
    to_queries, to_keys = np.empty((heads, largest), kind), np.empty((heads, largest), kind)
    messages, gradients = np.empty((largest, wide), kind), np.empty((largest, wide), kind)
    to_messages = np.empty((largest, wide), kind)
    rows, of_damping = np.empty((5, largest), kind), np.empty(largest, kind)
    per_key, per_node = (LARGEST, largest), (LARGEST, wide + 1)
    room = (
        np.empty(per_key, kind),
        np.empty(per_node, kind),
        np.empty(per_node, kind),
        np.empty(per_key, kind),
        np.empty(per_key, kind),
        np.empty(per_node, kind),
        np.empty(per_node, kind),
        np.empty(per_key, kind),
        np.empty((7, largest), kind),
    )
    for variable in range(first, last):
        edges = variable_edges[offsets[variable] : offsets[variable + 1]]
        degree = len(edges)
        if degree == 1:
            grad_query[edges[0]] = 0.0
            grad_key[edges[0]] = 0.0
            grad_f2v[edges[0]] = 0.0
            continue
        _gather(edges, edge_factor, query, queries)
        _gather(edges, edge_factor, key, keys)
        _gather_rows(edges, f2v, messages)
        _gather_rows(edges, grad_summed, gradients)
        to_messages[:degree] = 0.0
        for m in range(degree):
            of_damping[m] = grad_damping[edges[m]]
        given, made = (of_damping, gradients), (to_queries, to_keys, to_messages)
        if pays(queries, keys, degree, limits):
            interpolated_backward(degree, wide, queries, keys, messages, limits, cosines, room, *given, *made)
        else:
            _all_pairs_backward(degree, wide, queries, keys, messages, rows, *given, *made)
        for m in range(degree):
            for k in range(heads):
                grad_query[edges[m], k] = to_queries[k, m]
                grad_key[edges[m], k] = to_keys[k, m]
            grad_f2v[edges[m]] = to_messages[m, :width]

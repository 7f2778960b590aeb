# mypy: disable-error-code="untyped-decorator"
"""One variable's attention in time linear in its degree, by interpolation at Chebyshev nodes of the keys' range.

exp(σ(q + k)) and its relatives are smooth: on a short range of keys a few nodes k_j give
h(q + k) = Σ_j h(q + k_j) L_j(k) to machine precision, so that a sum over d keys for each of d queries
costs O(d · nodes) and not O(d²). With t = (k − middle) / half and θ_j = (2j + 1)π / 2R,
L_j(k) = (1 + 2 Σ_n cos(nθ_j) T_n(t)) / R, n from 1 to R − 1.

The formulas are those of `attentive_messages`; sums over m ≠ ℓ are sums over all m minus the target's own term.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from dabp.kernels.attention.dense import BLOCK, LANES, Floats, product, sigmoid_of, whole_blocks
from dabp.kernels.attention.one_variable import MOST_NODES, Gathered, Results, Scratch
from dabp.kernels.decorators import array_inner, part
from dabp.kernels.simd import full_like, load, store, sum_of
from dabp.kernels.simd_functions import exponential_of


class Interpolation(NamedTuple):
    """Tables that depend on the precision alone."""

    limits: Floats  # [R + 1]: the largest half-range that r nodes interpolate to about the precision
    cosines: Floats  # [R + 1, R, R]: entry (R, n, j) is cos(n θ_j) for R nodes, half of it for n = 0


def interpolation(dtype: DTypeLike) -> Interpolation:
    """The tables for one precision.

    The error falls like ρ^−R, ρ = s + √(s² + 1) with s = π / half-range (the Bernstein ellipse through the pole of σ
    at ±iπ, an essential singularity of exp(σ(·)): half-ranges stay a tenth below).
    """
    limits, cosines = np.zeros(MOST_NODES + 1), np.zeros((MOST_NODES + 1, MOST_NODES, MOST_NODES))
    for nodes in range(2, MOST_NODES + 1):
        rho = (1.0 / np.finfo(dtype).eps) ** (1.0 / nodes)
        limits[nodes] = math.pi / (1.1 * (rho - 1.0 / rho) / 2)
        theta = (2 * np.arange(nodes) + 1) * math.pi / (2 * nodes)
        cosines[nodes, :nodes, :nodes] = np.cos(np.arange(nodes)[:, None] * theta)
        cosines[nodes, 0] /= 2
    return Interpolation(limits.astype(dtype), cosines.astype(dtype))


@array_inner
def nodes_for(half: float, limits: Floats) -> int:
    """The least sufficient number of nodes, `MOST_NODES` + 1 if there is none."""
    nodes = 2
    while nodes < len(limits) and limits[nodes] < half:
        nodes += 1
    return nodes


@array_inner
def range_of(keys: Floats, degree: int, limits: Floats) -> tuple[Any, Any, int]:
    """Middle and half of the keys' range, and how many nodes it takes."""
    low = high = keys[0]
    for m in range(degree):
        low, high = min(low, keys[m]), max(high, keys[m])
    half = (high - low) / keys.dtype.type(2.0)
    return low + half, half, nodes_for(half, limits)


@array_inner
def pays(keys: Floats, degree: int, limits: Floats) -> bool:
    """Whether interpolation is cheaper than all pairs, for every head."""
    if degree < 6:
        return False
    for k in range(len(keys)):
        _, _, nodes = range_of(keys[k], degree, limits)
        if nodes > MOST_NODES or 3 * nodes > degree:
            return False
    return True


@part(_nrt=False)
def _basis(keys: Floats, degree: int, middle: float, half: float, nodes: int, basis: Floats) -> None:
    """T_n(t_m) into `basis` [nodes, d], zero beyond d."""
    one, stride = keys.dtype.type(1.0), basis.shape[1]
    inverse = one / half if half > 0 else keys.dtype.type(0.0)
    for m in range(0, degree, BLOCK):
        key = load(keys, m, LANES)
        t = (key - full_like(middle, key)) * full_like(inverse, key)
        before, here = full_like(one, t), t
        store(basis, m, before)
        store(basis, stride + m, here)
        for n in range(2, nodes):
            after = (t + t) * here - before
            store(basis, n * stride + m, after)
            before, here = here, after
    for n in range(nodes):
        basis[n, degree : whole_blocks(degree)] = keys.dtype.type(0.0)


@array_inner
def _transformed(cosines: Floats, values: Floats, result: Floats) -> None:
    """2/R times `cosines` [R, R] times `values` [R, length] into `result`.

    Transposed cosines give Σ_m L_j(k_m) x_m from Σ_m T_n(t_m) x_m; as they are, they give coefficients c_n with
    Σ_j L_j(k) v_j = Σ_n c_n T_n(t).
    """
    product(cosines, values, result, True)
    share = values.dtype.type(2.0 / len(cosines))
    for n in range(len(result)):
        row = result[n]
        for x in range(0, len(row), BLOCK):
            value = load(row, x, LANES)
            store(row, x, full_like(share, value) * value)


@part(_nrt=False)
def _own_terms(queries: Floats, keys: Floats, degree: int, rows: Floats) -> None:
    """Each target's own a and exp(a) into rows 0 and 1; rows 2 and 3 start at their negatives."""
    stride = rows.shape[1]
    for m in range(0, degree, BLOCK):
        own = sigmoid_of(load(queries, m, LANES) + load(keys, m, LANES))
        power, zero = exponential_of(own), full_like(0.0, own)
        store(rows, m, own)
        store(rows, stride + m, power)
        store(rows, 2 * stride + m, zero - power)
        store(rows, 3 * stride + m, zero - own)


@part(_nrt=False)
def _node_terms(
    queries: Floats, degree: int, nodes: int, middle: float, half: float, cosines: Floats, scratch: Scratch
) -> None:
    """Scores a and exp(a) of each target at each node; rows 2 and 3 become the sums of exp(a) and of a over m ≠ ℓ."""
    scores, powers, rows, last = scratch.scores, scratch.powers, scratch.rows, scratch.at_nodes.shape[1] - BLOCK
    stride = rows.shape[1]
    for m in range(0, degree, BLOCK):
        query = load(queries, m, LANES)
        total, score_sum = load(rows, 2 * stride + m, LANES), load(rows, 3 * stride + m, LANES)
        for j in range(nodes):
            place, weight = middle + half * cosines[1, j], full_like(scratch.at_nodes[j, last], query)
            score = sigmoid_of(query + full_like(place, query))
            power = exponential_of(score)
            store(scores, j * stride + m, score)
            store(powers, j * stride + m, power)
            total = total + power * weight
            score_sum = score_sum + score * weight
        store(rows, 2 * stride + m, total)
        store(rows, 3 * stride + m, score_sum)


@part(_nrt=False)
def _prepare(k: int, degree: int, variable: Gathered, table: Interpolation, scratch: Scratch) -> Any:
    """Write what both directions need of a head to `scratch`; return how many nodes its keys take.

    `sums` has Σ_m T_n(t_m) f2v_m in columns 0..wide − 1 and Σ_m T_n(t_m) in those from `wide` on.
    """
    queries, keys, messages = variable
    middle, half, nodes = range_of(keys[k], degree, table.limits)
    cosines, wide, basis = table.cosines[nodes, :nodes, :nodes], messages.shape[1], scratch.basis
    _basis(keys[k], degree, middle, half, nodes, basis)
    product(basis[:nodes, :degree], messages[:degree], scratch.sums[:nodes, :wide], True)
    for n in range(nodes):
        total = load(basis[n], 0, LANES)
        for m in range(BLOCK, degree, BLOCK):
            total = total + load(basis[n], m, LANES)
        store(scratch.sums[n], wide, full_like(sum_of(total), total))
    _transformed(cosines.T, scratch.sums[:nodes], scratch.at_nodes[:nodes])
    _own_terms(queries[k], keys[k], degree, scratch.rows)
    _node_terms(queries[k], degree, nodes, middle, half, cosines, scratch)
    return nodes


@part(_nrt=False)
def _subtract_own(degree: int, rows: Floats, own: Floats, out: Floats) -> None:
    """Take the target's own term off each row of `out`: rows 2 and 1 are scales and own powers."""
    wide = out.shape[1]
    for target in range(degree):
        less = rows[2, target] * rows[1, target]
        for x in range(0, wide, BLOCK):
            mine = load(own, target * wide + x, LANES)
            into = load(out, target * wide + x, LANES)
            store(out, target * wide + x, into - full_like(less, mine) * mine)


@part(_nrt=False)
def interpolated(degree: int, variable: Gathered, table: Interpolation, scratch: Scratch, results: Results) -> None:
    """Write the results of one variable."""
    heads, kind, messages = len(variable.queries), variable.queries.dtype.type, variable.messages
    damping, out = results
    wide, stride, rows, powers = messages.shape[1], scratch.rows.shape[1], scratch.rows, scratch.powers
    share, others = kind(1.0 / heads), kind(degree - 1)
    damping[: whole_blocks(degree)] = kind(0.0)
    out[:degree] = kind(0.0)
    for k in range(heads):
        nodes = _prepare(k, degree, variable, table, scratch)
        for m in range(0, degree, BLOCK):
            own, total = load(rows, m, LANES), load(rows, 2 * stride + m, LANES)
            rest = load(rows, 3 * stride + m, LANES) * full_like(kind(1.0) / others, own)
            store(damping, m, load(damping, m, LANES) + full_like(share, own) * sigmoid_of(own - rest))
            scale = full_like(share * others, total) / total
            store(rows, 2 * stride + m, scale)
            for j in range(nodes):
                store(powers, j * stride + m, scale * load(powers, j * stride + m, LANES))
        _subtract_own(degree, rows, messages, out)
        product(powers[:nodes, :degree].T, scratch.at_nodes[:nodes, :wide], out[:degree], False)


@part(_nrt=False)
def _to_columns(degree: int, messages: Floats, given: Floats, columns: Floats, own_dot: Floats) -> None:
    """Gradients of the sums as columns, zero up to whole blocks, and each target's own product with its message."""
    wide = messages.shape[1]
    for m in range(degree):
        for x in range(wide):
            columns[x, m] = given[m, x]
        total = load(given, m * wide, LANES) * load(messages, m * wide, LANES)
        for x in range(BLOCK, wide, BLOCK):
            total = total + load(given, m * wide + x, LANES) * load(messages, m * wide + x, LANES)
        own_dot[m] = sum_of(total)
    whole = whole_blocks(degree)
    columns[:, degree:whole] = own_dot[degree:whole] = messages.dtype.type(0.0)


@part(_nrt=False)
def _head_gradients(
    degree: int, nodes: int, scratch: Scratch, damping: Floats, share: float, query: Floats, key: Floats
) -> None:
    """Write a head's gradients of queries and, except for what goes through the basis, of keys.

    `powers` become the weights of the nodes, `scores` these times their slope; `damping` are the gradients of λ.
    """
    at_nodes, scores, powers, rows = scratch.at_nodes, scratch.scores, scratch.powers, scratch.rows
    with_slope, dots = scratch.with_slope, scratch.dots
    kind, stride, last = rows.dtype.type, rows.shape[1], at_nodes.shape[1] - BLOCK
    others = kind(degree - 1)
    product(at_nodes[:nodes, :last], scratch.columns, dots[:nodes, : whole_blocks(degree)], True)
    for j in range(nodes):
        with_slope[j, last] = kind(0.0)
    for m in range(0, degree, BLOCK):
        own, own_power, own_dot = load(rows, m, LANES), load(rows, stride + m, LANES), load(rows, 4 * stride + m, LANES)
        zero, one = full_like(0.0, own), full_like(1.0, own)
        mean = zero - own_power * own_dot
        for j in range(nodes):
            mean = mean + load(powers, j * stride + m, LANES) * load(dots, j * stride + m, LANES)
        total = load(rows, 2 * stride + m, LANES)
        mean = mean / total
        total = full_like(share * others, own) / total
        damped = sigmoid_of(own - load(rows, 3 * stride + m, LANES) * full_like(kind(1.0) / others, own))
        of_own = load(damping, m, LANES) * full_like(share, own) * damped * (one - damped)
        own_slope, of_others = own * (one - own), of_own * full_like(kind(-1.0) / others, own)
        store(key, m, (of_own - total * own_power * (own_dot - mean) - of_others) * own_slope)
        store(rows, 2 * stride + m, total)
        of_query = (of_own - of_others) * own_slope
        for j in range(nodes):
            score, steep = load(scores, j * stride + m, LANES), total * load(powers, j * stride + m, LANES)
            slope, weight = score * (one - score), full_like(at_nodes[j, last], own)
            # Σ w (dot − mean) = 0, so any constant may be taken off the slopes: with the target's own one the sum
            # does not cancel, and the target's own term is gone.
            change = steep * (slope - own_slope) * (load(dots, j * stride + m, LANES) - mean * weight)
            of_query = of_query + change + of_others * slope * weight
            store(powers, j * stride + m, steep)
            store(scores, j * stride + m, steep * slope)
            with_slope[j, last] += sum_of(steep * slope * mean - of_others * slope)
        store(query, m, of_query)


@part(_nrt=False)
def interpolated_backward(
    degree: int, variable: Gathered, table: Interpolation, scratch: Scratch, given: Results, gradients: Gathered
) -> None:
    """Gradients of `interpolated`, added to those of messages and written to the others."""
    messages, into, kind = variable.messages, gradients.messages, variable.messages.dtype.type
    heads, wide = len(variable.queries), messages.shape[1]
    # The sums and their values at the nodes are not needed any more when their arrays take the gradients.
    basis, of_power, of_slope, summed = scratch.basis, scratch.sums, scratch.at_nodes, given.summed[:degree]
    _to_columns(degree, messages, given.summed, scratch.columns, scratch.rows[4])
    for k in range(heads):
        nodes = _prepare(k, degree, variable, table, scratch)
        cosines, grad_keys = table.cosines[nodes, :nodes, :nodes], gradients.keys[k]
        _head_gradients(degree, nodes, scratch, given.damping, kind(1.0 / heads), gradients.queries[k], grad_keys)
        with_power, with_slope = scratch.with_power[:nodes, :wide], scratch.with_slope[:nodes]
        product(scratch.powers[:nodes, :degree], summed, with_power, True)
        product(scratch.scores[:nodes, :degree], summed, with_slope[:, :wide], True)
        with_slope[:, wide + 1 :] = kind(0.0)
        _transformed(cosines, with_power, of_power[:nodes, :wide])
        _transformed(cosines, with_slope, of_slope[:nodes])
        _subtract_own(degree, scratch.rows, given.summed, into)
        product(basis[:nodes, :degree].T, of_power[:nodes, :wide], into[:degree], False)
        product(basis[:nodes, :degree].T, of_slope[:nodes, :wide], scratch.sloped[:degree], True)
        for m in range(degree):
            change = kind(0.0)
            for n in range(nodes):
                change -= basis[n, m] * of_slope[n, wide]
            for x in range(0, wide, BLOCK):
                change += sum_of(load(scratch.sloped, m * wide + x, LANES) * load(messages, m * wide + x, LANES))
            grad_keys[m] += change

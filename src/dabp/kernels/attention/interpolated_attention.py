# mypy: disable-error-code="untyped-decorator"
"""One variable's attention in time linear in its degree, by interpolation in the keys (`chebyshev`).

The formulas are those of `attentive_messages`; sums over m ≠ ℓ are sums over all m minus the target's own term.
"""

from __future__ import annotations

from typing import Any

from dabp.kernels.attention.chebyshev import LARGEST, Interpolation, nodes_for
from dabp.kernels.attention.one_variable import BackwardRoom, Floats, Gathered, Results, Room
from dabp.kernels.attention.vectors import BLOCK, LANES, sigmoid_of, whole_blocks
from dabp.kernels.decorators import inner, part
from dabp.kernels.simd import full_like, load, splat, store, sum_of
from dabp.kernels.simd_functions import exponential_of


@inner
def range_of(keys: Floats, degree: int, limits: Floats) -> tuple[Any, Any, int]:
    """Middle and half of the keys' range, and how many nodes it takes."""
    low = high = keys[0]
    for m in range(degree):
        low, high = min(low, keys[m]), max(high, keys[m])
    half = (high - low) / keys.dtype.type(2.0)
    return low + half, half, nodes_for(half, limits)


@inner
def pays(keys: Floats, degree: int, limits: Floats) -> bool:
    """Whether interpolation is cheaper than all pairs, for every head."""
    if degree < 6:
        return False
    for k in range(len(keys)):
        _, _, nodes = range_of(keys[k], degree, limits)
        if nodes > LARGEST or 3 * nodes > degree:
            return False
    return True


@part()
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


@part()
def _at_nodes(sums: Floats, cosine: Floats, nodes: int, length: int, result: Floats) -> None:
    """Σ_m L_j(k_m) x_m from Σ_m T_n(t_m) x_m: [nodes, length] → [nodes, length]."""
    kind, stride = sums.dtype.type, sums.shape[1]
    for x in range(0, length, BLOCK):
        for j in range(nodes):
            constant = load(sums, x, LANES)
            total = full_like(kind(0.5), constant) * constant
            for n in range(1, nodes):
                total = total + splat(cosine, n * LARGEST + j, LANES) * load(sums, n * stride + x, LANES)
            store(result, j * stride + x, full_like(kind(2.0 / nodes), total) * total)


@part()
def _to_basis(values: Floats, cosine: Floats, nodes: int, length: int, result: Floats) -> None:
    """Coefficients c_n with Σ_j L_j(k) v_j = Σ_n c_n T_n(t): [nodes, length] → [nodes, length]."""
    kind, stride = values.dtype.type, values.shape[1]
    for x in range(0, length, BLOCK):
        for n in range(nodes):
            total = splat(cosine, n * LARGEST, LANES) * load(values, x, LANES)
            for j in range(1, nodes):
                total = total + splat(cosine, n * LARGEST + j, LANES) * load(values, j * stride + x, LANES)
            share = kind((1.0 if n == 0 else 2.0) / nodes)
            store(result, n * stride + x, full_like(share, total) * total)


@part()
def _sums(messages: Floats, basis: Floats, degree: int, nodes: int, wide: int, result: Floats) -> None:
    """Σ_m T_n(t_m) f2v_m into columns 0..wide − 1 and Σ_m T_n(t_m) into those from `wide` on."""
    stride, length = basis.shape[1], result.shape[1]
    for n in range(nodes):
        total = load(basis, n * stride, LANES)
        for m in range(BLOCK, degree, BLOCK):
            total = total + load(basis, n * stride + m, LANES)
        store(result, n * length + wide, full_like(sum_of(total), total))
        for x in range(0, wide, BLOCK):
            total = splat(basis, n * stride, LANES) * load(messages, x, LANES)
            for m in range(1, degree):
                total = total + splat(basis, n * stride + m, LANES) * load(messages, m * wide + x, LANES)
            store(result, n * length + x, total)


@part()
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


@part()
def _node_terms(
    queries: Floats, degree: int, nodes: int, middle: float, half: float, cosine: Floats, room: Room
) -> None:
    """Scores a and exp(a) of each target at each node; rows 2 and 3 become the sums of exp(a) and of a over m ≠ ℓ."""
    scores, powers, rows, last = room.scores, room.powers, room.rows, room.at_nodes.shape[1] - BLOCK
    stride = rows.shape[1]
    for m in range(0, degree, BLOCK):
        query = load(queries, m, LANES)
        total, score_sum = load(rows, 2 * stride + m, LANES), load(rows, 3 * stride + m, LANES)
        for j in range(nodes):
            place, weight = middle + half * cosine[1, j], full_like(room.at_nodes[j, last], query)
            score = sigmoid_of(query + full_like(place, query))
            power = exponential_of(score)
            store(scores, j * stride + m, score)
            store(powers, j * stride + m, power)
            total = total + power * weight
            score_sum = score_sum + score * weight
        store(rows, 2 * stride + m, total)
        store(rows, 3 * stride + m, score_sum)


@part()
def _prepare(k: int, degree: int, variable: Gathered, table: Interpolation, room: Room) -> Any:
    """All of a head that both ways need, in `room`; how many nodes its keys take."""
    queries, keys, messages = variable
    middle, half, nodes = range_of(keys[k], degree, table.limits)
    cosine, wide = table.cosines[nodes], messages.shape[1]
    _basis(keys[k], degree, middle, half, nodes, room.basis)
    _sums(messages, room.basis, degree, nodes, wide, room.sums)
    _at_nodes(room.sums, cosine, nodes, wide + BLOCK, room.at_nodes)
    _own_terms(queries[k], keys[k], degree, room.rows)
    _node_terms(queries[k], degree, nodes, middle, half, cosine, room)
    return nodes


@part()
def interpolated(degree: int, variable: Gathered, table: Interpolation, room: Room, results: Results) -> None:
    """Write the results of one variable."""
    heads, kind, messages = len(variable.queries), variable.queries.dtype.type, variable.messages
    damping, out = results
    wide, stride, length = messages.shape[1], room.rows.shape[1], room.at_nodes.shape[1]
    share, others = kind(1.0 / heads), kind(degree - 1)
    damping[: whole_blocks(degree)] = kind(0.0)
    out[:degree] = kind(0.0)
    for k in range(heads):
        nodes = _prepare(k, degree, variable, table, room)
        for m in range(0, degree, BLOCK):
            own, total = load(room.rows, m, LANES), load(room.rows, 2 * stride + m, LANES)
            rest = load(room.rows, 3 * stride + m, LANES) * full_like(kind(1.0) / others, own)
            store(damping, m, load(damping, m, LANES) + full_like(share, own) * sigmoid_of(own - rest))
            store(room.rows, 2 * stride + m, full_like(share * others, total) / total)
        for target in range(degree):
            scale = room.rows[2, target]
            less = scale * room.rows[1, target]
            for x in range(0, wide, BLOCK):
                mine = load(messages, target * wide + x, LANES)
                into = load(out, target * wide + x, LANES) - full_like(less, mine) * mine
                for j in range(nodes):
                    factor = full_like(scale * room.powers[j, target], mine)
                    into = into + factor * load(room.at_nodes, j * length + x, LANES)
                store(out, target * wide + x, into)


@part()
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


@part()
def _head_gradients(
    degree: int, nodes: int, room: Room, more: BackwardRoom, damping: Floats, share: float, query: Floats, key: Floats
) -> None:
    """Write a head's gradients of queries and, but for what goes through the basis, of keys.

    `powers` become the weights of the nodes, `scores` these times their slope; `damping` are the gradients of λ.
    """
    _, _, at_nodes, scores, powers, rows = room
    with_slope, dots, columns = more.with_slope, more.dots, more.columns
    kind, stride, last = rows.dtype.type, rows.shape[1], at_nodes.shape[1] - BLOCK
    others = kind(degree - 1)
    for j in range(nodes):
        with_slope[j, last] = kind(0.0)
    for m in range(0, degree, BLOCK):
        own, own_power, own_dot = load(rows, m, LANES), load(rows, stride + m, LANES), load(rows, 4 * stride + m, LANES)
        zero, one = full_like(0.0, own), full_like(1.0, own)
        mean = zero - own_power * own_dot
        for j in range(nodes):
            dot = zero
            for x in range(last):
                dot = dot + splat(at_nodes, j * (last + BLOCK) + x, LANES) * load(columns, x * stride + m, LANES)
            store(dots, j * stride + m, dot)
            mean = mean + load(powers, j * stride + m, LANES) * dot
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


@part()
def _weighted(degree: int, nodes: int, weights: Floats, given: Floats, result: Floats) -> None:
    """Σ_m weight_jm given_m: [nodes, d], [d, wide] → [nodes, wide]."""
    wide, stride, length = given.shape[1], weights.shape[1], result.shape[1]
    for j in range(nodes):
        for x in range(0, wide, BLOCK):
            total = splat(weights, j * stride, LANES) * load(given, x, LANES)
            for m in range(1, degree):
                total = total + splat(weights, j * stride + m, LANES) * load(given, m * wide + x, LANES)
            store(result, j * length + x, total)


@part()
def interpolated_backward(
    degree: int,
    variable: Gathered,
    table: Interpolation,
    room: Room,
    more: BackwardRoom,
    given: Results,
    gradients: Gathered,
) -> None:
    """Gradients of `interpolated`, added to those of messages and written to the others."""
    messages, into, kind = variable.messages, gradients.messages, variable.messages.dtype.type
    heads, wide, length = len(variable.queries), messages.shape[1], room.sums.shape[1]
    basis, of_power, of_slope = room.basis, room.sums, room.at_nodes
    _to_columns(degree, messages, given.summed, more.columns, room.rows[4])
    for k in range(heads):
        nodes = _prepare(k, degree, variable, table, room)
        cosine, grad_keys = table.cosines[nodes], gradients.keys[k]
        _head_gradients(
            degree, nodes, room, more, given.damping, kind(1.0 / heads), gradients.queries[k], gradients.keys[k]
        )
        _weighted(degree, nodes, room.powers, given.summed, more.with_power)
        _weighted(degree, nodes, room.scores, given.summed, more.with_slope)
        _to_basis(more.with_power, cosine, nodes, wide, of_power)
        for n in range(nodes):
            more.with_slope[n, wide + 1 :] = kind(0.0)
        _to_basis(more.with_slope, cosine, nodes, wide + BLOCK, of_slope)
        for m in range(degree):
            less, change = room.rows[2, m] * room.rows[1, m], kind(0.0)
            for n in range(nodes):
                change -= basis[n, m] * of_slope[n, wide]
            for x in range(0, wide, BLOCK):
                mine, gradient = load(messages, m * wide + x, LANES), load(given.summed, m * wide + x, LANES)
                plain = load(into, m * wide + x, LANES) - full_like(less, mine) * gradient
                sloped = full_like(0.0, mine)
                for n in range(nodes):
                    factor = full_like(basis[n, m], mine)
                    plain = plain + factor * load(of_power, n * length + x, LANES)
                    sloped = sloped + factor * load(of_slope, n * length + x, LANES)
                store(into, m * wide + x, plain)
                change += sum_of(sloped * mine)
            grad_keys[m] += change

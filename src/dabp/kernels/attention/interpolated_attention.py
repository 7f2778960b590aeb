# mypy: disable-error-code="untyped-decorator"
"""One variable's attention in time linear in its degree, by interpolation in the keys (`chebyshev`).

The formulas are those of `attentive_messages`; sums over m ≠ ℓ are sums over all m minus the target's own term.
"""

from __future__ import annotations

from typing import Any

from dabp.kernels.attention.chebyshev import LARGEST, Interpolation, nodes_for
from dabp.kernels.attention.one_variable import BLOCK, BackwardRoom, Floats, Gathered, Results, Room
from dabp.kernels.decorators import inner, part
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential


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


@part(fastmath=FAST)
def _basis(keys: Floats, degree: int, middle: float, half: float, nodes: int, basis: Floats) -> None:
    """T_n(t_m) into `basis` [nodes, d]."""
    one, two = keys.dtype.type(1.0), keys.dtype.type(2.0)
    inverse = one / half if half > 0 else keys.dtype.type(0.0)
    for m in range(degree):
        basis[0, m] = one
        basis[1, m] = (keys[m] - middle) * inverse
    for n in range(2, nodes):
        for m in range(degree):
            basis[n, m] = two * basis[1, m] * basis[n - 1, m] - basis[n - 2, m]


@part(fastmath=FAST)
def _at_nodes(sums: Floats, cosine: Floats, nodes: int, length: int, result: Floats) -> None:
    """Σ_m L_j(k_m) x_m from Σ_m T_n(t_m) x_m: [nodes, length] → [nodes, length]."""
    share = sums.dtype.type(1.0 / nodes)
    for j in range(nodes):
        for x in range(length):
            result[j, x] = share * sums[0, x]
        for n in range(1, nodes):
            factor = share * sums.dtype.type(2.0) * cosine[n, j]
            for x in range(length):
                result[j, x] += factor * sums[n, x]


@part(fastmath=FAST)
def _to_basis(values: Floats, cosine: Floats, nodes: int, length: int, result: Floats) -> None:
    """Coefficients c_n with Σ_j L_j(k) v_j = Σ_n c_n T_n(t): [nodes, length] → [nodes, length]."""
    for n in range(nodes):
        share = values.dtype.type((1.0 if n == 0 else 2.0) / nodes)
        for x in range(length):
            result[n, x] = values.dtype.type(0.0)
        for j in range(nodes):
            factor = share * cosine[n, j]
            for x in range(length):
                result[n, x] += factor * values[j, x]


@part(fastmath=FAST)
def _sums(messages: Floats, basis: Floats, degree: int, nodes: int, wide: int, result: Floats) -> None:
    """Σ_m T_n(t_m) f2v_m into columns 0..wide − 1 and Σ_m T_n(t_m) into column `wide`."""
    for n in range(nodes):
        row, into = basis[n], result[n]
        total = messages.dtype.type(0.0)
        for m in range(degree):
            total += row[m]
        into[wide] = total
        for block in range(0, wide, BLOCK):
            for c in range(BLOCK):
                into[block + c] = messages.dtype.type(0.0)
            for m in range(degree):
                factor = row[m]
                for c in range(BLOCK):
                    into[block + c] += factor * messages[m, block + c]


@part(fastmath=FAST)
def _own_terms(queries: Floats, keys: Floats, degree: int, rows: Floats) -> None:
    """Each target's own a and exp(a) into rows 0 and 1; rows 2 and 3 start at their negatives."""
    for m in range(degree):
        own = sigmoid(queries[m] + keys[m])
        power = unit_exponential(own)
        rows[0, m], rows[1, m] = own, power
        rows[2, m], rows[3, m] = -power, -own


@part(fastmath=FAST)
def _node_terms(
    queries: Floats, degree: int, nodes: int, middle: float, half: float, cosine: Floats, room: Room
) -> None:
    """Scores a and exp(a) of each target at each node; rows 2 and 3 become the sums of exp(a) and of a over m ≠ ℓ."""
    scores, powers, rows, last = room.scores, room.powers, room.rows, room.at_nodes.shape[1] - 1
    for j in range(nodes):
        place, weight = middle + half * cosine[1, j], room.at_nodes[j, last]
        for m in range(degree):
            score = sigmoid(queries[m] + place)
            power = unit_exponential(score)
            scores[j, m], powers[j, m] = score, power
            rows[2, m] += power * weight
            rows[3, m] += score * weight


@part(fastmath=FAST)
def interpolated(degree: int, variable: Gathered, table: Interpolation, room: Room, results: Results) -> None:
    """Write the results of one variable."""
    queries, keys, messages = variable
    damping, out = results
    basis, sums, at_nodes, _, powers, rows = room
    wide = messages.shape[1]
    own, own_power, total, score_sum = rows[0], rows[1], rows[2], rows[3]
    heads, kind = len(queries), queries.dtype.type
    share, others, zero = kind(1.0 / heads), kind(degree - 1), kind(0.0)
    for m in range(degree):
        damping[m] = zero
        for x in range(wide):
            out[m, x] = zero
    for k in range(heads):
        middle, half, nodes = range_of(keys[k], degree, table.limits)
        cosine = table.cosines[nodes]
        _basis(keys[k], degree, middle, half, nodes, basis)
        _sums(messages, basis, degree, nodes, wide, sums)
        _at_nodes(sums, cosine, nodes, wide + 1, at_nodes)
        _own_terms(queries[k], keys[k], degree, rows)
        _node_terms(queries[k], degree, nodes, middle, half, cosine, room)
        for m in range(degree):
            damping[m] += share * sigmoid(own[m] - score_sum[m] / others)
            total[m] = share * others / total[m]
        for target in range(degree):
            into, mine, scale = out[target], messages[target], total[target]
            less = scale * own_power[target]
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    into[block + c] -= less * mine[block + c]
                for j in range(nodes):
                    factor = scale * powers[j, target]
                    for c in range(BLOCK):
                        into[block + c] += factor * at_nodes[j, block + c]


@part(fastmath=FAST)
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
    queries, keys, messages = variable
    grad_damping, grad_out = given
    grad_queries, grad_keys, grad_messages = gradients
    basis, sums, at_nodes, scores, powers, rows = room
    with_slope, with_power, dots = more
    wide = messages.shape[1]
    heads, kind = len(queries), queries.dtype.type
    share, others, zero, one = kind(1.0 / heads), kind(degree - 1), kind(0.0), kind(1.0)
    own, own_power, total, score_sum, own_dot, mean = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    of_others = rows[6]
    for m in range(degree):
        dot = zero
        for block in range(0, wide, BLOCK):
            for c in range(BLOCK):
                dot += grad_out[m, block + c] * messages[m, block + c]
        own_dot[m] = dot
    for k in range(heads):
        middle, half, nodes = range_of(keys[k], degree, table.limits)
        cosine = table.cosines[nodes]
        _basis(keys[k], degree, middle, half, nodes, basis)
        _sums(messages, basis, degree, nodes, wide, sums)
        _at_nodes(sums, cosine, nodes, wide + 1, at_nodes)
        _own_terms(queries[k], keys[k], degree, rows)
        _node_terms(queries[k], degree, nodes, middle, half, cosine, room)
        for m in range(degree):
            mean[m] = -own_power[m] * own_dot[m]
        for j in range(nodes):
            row = at_nodes[j]
            for m in range(degree):
                dot = zero
                for block in range(0, wide, BLOCK):
                    for c in range(BLOCK):
                        dot += grad_out[m, block + c] * row[block + c]
                dots[j, m] = dot
            for m in range(degree):
                mean[m] += powers[j, m] * dots[j, m]
        for m in range(degree):
            mean[m] /= total[m]
            total[m] = share * others / total[m]
            damped = sigmoid(own[m] - score_sum[m] / others)
            of_own, slope = grad_damping[m] * share * damped * (one - damped), own[m] * (one - own[m])
            of_others[m] = -of_own / others
            itself = total[m] * own_power[m] * (own_dot[m] - mean[m]) + of_others[m]
            grad_keys[k, m] = (of_own - itself) * slope
            grad_queries[k, m] = (of_own - of_others[m]) * slope
        for j in range(nodes):
            weight, constant = at_nodes[j, wide], zero
            for m in range(degree):
                slope, own_slope = scores[j, m] * (one - scores[j, m]), own[m] * (one - own[m])
                # Σ w (dot − mean) = 0, so any constant may be taken off the slopes: with the target's own one the sum
                # does not cancel, and the target's own term is gone.
                steep = total[m] * powers[j, m]
                grad_queries[k, m] += (
                    steep * (slope - own_slope) * (dots[j, m] - mean[m] * weight) + of_others[m] * slope * weight
                )
                powers[j, m], scores[j, m] = steep, steep * slope
                constant += steep * slope * mean[m] - of_others[m] * slope
            plain, sloped = with_power[j], with_slope[j]
            for x in range(wide):
                plain[x] = sloped[x] = zero
            sloped[wide] = constant
            for block in range(0, wide, BLOCK):
                for m in range(degree):
                    power, steep = powers[j, m], scores[j, m]
                    for c in range(BLOCK):
                        plain[block + c] += power * grad_out[m, block + c]
                        sloped[block + c] += steep * grad_out[m, block + c]
        _to_basis(with_power, cosine, nodes, wide, sums)
        _to_basis(with_slope, cosine, nodes, wide + 1, at_nodes)
        for m in range(degree):
            into, mine, change, less = grad_messages[m], messages[m], zero, total[m] * own_power[m]
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    into[block + c] -= less * grad_out[m, block + c]
            for n in range(nodes):
                factor, dot = basis[n, m], -at_nodes[n, wide]
                for block in range(0, wide, BLOCK):
                    for c in range(BLOCK):
                        into[block + c] += factor * sums[n, block + c]
                        dot += mine[block + c] * at_nodes[n, block + c]
                change += factor * dot
            grad_keys[k, m] += change

# mypy: disable-error-code="untyped-decorator"
"""One variable's attention in time linear in its degree, by interpolation in the keys (`chebyshev`).

Arrays of one variable: `queries`, `keys` [K, d]; `messages`, `out`, gradients [d, wide], `wide` a multiple of `BLOCK`
and zero beyond the domain. The formulas are those of `attentive_messages`; sums over m ≠ ℓ are sums over all m minus
the target's own term.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels import kernel
from dabp.kernels.chebyshev import LARGEST, nodes_for
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential

Floats = NDArray[np.floating]

BLOCK = 8
"""Message entries are handled in blocks of this constant length, which LLVM turns into vectors."""


@kernel
def range_of(keys: Floats, degree: int, limits: Floats) -> tuple[Any, Any, int]:
    """Middle and half of the keys' range, and how many nodes it takes."""
    low = high = keys[0]
    for m in range(degree):
        low, high = min(low, keys[m]), max(high, keys[m])
    half = (high - low) / keys.dtype.type(2.0)
    return low + half, half, nodes_for(half, limits)


@kernel
def pays(queries: Floats, keys: Floats, degree: int, limits: Floats) -> bool:
    """Whether interpolation is cheaper than all pairs, for every head."""
    if degree < 6:
        return False
    for k in range(len(keys)):
        _, _, nodes = range_of(keys[k], degree, limits)
        if nodes > LARGEST or 3 * nodes > degree:
            return False
    return True


@kernel(fastmath=FAST)
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


@kernel(fastmath=FAST)
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


@kernel(fastmath=FAST)
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


@kernel(fastmath=FAST)
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


@kernel(fastmath=FAST)
def interpolated(
    degree: int,
    wide: int,
    queries: Floats,
    keys: Floats,
    messages: Floats,
    limits: Floats,
    cosines: Floats,
    room: tuple[Floats, ...],
    damping: Floats,
    out: Floats,
) -> None:
    """`attentive_messages.attend` of one variable: `damping` [d], `out` [d, wide]."""
    basis, sums, at_nodes, scores, powers = room
    heads, kind = len(queries), queries.dtype.type
    share, others, zero = kind(1.0 / heads), kind(degree - 1), kind(0.0)
    for m in range(degree):
        damping[m] = zero
        for x in range(wide):
            out[m, x] = zero
    for k in range(heads):
        middle, half, nodes = range_of(keys[k], degree, limits)
        cosine = cosines[nodes]
        _basis(keys[k], degree, middle, half, nodes, basis)
        _sums(messages, basis, degree, nodes, wide, sums)
        _at_nodes(sums, cosine, nodes, wide + 1, at_nodes)
        for j in range(nodes):
            place = middle + half * cosine[1, j]
            for m in range(degree):
                scores[j, m] = sigmoid(queries[k, m] + place)
                powers[j, m] = unit_exponential(scores[j, m])
        for target in range(degree):
            own = sigmoid(queries[k, target] + keys[k, target])
            own_power = unit_exponential(own)
            total, score_sum = -own_power, -own
            for j in range(nodes):
                total += powers[j, target] * at_nodes[j, wide]
                score_sum += scores[j, target] * at_nodes[j, wide]
            damping[target] += share * sigmoid(own - score_sum / others)
            scale = share * others / total
            into, mine = out[target], messages[target]
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    into[block + c] -= scale * own_power * mine[block + c]
                for j in range(nodes):
                    factor = scale * powers[j, target]
                    for c in range(BLOCK):
                        into[block + c] += factor * at_nodes[j, block + c]


@kernel(fastmath=FAST)
def interpolated_backward(
    degree: int,
    wide: int,
    queries: Floats,
    keys: Floats,
    messages: Floats,
    limits: Floats,
    cosines: Floats,
    room: tuple[Floats, ...],
    grad_damping: Floats,
    grad_out: Floats,
    grad_queries: Floats,
    grad_keys: Floats,
    grad_messages: Floats,
) -> None:
    """Gradients of `interpolated`: `grad_queries` and `grad_keys` [K, d] are written, `grad_messages` added to."""
    basis, sums, at_nodes, scores, powers, with_slope, with_power = room
    dots = np.empty(LARGEST, queries.dtype)
    heads, kind = len(queries), queries.dtype.type
    share, others, zero, one = kind(1.0 / heads), kind(degree - 1), kind(0.0), kind(1.0)
    for k in range(heads):
        middle, half, nodes = range_of(keys[k], degree, limits)
        cosine = cosines[nodes]
        _basis(keys[k], degree, middle, half, nodes, basis)
        _sums(messages, basis, degree, nodes, wide, sums)
        _at_nodes(sums, cosine, nodes, wide + 1, at_nodes)
        for j in range(nodes):
            place = middle + half * cosine[1, j]
            for m in range(degree):
                scores[j, m] = sigmoid(queries[k, m] + place)
                powers[j, m] = unit_exponential(scores[j, m])
            for x in range(wide + 1):
                with_slope[j, x] = with_power[j, x] = zero
        for target in range(degree):
            gradient, mine = grad_out[target], messages[target]
            own = sigmoid(queries[k, target] + keys[k, target])
            own_power, own_slope = unit_exponential(own), own * (one - own)
            own_dot = zero
            for block in range(0, wide, BLOCK):
                for c in range(BLOCK):
                    own_dot += gradient[block + c] * mine[block + c]
            total, score_sum, mean = -own_power, -own, -own_power * own_dot
            for j in range(nodes):
                score, power, weight = scores[j, target], powers[j, target], at_nodes[j, wide]
                dot = zero
                for block in range(0, wide, BLOCK):
                    for c in range(BLOCK):
                        dot += gradient[block + c] * at_nodes[j, block + c]
                dots[j] = dot
                total += power * weight
                score_sum += score * weight
                mean += power * dot
            mean /= total
            # Σ w (dot − mean) = 0, so any constant may be taken off the slopes: with the target's own one the sum
            # does not cancel, and the target's own term is gone.
            through, slope_sum = zero, -own_slope
            for j in range(nodes):
                score, weight = scores[j, target], at_nodes[j, wide]
                slope = score * (one - score)
                through += powers[j, target] * (slope - own_slope) * (dots[j] - mean * weight)
                slope_sum += slope * weight
            scale = share * others / total
            damped = sigmoid(own - score_sum / others)
            of_own = grad_damping[target] * share * damped * (one - damped)
            of_others = -of_own / others
            itself = scale * own_power * own_slope * (own_dot - mean) + of_others * own_slope
            grad_queries[k, target] = scale * through + of_others * slope_sum + of_own * own_slope
            grad_keys[k, target] = of_own * own_slope - itself
            into = grad_messages[target]
            for x in range(wide):
                into[x] -= scale * own_power * gradient[x]
            for j in range(nodes):
                score, power = scores[j, target], powers[j, target]
                slope = score * (one - score)
                plain, steep = scale * power, scale * power * slope
                with_slope[j, wide] += steep * mean - of_others * slope
                for block in range(0, wide, BLOCK):
                    for c in range(BLOCK):
                        with_power[j, block + c] += plain * gradient[block + c]
                        with_slope[j, block + c] += steep * gradient[block + c]
        _to_basis(with_power, cosine, nodes, wide, sums)
        _to_basis(with_slope, cosine, nodes, wide + 1, at_nodes)
        for m in range(degree):
            into, mine, change = grad_messages[m], messages[m], zero
            for n in range(nodes):
                factor, dot = basis[n, m], -at_nodes[n, wide]
                for block in range(0, wide, BLOCK):
                    for c in range(BLOCK):
                        into[block + c] += factor * sums[n, block + c]
                        dot += mine[block + c] * at_nodes[n, block + c]
                change += factor * dot
            grad_keys[k, m] += change

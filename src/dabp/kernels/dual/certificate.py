# mypy: disable-error-code="untyped-decorator"
"""A lower bound that is valid in spite of rounding, compiled: computed from the messages, each sum with its error.

For any messages Σ_i min θ_i + Σ_α min θ_α is a bound in exact arithmetic. In floating point a sum of t terms is off by
at most t·u·Σ|terms|, u = 2⁻⁵³; each minimum is taken over the sums lowered by that amount.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dabp.kernels.decorators import inner, kernel
from dabp.kernels.dual.pairs import Pairs, cost_at
from dabp.kernels.dual.passes import LENIENT, Relaxation, Scratch
from dabp.problem.exactness import UNIT_ROUNDOFF

Array = Any


@inner
def _lowest(relaxation: Relaxation, factor: int, digit: Array) -> float:
    """Min over x of f(x) − Σ_i M_i(x_i), lowered by its rounding error, for a factor of any arity."""
    first, last = relaxation.scope_start[factor], relaxation.scope_start[factor + 1]
    arity = last - first
    digit[:arity] = 0
    cell, lowest = relaxation.table_start[factor], np.inf
    while True:
        total = relaxation.pool[cell]
        weight = abs(total)
        for k in range(arity):
            message = relaxation.messages[relaxation.message_start[first + k] + digit[k]]
            total -= message
            weight += abs(message)
        if total < np.inf:
            lowest = min(lowest, total - (arity + 2) * UNIT_ROUNDOFF * weight)
        cell += 1
        k = arity - 1
        while k >= 0:
            digit[k] += 1
            if digit[k] < relaxation.sizes[relaxation.variable[first + k]]:
                break
            digit[k] = 0
            k -= 1
        if k < 0:
            return lowest


@inner
def _lowest_value(unary: Array, m: Array, message: Array, total: Array, weight: Array) -> float:
    """Min over a of u_i(a) + Σ_α M_{α,i}(a), lowered by its rounding error; messages begin at the places `message`."""
    for a in range(len(unary)):
        total[a] = unary[a]
        weight[a] = abs(total[a])
    for start in message:
        for a in range(len(unary)):
            moved = np.float64(m[start + a])
            total[a] += moved
            weight[a] += abs(moved)
    lowest = np.inf
    for a in range(len(unary)):
        if total[a] < np.inf:
            lowest = min(lowest, total[a] - (len(message) + 2) * UNIT_ROUNDOFF * weight[a])
    return lowest


@inner
def _added(total: tuple[float, float, float], lowest: float) -> tuple[float, float, float]:
    """Neumaier's sum: the sum, the exact loss of its additions, and the sum of the absolute values."""
    bound, lost, magnitude = total
    after = bound + lowest
    lost += (bound - after) + lowest if abs(bound) >= abs(lowest) else (lowest - after) + bound
    return after, lost, magnitude + abs(lowest)


@kernel
def certified_bound(relaxation: Relaxation, scratch: Scratch) -> tuple[float, float, float]:
    """The terms of the bound as a sum for `certified_sum`."""
    total, start = (0.0, 0.0, 0.0), relaxation.incident_start
    for i in range(len(relaxation.sizes)):
        own = relaxation.unary[relaxation.unary_start[i] : relaxation.unary_start[i + 1]]
        begins = relaxation.incident_message[start[i] : start[i + 1]]
        total = _added(total, _lowest_value(own, relaxation.messages, begins, scratch.theta[0], scratch.theta[1]))
    for f in range(len(relaxation.table_start)):
        total = _added(total, _lowest(relaxation, f, scratch.digit))
    return total


@inner(fastmath=LENIENT)
def _lowest_general(tables: Array, row: int, width: int, own: Array, other: Array) -> float:
    """Min over (a, b) of f(a, b) − own(a) − other(b), lowered by its rounding error; a is fastest, rows are padded."""
    lowest = np.inf
    for b in range(len(other)):
        begin, moved = row + b * width, other[b]
        weight = abs(moved)
        for a in range(len(own)):
            cost = tables[begin + a]
            total = cost - moved - own[a]
            if total < np.inf:
                lowest = min(lowest, total - 4 * UNIT_ROUNDOFF * (abs(cost) + weight + abs(own[a])))
    return lowest


@inner
def _lowest_linear(base: float, slope: float, top: float, own: Array, other: Array, moved: Array) -> float:
    """Min over (a, b) of min(base + slope · |a − b|, top) − own(a) − other(b), lowered by its rounding error.

    ``moved[a] = min_b slope · |a − b| − other(b)`` by one sweep up and one down; both domains have one size. Only
    distances below the cap count for the rounding error.
    """
    size, largest, largest_other, weight, other_weight = len(own), own[0], other[0], 0.0, 0.0
    for a in range(size):
        largest, weight = max(largest, own[a]), max(weight, abs(own[a]))
        largest_other, other_weight = max(largest_other, other[a]), max(other_weight, abs(other[a]))
        moved[a] = -other[a]
    for b in range(1, size):
        moved[b] = min(moved[b], moved[b - 1] + slope)
    for b in range(size - 2, -1, -1):
        moved[b] = min(moved[b], moved[b + 1] + slope)
    lowest = top - largest - largest_other
    for a in range(size):
        lowest = min(lowest, base + moved[a] - own[a])
    steps = 1
    while steps < size and base + slope * steps < top:
        steps += 1
    error = (2 * steps + 8) * UNIT_ROUNDOFF * (abs(base) + abs(top) + abs(slope) * steps + weight + other_weight)
    return float(lowest - error)


@inner
def _lowest_at(pairs: Pairs, p: int, i: int, m: Array, scratch: Array) -> float:
    """The lowest reparametrised cost of the factor at place p of variable i; `scratch` has three rows."""
    row, own, other = pairs.table[p], scratch[1, : pairs.domain[i]], scratch[2, : pairs.domain[pairs.other[p]]]
    for a in range(len(own)):
        own[a] = m[pairs.message[p] + a]
    for b in range(len(other)):
        other[b] = m[pairs.other_message[p] + b]
    if pairs.linear[p]:
        base, slope, top = pairs.parameters[row, 0], pairs.parameters[row, 1], pairs.parameters[row, 2]
        return float(_lowest_linear(base, slope, top, own, other, scratch[0]))
    return float(_lowest_general(pairs.tables, row, pairs.row[i + 1] - pairs.row[i], own, other))


@kernel
def certified_pairs(pairs: Pairs, m: Array, first: int, last: int) -> tuple[float, float, float]:
    """The terms of variables `first` to `last` and their factors with earlier variables, as for `certified_bound`.

    `pairs` is in double precision, the messages `m` in any.
    """
    total, scratch = (0.0, 0.0, 0.0), np.empty((3, _widest(pairs)))
    for i in range(first, last):
        own = pairs.unary[pairs.row[i] : pairs.row[i] + pairs.domain[i]]
        begins = pairs.message[pairs.start[i] : pairs.start[i + 1]]
        total = _added(total, _lowest_value(own, m, begins, scratch[0], scratch[1]))
        for p in range(pairs.start[i], pairs.middle[i]):
            total = _added(total, _lowest_at(pairs, p, i, m, scratch))
    return total


@inner
def _widest(pairs: Pairs) -> int:
    widest = 0
    for i in range(len(pairs.domain)):
        widest = max(widest, pairs.domain[i])
    return widest


def certified_sum(sums: list[tuple[float, float, float]], parts: int) -> float:
    """A number that `sums` of `parts` terms in all surely reach; −inf or nan if some term is not finite."""
    bound = math.fsum(total[0] for total in sums)
    whole = math.fsum(number for total in sums for number in total[:2])
    magnitude = sum(total[2] for total in sums)
    return whole - 2 * UNIT_ROUNDOFF * abs(bound) - 4 * (parts + 2.0) ** 2 * UNIT_ROUNDOFF**2 * magnitude


@kernel
def pairs_excess(pairs: Pairs, m: Array, values: Array, excess: Array) -> None:
    """excess[i] = θ_i(x_i) − min θ_i + ½ Σ_α (θ_α(x_α) − min θ_α), α being the factors of variable i.

    For any messages Σ_i θ_i(x_i) + Σ_α θ_α(x_α) is the cost of x, so that `excess` adds up to cost less bound.
    """
    excess[:] = 0.0
    scratch = np.empty((3, _widest(pairs)))
    for i in range(len(pairs.domain)):
        size, value, cost = pairs.domain[i], values[i], scratch[0]
        for a in range(size):
            cost[a] = pairs.unary[pairs.row[i] + a]
            for p in range(pairs.start[i], pairs.start[i + 1]):
                cost[a] += np.float64(m[pairs.message[p] + a])
        lowest = cost[0]
        for a in range(size):
            lowest = min(lowest, cost[a])
        excess[i] += cost[value] - lowest
        for p in range(pairs.start[i], pairs.middle[i]):
            j = pairs.other[p]
            moved = np.float64(m[pairs.message[p] + value]) + np.float64(m[pairs.other_message[p] + values[j]])
            paid = cost_at(pairs, p, value, values[j], pairs.row[i + 1] - pairs.row[i]) - moved
            half = 0.5 * (paid - _lowest_at(pairs, p, i, m, scratch))
            excess[i] += half
            excess[j] += half

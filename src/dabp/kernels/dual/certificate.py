# mypy: disable-error-code="untyped-decorator"
"""A lower bound that holds in spite of rounding, compiled: computed from the messages alone, each sum with its error.

For any messages Σ_i min θ_i + Σ_α min θ_α is a bound in exact arithmetic. In floating point a sum of t terms is off by
at most t·u·Σ|terms|, u = 2⁻⁵³; each minimum is taken over the sums lowered by that much.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dabp.kernels.decorators import inner, kernel
from dabp.kernels.dual.pairs import Pairs, Room
from dabp.kernels.dual.passes import LENIENT, Relaxation, Scratch

Array = Any

ROUNDOFF = 2.0**-53
"""u."""


@inner(fastmath=LENIENT)
def _lowest_pair(pool: Array, start: int, first: Array, second: Array) -> float:
    """Min over (a, b) of f(a, b) − first(a) − second(b), lowered by its rounding; f has b fastest."""
    lowest = np.inf
    for a in range(len(first)):
        row, moved = start + a * len(second), first[a]
        weight = abs(moved)
        for b in range(len(second)):
            cost = pool[row + b]
            total = cost - moved - second[b]
            if total < np.inf:
                lowest = min(lowest, total - 4 * ROUNDOFF * (abs(cost) + weight + abs(second[b])))
    return lowest


@inner
def _lowest(relaxation: Relaxation, factor: int, digit: Array) -> float:
    """Min over x of f(x) − Σ_i M_i(x_i), lowered by its rounding, for a factor of any arity."""
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
            lowest = min(lowest, total - (arity + 2) * ROUNDOFF * weight)
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
def _lowest_value(relaxation: Relaxation, variable: int, total: Array, weight: Array) -> float:
    """Min over a of u_i(a) + Σ_α M_{α,i}(a), lowered by its rounding."""
    size = relaxation.sizes[variable]
    begin, end = relaxation.incident_start[variable], relaxation.incident_start[variable + 1]
    for a in range(size):
        total[a] = relaxation.unary[relaxation.unary_start[variable] + a]
        weight[a] = abs(total[a])
    for position in range(begin, end):
        start = relaxation.message_start[relaxation.incident[position]]
        for a in range(size):
            total[a] += relaxation.messages[start + a]
            weight[a] += abs(relaxation.messages[start + a])
    lowest = np.inf
    for a in range(size):
        if total[a] < np.inf:
            lowest = min(lowest, total[a] - (end - begin + 2) * ROUNDOFF * weight[a])
    return lowest


@inner
def _added(total: tuple[float, float, float], lowest: float) -> tuple[float, float, float]:
    """Neumaier's sum: what an addition loses is exact, and kept apart; and the sum of the absolute values."""
    bound, lost, magnitude = total
    after = bound + lowest
    lost += (bound - after) + lowest if abs(bound) >= abs(lowest) else (lowest - after) + bound
    return after, lost, magnitude + abs(lowest)


@inner
def _sum_of(total: tuple[float, float, float], parts: int) -> float:
    """The sum, lowered by its own rounding."""
    bound, lost, magnitude = total
    return bound + lost - 2 * ROUNDOFF * abs(bound) - 4 * (parts + 2.0) ** 2 * ROUNDOFF**2 * magnitude


@kernel
def certified_bound(relaxation: Relaxation, scratch: Scratch) -> float:
    """A number that Σ_i min θ_i + Σ_α min θ_α surely reaches; −inf or nan if some message is not finite."""
    total = (0.0, 0.0, 0.0)
    for i in range(len(relaxation.sizes)):
        total = _added(total, _lowest_value(relaxation, i, scratch.theta[0], scratch.theta[1]))
    for f in range(len(relaxation.table_start)):
        first = relaxation.scope_start[f]
        if relaxation.scope_start[f + 1] - first == 2:
            begin, middle, end = relaxation.message_start[first : first + 3]
            first_message, second_message = relaxation.messages[begin:middle], relaxation.messages[middle:end]
            lowest = _lowest_pair(relaxation.pool, relaxation.table_start[f], first_message, second_message)
        else:
            lowest = _lowest(relaxation, f, scratch.digit)
        total = _added(total, lowest)
    return float(_sum_of(total, len(relaxation.sizes) + len(relaxation.table_start)))


@inner(fastmath=LENIENT)
def _lowest_general(tables: Array, row: int, width: int, own: Array, other: Array) -> float:
    """Min over (a, b) of f(a, b) − own(a) − other(b), lowered by its rounding; f has a fastest, rows are padded."""
    lowest = np.inf
    for b in range(len(other)):
        begin, moved = row + b * width, other[b]
        weight = abs(moved)
        for a in range(len(own)):
            cost = tables[begin + a]
            total = cost - moved - own[a]
            if total < np.inf:
                lowest = min(lowest, total - 4 * ROUNDOFF * (abs(cost) + weight + abs(own[a])))
    return lowest


@inner
def _lowest_linear(base: float, slope: float, top: float, own: Array, other: Array, room: Array) -> float:
    """Min over (a, b) of min(base + slope · |a − b|, top) − own(a) − other(b), lowered by its rounding.

    g(a) = min_b slope · |a − b| − other(b) by one sweep up and one down.
    """
    size, largest, largest_other, weight = len(own), own[0], other[0], 0.0
    for a in range(size):
        largest, weight = max(largest, own[a]), max(weight, abs(own[a]))
    other_weight = 0.0
    for b in range(len(other)):
        largest_other, other_weight = max(largest_other, other[b]), max(other_weight, abs(other[b]))
    reach = max(size, len(other))
    for b in range(reach):
        room[b] = -other[b] if b < len(other) else np.inf
    for b in range(1, reach):
        room[b] = min(room[b], room[b - 1] + slope)
    for b in range(reach - 2, -1, -1):
        room[b] = min(room[b], room[b + 1] + slope)
    lowest = top - largest - largest_other
    for a in range(size):
        lowest = min(lowest, base + room[a] - own[a])
    error = (2 * reach + 8) * ROUNDOFF * (abs(base) + abs(top) + abs(slope) * reach + weight + other_weight)
    return float(lowest - error)


@inner
def _lowest_potts(same: float, different: float, own: Array, other: Array) -> float:
    """Min over (a, b) of same, if a = b, else different ≥ same, less own(a) and other(b), lowered by its rounding."""
    largest, largest_other, lowest = own[0], other[0], np.inf
    for a in range(len(own)):
        largest = max(largest, own[a])
        total = same - own[a] - other[a]
        lowest = min(lowest, total - 4 * ROUNDOFF * (abs(same) + abs(own[a]) + abs(other[a])))
    for b in range(len(other)):
        largest_other = max(largest_other, other[b])
    apart = different - largest - largest_other
    return float(min(lowest, apart - 4 * ROUNDOFF * (abs(different) + abs(largest) + abs(largest_other))))


@inner
def _doubled(m: Array, start: int, count: int, room: Array) -> Array:
    """Some numbers in double precision."""
    for a in range(count):
        room[a] = m[start + a]
    return room[:count]


@inner
def _lowest_at(pairs: Pairs, p: int, i: int, m: Array, rooms: Array) -> float:
    """The lowest reparametrised cost of the factor at place p of variable i."""
    row, room = pairs.table[p], rooms[0]
    own = _doubled(m, pairs.message[p], pairs.domain[i], rooms[1])
    other = _doubled(m, pairs.other_message[p], pairs.domain[pairs.other[p]], rooms[2])
    if pairs.kind[p] == 1:
        return float(_lowest_potts(pairs.parameters[row, 0], pairs.parameters[row, 1], own, other))
    if pairs.kind[p] == 2:
        base, slope, top = pairs.parameters[row, 0], pairs.parameters[row, 1], pairs.parameters[row, 2]
        return float(_lowest_linear(base, slope, top, own, other, room))
    return float(_lowest_general(pairs.tables, row, pairs.row[i + 1] - pairs.row[i], own, other))


@kernel
def certified_pairs(pairs: Pairs, m: Array, room: Room, first: int, last: int) -> tuple[float, float, float]:
    """`certified_bound` of a pairwise problem in double precision, with messages of any, as a sum to go on with.

    What is added up are a range of variables and their factors with variables before them. See `certified_sum`.
    """
    total, scratch = (0.0, 0.0, 0.0), np.empty((3, len(room.cost)))
    for i in range(first, last):
        size, own = pairs.domain[i], pairs.row[i]
        for a in range(size):
            room.cost[a] = pairs.unary[own + a]
            room.score[a] = abs(room.cost[a])
        for p in range(pairs.start[i], pairs.start[i + 1]):
            for a in range(size):
                message = np.float64(m[pairs.message[p] + a])
                room.cost[a] += message
                room.score[a] += abs(message)
        lowest, terms = np.inf, pairs.start[i + 1] - pairs.start[i] + 2
        for a in range(size):
            if room.cost[a] < np.inf:
                lowest = min(lowest, room.cost[a] - terms * ROUNDOFF * room.score[a])
        total = _added(total, lowest)
        for p in range(pairs.start[i], pairs.middle[i]):
            total = _added(total, _lowest_at(pairs, p, i, m, scratch))
    return total


def certified_sum(sums: list[tuple[float, float, float]], parts: int) -> float:
    """What sums of so many parts in all surely reach together: `_sum_of`, the sums themselves added without error."""
    bound = math.fsum(total[0] for total in sums)
    whole = math.fsum(number for total in sums for number in total[:2])
    magnitude = sum(total[2] for total in sums)
    return whole - 2 * ROUNDOFF * abs(bound) - 4 * (parts + 2.0) ** 2 * ROUNDOFF**2 * magnitude

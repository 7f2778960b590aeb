# mypy: disable-error-code="untyped-decorator"
"""Passes of the dual for problems with unary and binary factors only: `passes` with less to look up.

The messages, the order and the bound are those of `dabp.kernels.dual.passes`; what differs is how a factor's
min-marginal is taken: in O(L) for Potts and truncated linear tables, and over whole vectors for others.

Rows of values are padded to whole vectors with copies of the last value: what is computed for a copy equals what is
computed for that value, so padding changes no minimum, no maximum and no first place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.decorators import kernel, part
from dabp.kernels.simd import full_like, lanes_of, least, load, maximum, minimum, splat, store

Array = Any
WIDTH = 8
"""Lanes of a vector; rows are padded to a multiple of it."""
LANES = lanes_of(WIDTH)
LENIENT = {"nnan", "nsz", "contract"}
"""Costs may be inf but are never nan."""
OPTIONS = {"fastmath": LENIENT, "_nrt": False}


class Pairs(NamedTuple):
    """A pairwise problem by *places*: one for each (factor, variable), those of a variable side by side.

    Of each variable, the places whose other variable has a smaller number come first.
    """

    domain: Array
    """Number of values, [N]."""
    row: Array
    """Where each variable's padded row begins in `unary`, [N + 1]."""
    unary: Array
    """Own costs of each variable's values, padded."""
    start: Array
    """The first place of each variable, [N + 1]."""
    middle: Array
    """The first of its places whose other variable has a larger number, [N]."""
    other: Array
    """The other variable of each place, [2F]."""
    message: Array
    """Where the message from the factor to the place's variable begins, [2F]."""
    other_message: Array
    """Where the message from the factor to the other variable begins, [2F]."""
    kind: Array
    """General 0, Potts 1, truncated linear 2, [2F]."""
    table: Array
    """General: where in `tables` the costs begin, a padded row over the place's variable for each value of the
    other; otherwise the row of `parameters`, [2F]."""
    tables: Array
    """General tables, both ways round."""
    parameters: Array
    """(same, different, –) of Potts and (base, slope, top) of truncated linear tables, [T, 3]."""


class Room(NamedTuple):
    """Where a pass works; see `room_for`."""

    cost: Array
    """θ of the variable whose turn it is, one row."""
    score: Array
    """What its values cost given the values before it, one row."""
    shifts: Array
    """Two rows between borders of inf, six rows in all."""


def room_for(pairs: Pairs) -> Room:
    """Room for the widest row of a problem."""
    width = int(np.diff(pairs.row).max(initial=WIDTH))
    return Room(np.zeros(width), np.zeros(width), np.full(6 * width, np.inf))


@part(**OPTIONS)
def _general(tables: Array, table: int, m: Array, other: int, domain: int, out: int, size: int) -> None:
    """m(out + a) = min_b f(a, b) − m(other + b)."""
    for a in range(0, size, WIDTH):
        best = load(tables, table + a, LANES) - splat(m, other, LANES)
        for b in range(1, domain):
            best = minimum(best, load(tables, table + b * size + a, LANES) - splat(m, other + b, LANES))
        store(m, out + a, best)


@part(**OPTIONS)
def _potts(same: float, different: float, m: Array, other: int, out: int, size: int) -> None:
    """m(out + a) = min(same − m(other + a), different − max_b m(other + b)), for same ≤ different."""
    largest = load(m, other, LANES)
    for b in range(WIDTH, size, WIDTH):
        largest = maximum(largest, load(m, other + b, LANES))
    zero = full_like(0.0, largest)
    apart = full_like(different + least(zero - largest), largest)
    equal = full_like(same, largest)
    for a in range(0, size, WIDTH):
        store(m, out + a, minimum(equal - load(m, other + a, LANES), apart))


@part(**OPTIONS)
def _truncated_linear(
    base: float, slope: float, top: float, m: Array, other: int, domain: int, out: int, size: int, room: Array
) -> None:
    """m(out + a) = min_b min(base + slope · |a − b|, top) − m(other + b).

    With h(b) = −m(other + b), g_1 = min(h, h shifted by one either way + slope) knows all values at a distance of 1;
    then by two, by four, …, each doubling what is known, up to where the cap begins. `room` holds two rows between
    borders of inf that are as wide as the widest row.
    """
    widest = len(room) // 6
    now, then = widest, 4 * widest
    lowest = full_like(np.inf, load(m, other, LANES))
    for a in range(0, size, WIDTH):
        own = full_like(0.0, lowest) - load(m, other + a, LANES)
        lowest = minimum(lowest, own)
        store(room, now + a, own)
    for a in range(domain, widest):
        room[now + a] = np.inf
    cap = full_like(least(lowest) + top, lowest)
    known, step = 0, 1
    while known < domain - 1 and base + (known + 1) * slope < top:
        added = full_like(step * slope, lowest)
        for a in range(0, size, WIDTH):
            near = minimum(load(room, now + a - step, LANES), load(room, now + a + step, LANES)) + added
            store(room, then + a, minimum(load(room, now + a, LANES), near))
        for a in range(domain, widest):
            room[then + a] = np.inf
        now, then = then, now
        known, step = known + step, 2 * step
    for a in range(0, size, WIDTH):
        store(m, out + a, minimum(load(room, now + a, LANES) + full_like(base, cap), cap))
    for a in range(domain, size):
        m[out + a] = m[out + domain - 1]


@part(**OPTIONS)
def _marginal(pairs: Pairs, p: int, m: Array, size: int, room: Array) -> None:
    """Replace the message at place p by the min-marginal of its factor, the other's message taken off."""
    kind, row, other, out = pairs.kind[p], pairs.table[p], pairs.other_message[p], pairs.message[p]
    if kind == 1:
        _potts(pairs.parameters[row, 0], pairs.parameters[row, 1], m, other, out, size)
        return
    domain = pairs.domain[pairs.other[p]]
    if kind == 2:
        base, slope, top = pairs.parameters[row, 0], pairs.parameters[row, 1], pairs.parameters[row, 2]
        _truncated_linear(base, slope, top, m, other, domain, out, size, room)
    else:
        _general(pairs.tables, row, m, other, domain, out, size)


@part(**OPTIONS)
def _add_row(pairs: Pairs, p: int, value: int, score: Array, domain: int, size: int) -> None:
    """score(a) += f(a, value) of the factor at place p, `value` being the other variable's; padding may differ."""
    kind, row = pairs.kind[p], pairs.table[p]
    if kind == 1:  # all values but one cost the same, which decides nothing
        score[value] += pairs.parameters[row, 0] - pairs.parameters[row, 1]
    elif kind == 2:
        base, slope, top = pairs.parameters[row, 0], pairs.parameters[row, 1], pairs.parameters[row, 2]
        for a in range(domain):
            score[a] += min(base + slope * abs(a - value), top)
    else:
        for a in range(0, size, WIDTH):
            store(score, a, load(score, a, LANES) + load(pairs.tables, row + value * size + a, LANES))


@part(**OPTIONS)
def _first_least(score: Array, domain: int) -> int:
    """The first value of least score."""
    lowest, best = score[0], 0
    for a in range(1, domain):
        if score[a] < lowest:
            lowest, best = score[a], a
    return best


@part(**OPTIONS)
def _gather(m: Array, begin: int, cost: Array, size: int, largest: Any) -> Any:
    """Cost += the message that begins there; returns `largest`, by lane, raised to the message's absolute values."""
    for a in range(0, size, WIDTH):
        message = load(m, begin + a, LANES)
        store(cost, a, load(cost, a, LANES) + message)
        largest = maximum(largest, maximum(message, full_like(0.0, message) - message))
    return largest


@part(**OPTIONS)
def _least(cost: Array, size: int) -> float:
    """The least entry of a row."""
    low = load(cost, 0, LANES)
    for a in range(WIDTH, size, WIDTH):
        low = minimum(low, load(cost, a, LANES))
    return float(least(low))


@kernel(**OPTIONS)
def pairs_pass(forward: bool, pairs: Pairs, m: Array, room: Room, values: Array) -> tuple[float, float]:
    """One pass over the variables in (or against) their order; changes the messages `m` and decodes `values` [N].

    See `dabp.kernels.dual.passes.dual_pass`, which this equals on pairwise problems.

    Returns
    -------
    bound, magnitude
        Σ_i min θ_i at the end of the pass, and the sum of the largest absolute values of all terms that entered it:
        inf if some are not finite, so that the bound means nothing.
    """
    cost, score = room.cost, room.score
    num_variables = len(pairs.middle)
    bound, magnitude = 0.0, 0.0
    for turn in range(num_variables):
        i = turn if forward else num_variables - 1 - turn
        own, domain = pairs.row[i], pairs.domain[i]
        size = pairs.row[i + 1] - own
        first, middle, last = pairs.start[i], pairs.middle[i], pairs.start[i + 1]
        behind, end_behind = (first, middle) if forward else (middle, last)
        to_come, end_to_come = (middle, last) if forward else (first, middle)
        largest = full_like(0.0, load(pairs.unary, own, LANES))
        for a in range(0, size, WIDTH):
            store(cost, a, full_like(0.0, largest))
        largest = _gather(pairs.unary, own, cost, size, largest)
        for p in range(to_come, end_to_come):
            largest = _gather(m, pairs.message[p], cost, size, largest)
        for a in range(0, size, WIDTH):
            store(score, a, load(cost, a, LANES))
        for p in range(behind, end_behind):
            _add_row(pairs, p, values[pairs.other[p]], score, domain, size)
            _marginal(pairs, p, m, size, room.shifts)
            largest = _gather(m, pairs.message[p], cost, size, largest)
        values[i] = _first_least(score, domain)
        lowest = _least(cost, size)
        count = end_to_come - to_come
        share = 1.0 / max(1, count, end_behind - behind)
        bound += lowest * (1.0 - share * count)
        magnitude += -least(full_like(0.0, largest) - largest) * (last - first + 1)
        for p in range(to_come, end_to_come):
            begin = pairs.message[p]
            for a in range(0, size, WIDTH):
                taken = load(cost, a, LANES)
                store(m, begin + a, load(m, begin + a, LANES) - full_like(share, taken) * taken)
    return bound, magnitude


@kernel(**OPTIONS)
def pairs_cost(pairs: Pairs, values: Array) -> float:
    """The cost of an assignment."""
    total = 0.0
    for i in range(len(pairs.middle)):
        value = values[i]
        total += pairs.unary[pairs.row[i] + value]
        size = pairs.row[i + 1] - pairs.row[i]
        for p in range(pairs.start[i], pairs.middle[i]):
            row, other = pairs.table[p], values[pairs.other[p]]
            if pairs.kind[p] == 1:
                total += pairs.parameters[row, 0 if value == other else 1]
            elif pairs.kind[p] == 2:
                apart = pairs.parameters[row, 0] + pairs.parameters[row, 1] * abs(value - other)
                total += min(apart, pairs.parameters[row, 2])
            else:
                total += pairs.tables[row + other * size + value]
    return total

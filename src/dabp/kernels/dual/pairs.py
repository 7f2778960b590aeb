# mypy: disable-error-code="untyped-decorator"
"""Passes of the dual for problems with unary and binary factors only: `passes` with less to look up.

The messages, the order and the bound are those of `dabp.kernels.dual.passes`; what differs is how a factor's
min-marginal is taken: in O(L) for Potts and truncated linear tables, and over whole vectors for others.

Variables lie in strips of consecutive numbers, and in a strip level by level (`dabp.graph.places.Places.in_strips`). A
pass goes through the strips one after the other; a variable waits only for neighbours of lower levels in its own strip
or in one before. So a thread may follow another one through the next strip, some levels behind, and the result is the
same for any number of them. Each has memory of its own in front of it that way: with a part of every level each, one
thread's prefetching takes lines from the other, which then was slower than one thread alone.

Rows of values are padded to whole vectors with copies of the last value: what is computed for a copy equals what is
computed for that value, so padding changes no minimum, no maximum and no first place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.atomics import APART, heard, tell, zeros_apart
from dabp.kernels.decorators import kernel, part
from dabp.kernels.simd import full_like, lanes_of, least, load, maximum, minimum, prefetch, splat, store

Array = Any
WIDTH = 8
"""Lanes of a vector; rows are padded to a multiple of it."""
LANES = lanes_of(WIDTH)
LENIENT = {"nnan", "nsz", "contract"}
"""Costs may be inf but are never nan."""
OPTIONS = {"fastmath": LENIENT, "_nrt": False}
PATIENCE = 1_000_000
"""How often a thread looks whether the others are done with a level before it gives up its core for a while: about
a millisecond, as long as it takes others to notice."""

LEAD = 64
"""One in so many levels is what a thread that has to wait lets others get ahead."""


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
    chunk: Array
    """The first variable of each chunk: the variables of one level in one strip, [C + 1]."""
    level: Array
    """The level of each chunk; levels rise in a strip, [C]."""
    strip: Array
    """The first chunk of each strip, [S + 1]."""
    levels: int
    """How many levels there are."""


class Answer(NamedTuple):
    """What a pass finds, variable by variable."""

    values: Array
    """The decoded assignment, [N]."""
    bound: Array
    """What each variable adds to the bound; −inf if something that it consists of is not finite, [N]."""
    cost: Array
    """What the variable's value, and its factors with variables before it in the pass, cost, [N]."""
    sums: Array
    """Of each strip the sums of `bound` and `cost`, in cache lines of their own, [S · APART]."""


class Room(NamedTuple):
    """Where a pass works; see `room_for`."""

    cost: Array
    """θ of the variable whose turn it is, one row."""
    score: Array
    """What its values cost given the values before it, one row."""
    shifts: Array
    """Two rows between borders of inf, six rows in all."""


def room_for(pairs: Pairs) -> Room:
    """Room for the widest row of a problem, in the precision of its costs; nothing of others is near it."""
    width, real = int(np.diff(pairs.row).max(initial=WIDTH)), pairs.unary.dtype
    whole = zeros_apart(8 * width, real)
    whole[2 * width :] = np.inf
    return Room(whole[:width], whole[width : 2 * width], whole[2 * width :])


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


@part(**OPTIONS)
def _cost(pairs: Pairs, p: int, value: int, other: int, size: int) -> float:
    """What the factor at place p costs."""
    kind, row = pairs.kind[p], pairs.table[p]
    if kind == 1:
        return np.float64(pairs.parameters[row, 0 if value == other else 1])
    if kind == 2:
        apart = np.float64(pairs.parameters[row, 0]) + np.float64(pairs.parameters[row, 1]) * abs(value - other)
        return min(apart, np.float64(pairs.parameters[row, 2]))
    return np.float64(pairs.tables[row + other * size + value])


@part(**OPTIONS)
def _update(forward: bool, pairs: Pairs, i: int, m: Array, room: Room, answer: Answer) -> None:
    """A variable's turn: collect what its factors can give, decode its value, hand out shares to those to come."""
    cost, score = room.cost, room.score
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
        _add_row(pairs, p, answer.values[pairs.other[p]], score, domain, size)
        _marginal(pairs, p, m, size, room.shifts)
        largest = _gather(m, pairs.message[p], cost, size, largest)
    value = _first_least(score, domain)
    price = np.float64(pairs.unary[own + value])
    for p in range(behind, end_behind):
        price += _cost(pairs, p, value, answer.values[pairs.other[p]], size)
    answer.values[i], answer.cost[i] = value, price
    count = end_to_come - to_come
    share = 1.0 / max(1, count, end_behind - behind)
    finite = -least(full_like(0.0, largest) - largest) < np.inf
    answer.bound[i] = _least(cost, size) * (1.0 - share * count) if finite else -np.inf
    for p in range(to_come, end_to_come):
        begin = pairs.message[p]
        for a in range(0, size, WIDTH):
            taken = load(cost, a, LANES)
            store(m, begin + a, load(m, begin + a, LANES) - full_like(share, taken) * taken)


@kernel(**OPTIONS)
def pairs_cost(pairs: Pairs, values: Array) -> float:
    """What an assignment costs, its values in the order of the variables here."""
    total = 0.0
    for i in range(len(values)):
        size = pairs.row[i + 1] - pairs.row[i]
        total += pairs.unary[pairs.row[i] + values[i]]
        for p in range(pairs.start[i], pairs.middle[i]):
            total += _cost(pairs, p, values[i], values[pairs.other[p]], size)
    return total


def progress_of(pairs: Pairs) -> Array:
    """Before a pass: how far each strip is, in cache lines of their own."""
    return zeros_apart((len(pairs.strip) - 1) * APART)


@part(**OPTIONS)
def _reached(progress: Array, turn: int, level: int, levels: int) -> int:
    """Levels that all strips before the one at `turn` are done with; waits for `level` of them, gives −1 after long.

    Whoever has to wait lets the others get some levels ahead, so as not to ask again after each.
    """
    known, level = levels, min(level + levels // LEAD, levels)
    for before in range(turn):
        looks = 0
        done = heard(progress, before * APART)
        while done < level:
            looks += 1
            if looks > PATIENCE:
                return -1
            done = heard(progress, before * APART)
        known = min(known, done)
    return known


@part(**OPTIONS)
def _fetch_behind(forward: bool, pairs: Pairs, i: int, m: Array, answer: Answer) -> None:
    """Ask for what a variable hears of those before it, which another thread may have written."""
    first, last = (pairs.start[i], pairs.middle[i]) if forward else (pairs.middle[i], pairs.start[i + 1])
    for p in range(first, last):
        prefetch(m, pairs.other_message[p])
        prefetch(answer.values, pairs.other[p])


@part(**OPTIONS)
def _add_up(answer: Answer, first: int, last: int, strip: int) -> None:
    """Add up what a strip's variables add to bound and cost, as their thread has just written it.

    If another thread read these lines the next pass would first have to take each of them back.
    """
    bound, cost = 0.0, 0.0
    for i in range(first, last):
        bound += answer.bound[i]
        cost += answer.cost[i]
    answer.sums[strip * APART], answer.sums[strip * APART + 1] = bound, cost


@kernel(**OPTIONS)
def pairs_pass(
    forward: bool,
    pairs: Pairs,
    m: Array,
    room: Room,
    answer: Answer,
    chunk: int,
    thread: int,
    threads: int,
    progress: Array,
) -> int:
    """A thread's part of a pass over the variables in (or against) their order; changes `m` and decodes values.

    See `dabp.kernels.dual.passes.dual_pass`, which this equals on pairwise problems. Of T threads each has every T-th
    strip and does its chunks one by one, each when the strips before are done with the levels before. Backward all of
    this is turned round.

    Parameters
    ----------
    pairs, m
        Costs in the precision of the messages `m`, in which what the decoded values cost is looked up, too.
    chunk
        Where to go on, of all chunks in the order of the pass; 0 to begin.
    thread, threads, progress
        Who this is, of how many; see `progress_of`; changed.

    Returns
    -------
    chunk
        What to go on with when other threads had their time; the number of all chunks if nothing is left.
    """
    chunks, strips, levels = len(pairs.level), len(pairs.strip) - 1, pairs.levels
    for turn in range(strips):
        strip = turn if forward else strips - 1 - turn
        first, last = pairs.strip[strip], pairs.strip[strip + 1]
        begun = chunk - (first if forward else chunks - last)
        if strip % threads != thread or begun >= last - first:
            continue
        known = levels if turn == 0 or threads == 1 else 0
        for done in range(max(0, begun), last - first):
            k = first + done if forward else last - 1 - done
            level = pairs.level[k] if forward else levels - 1 - pairs.level[k]
            if threads > 1:
                tell(progress, turn * APART, level)
            if known < level:
                known = _reached(progress, turn, level, levels)
                if known < 0:
                    return int(done + (first if forward else chunks - last))
            begin, end = pairs.chunk[k], pairs.chunk[k + 1]
            if done + 1 < last - first and threads > 1:
                _fetch_behind(forward, pairs, end if forward else begin - 1, m, answer)
            for at in range(end - begin):
                _update(forward, pairs, begin + at if forward else end - 1 - at, m, room, answer)
        if threads > 1:
            tell(progress, turn * APART, levels)
        _add_up(answer, pairs.chunk[first], pairs.chunk[last], strip)
    return chunks

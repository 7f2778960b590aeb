# mypy: disable-error-code="untyped-decorator"
"""Passes of the dual for problems with unary and binary factors only, vectorised.

The messages, the order and the bound are those of `dabp.kernels.dual.passes`. A factor's min-marginal takes O(L) for
tables ``min(base + slope · |a − b|, top)``, which Potts tables are too, and runs over whole vectors for others.

Variables lie in strips of consecutive numbers, and in a strip level by level (`dabp.graph.places.Places.in_strips`). A
pass goes through the strips one after the other; a variable depends on neighbours of lower levels in its own strip or
an earlier one. So a thread may follow another one through the next strip, some levels behind, and the result does not
depend on the number of threads. If threads shared every level instead, the prefetching of one would take cache lines
from the other, which was slower than one thread alone.

Rows of values are padded to whole vectors with copies of the last value, which changes no minimum and no first place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.atomics import APART, heard, tell, zeros_apart
from dabp.kernels.decorators import array_kernel, kernel, part
from dabp.kernels.dual.passes import LENIENT
from dabp.kernels.pair_minimum import pair_minimum_without
from dabp.kernels.simd import full_like, lanes_of, least, load, maximum, minimum, prefetch, store

Array = Any
WIDTH = 8
"""Lanes of a vector; rows are padded to a multiple of it."""
LANES = lanes_of(WIDTH)
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
    linear: Array
    """Whether the table is truncated linear, [2F]."""
    table: Array
    """Truncated linear: the row of `parameters`; others: where in `tables` the costs begin, a padded row over the
    place's variable for each value of the other, [2F]."""
    tables: Array
    """General tables, both ways round."""
    parameters: Array
    """(base, slope, top) of truncated linear tables, [T, 3]."""
    chunk: Array
    """The first variable of each chunk: the variables of one level in one strip, [C + 1]."""
    level: Array
    """The level of each chunk; levels rise in a strip, [C]."""
    strip: Array
    """The first chunk of each strip, [S + 1]."""
    levels: int
    """How many levels there are."""


class Answer(NamedTuple):
    """Results of a pass, variable by variable."""

    values: Array
    """The decoded assignment, [N]."""
    bound: Array
    """What each variable adds to the bound; −inf if something that it consists of is not finite, [N]."""
    cost: Array
    """What the variable's value, and its factors with variables before it in the pass, cost, [N]."""
    sums: Array
    """Of each strip the sums of `bound` and `cost`, in cache lines of their own, [S · APART]."""


class Scratch(NamedTuple):
    """Memory that a pass overwrites."""

    cost: Array
    """θ of the variable whose turn it is, one row."""
    score: Array
    """What its values cost given the values before it, one row."""
    shifts: Array
    """Two rows between borders of inf, six rows in all."""


def scratch_for(pairs: Pairs) -> Scratch:
    """Memory for the widest row of a problem, in the precision of its costs, on cache lines of its own."""
    width, real = int(np.diff(pairs.row).max(initial=WIDTH)), pairs.unary.dtype
    whole = zeros_apart(8 * width, real)
    whole[2 * width :] = np.inf
    return Scratch(whole[:width], whole[width : 2 * width], whole[2 * width :])


@part(**OPTIONS)
def _general(tables: Array, table: int, m: Array, other: int, domain: int, out: int, size: int) -> None:
    """m(out + a) = min_b f(a, b) − m(other + b)."""
    for a in range(0, size, WIDTH):
        store(m, out + a, pair_minimum_without(tables, table + a, size, m, other, domain, LANES))


@part(**OPTIONS)
def _truncated_linear(
    base: float, slope: float, top: float, m: Array, other: int, domain: int, out: int, size: int, shifts: Array
) -> None:
    """m(out + a) = min_b min(base + slope · |a − b|, top) − m(other + b).

    With h(b) = −m(other + b), g_1 = min(h, h shifted by one either way + slope) covers all values at a distance of 1;
    shifts by two, four, … double that distance until the cap begins. `shifts` has two rows between borders of inf that
    are as wide as the widest row.
    """
    widest = len(shifts) // 6
    now, then = widest, 4 * widest
    lowest = full_like(np.inf, load(m, other, LANES))
    for a in range(0, size, WIDTH):
        own = full_like(0.0, lowest) - load(m, other + a, LANES)
        lowest = minimum(lowest, own)
        store(shifts, now + a, own)
    for a in range(domain, widest):
        shifts[now + a] = np.inf
    cap = full_like(least(lowest) + top, lowest)
    known, step = 0, 1
    while known < domain - 1 and base + (known + 1) * slope < top:
        added = full_like(step * slope, lowest)
        for a in range(0, size, WIDTH):
            near = minimum(load(shifts, now + a - step, LANES), load(shifts, now + a + step, LANES)) + added
            store(shifts, then + a, minimum(load(shifts, now + a, LANES), near))
        for a in range(domain, widest):
            shifts[then + a] = np.inf
        now, then = then, now
        known, step = known + step, 2 * step
    for a in range(0, size, WIDTH):
        store(m, out + a, minimum(load(shifts, now + a, LANES) + full_like(base, cap), cap))
    for a in range(domain, size):
        m[out + a] = m[out + domain - 1]


@part(**OPTIONS)
def _marginal(pairs: Pairs, p: int, m: Array, size: int, shifts: Array) -> None:
    """Replace the message at place p by the min-marginal of its factor less the message to the other variable."""
    row, other, out, domain = pairs.table[p], pairs.other_message[p], pairs.message[p], pairs.domain[pairs.other[p]]
    if pairs.linear[p]:
        base, slope, top = pairs.parameters[row, 0], pairs.parameters[row, 1], pairs.parameters[row, 2]
        _truncated_linear(base, slope, top, m, other, domain, out, size, shifts)
    else:
        _general(pairs.tables, row, m, other, domain, out, size)


@part(**OPTIONS)
def _add_row(pairs: Pairs, p: int, value: int, score: Array, domain: int, size: int) -> None:
    """score(a) += f(a, value) of the factor at place p up to a constant, `value` being the other variable's."""
    row = pairs.table[p]
    if pairs.linear[p]:  # values at the top cost the same, which decides nothing
        base, slope, top = pairs.parameters[row, 0], pairs.parameters[row, 1], pairs.parameters[row, 2]
        distance = 0
        while distance < domain and base + slope * distance < top:
            saved = base + slope * distance - top
            if value + distance < domain:
                score[value + distance] += saved
            if 0 < distance <= value:
                score[value - distance] += saved
            distance += 1
    else:
        for a in range(0, size, WIDTH):
            store(score, a, load(score, a, LANES) + load(pairs.tables, row + value * size + a, LANES))


@part(**OPTIONS)
def _first_least(score: Array, domain: int) -> int:
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
    low = load(cost, 0, LANES)
    for a in range(WIDTH, size, WIDTH):
        low = minimum(low, load(cost, a, LANES))
    return float(least(low))


@part(**OPTIONS)
def cost_at(pairs: Pairs, p: int, value: int, other: int, size: int) -> float:
    """The cost of the factor at place p."""
    row = pairs.table[p]
    if pairs.linear[p]:
        apart = np.float64(pairs.parameters[row, 0]) + np.float64(pairs.parameters[row, 1]) * abs(value - other)
        return min(apart, np.float64(pairs.parameters[row, 2]))
    return np.float64(pairs.tables[row + other * size + value])


@part(**OPTIONS)
def _update(forward: bool, pairs: Pairs, i: int, m: Array, scratch: Scratch, answer: Answer) -> None:
    """Update variable i: collect the min-marginals of its factors, decode its value, share θ among later factors."""
    cost, score = scratch.cost, scratch.score
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
        _marginal(pairs, p, m, size, scratch.shifts)
        largest = _gather(m, pairs.message[p], cost, size, largest)
    value = _first_least(score, domain)
    price = np.float64(pairs.unary[own + value])
    for p in range(behind, end_behind):
        price += cost_at(pairs, p, value, answer.values[pairs.other[p]], size)
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
    """The cost of an assignment, its values in the order of the variables of `pairs`."""
    total = 0.0
    for i in range(len(values)):
        size = pairs.row[i + 1] - pairs.row[i]
        total += pairs.unary[pairs.row[i] + values[i]]
        for p in range(pairs.start[i], pairs.middle[i]):
            total += cost_at(pairs, p, values[i], values[pairs.other[p]], size)
    return total


@part(**OPTIONS)
def _reached(progress: Array, turn: int, level: int, levels: int) -> int:
    """Levels that all strips before the one at `turn` have finished; waits for `level` of them, −1 after 10⁶ looks.

    A thread that waits lets the others get some levels ahead, so that it does not wait again after each. 10⁶ looks take
    about a millisecond.
    """
    known, level = levels, min(level + levels // 64, levels)
    for before in range(turn):
        looks = 0
        done = heard(progress, before * APART)
        while done < level:
            looks += 1
            if looks > 1_000_000:
                return -1
            done = heard(progress, before * APART)
        known = min(known, done)
    return known


@part(**OPTIONS)
def _fetch_behind(forward: bool, pairs: Pairs, i: int, m: Array, answer: Answer) -> None:
    """Prefetch the messages and values that variable i reads and another thread may have written."""
    first, last = (pairs.start[i], pairs.middle[i]) if forward else (pairs.middle[i], pairs.start[i + 1])
    for p in range(first, last):
        prefetch(m, pairs.other_message[p])
        prefetch(answer.values, pairs.other[p])


@part(**OPTIONS)
def _add_up(answer: Answer, first: int, last: int, strip: int) -> None:
    """Sum bound and cost over a strip in the thread that wrote them, whose cache has these lines."""
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
    scratch: Scratch,
    answer: Answer,
    chunk: int,
    thread: int,
    threads: int,
    progress: Array,
) -> int:
    """A thread's part of a pass over the variables in (or against) their order; changes `m` and decodes values.

    Equals `dabp.kernels.dual.passes.dual_pass` on pairwise problems. Thread t of T processes strips t, t + T, …, chunk
    by chunk, each chunk when the earlier strips have finished the earlier levels. A backward pass reverses all orders.

    Parameters
    ----------
    pairs, m
        Costs in the precision of the messages `m`; costs of decoded values are computed from them.
    chunk
        The first chunk to process, counted in the order of the pass; 0 at the start.
    progress
        [strips · APART]: levels finished by each strip, zeros before a pass.

    Returns
    -------
    chunk
        Where to continue after a wait that was too long; the number of chunks if nothing is left.
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
                _update(forward, pairs, begin + at if forward else end - 1 - at, m, scratch, answer)
        if threads > 1:
            tell(progress, turn * APART, levels)
        _add_up(answer, pairs.chunk[first], pairs.chunk[last], strip)
    return chunks


@array_kernel
def copy_tables(pool: Array, begin: Array, ends: Array, lanes: int, padded: Array) -> None:
    """Copy some tables, each with its first variable (even entries of `ends`) or its second (odd ones) in the lanes.

    Parameters
    ----------
    pool, begin
        All tables, and where each of T begins.
    ends
        Table t with its first variable in the lanes is 2t, with its second 2t + 1, [n].
    lanes
        How many values that variable has; entries beyond repeat the last.
    padded
        Gets the tables, [n, values of the other variable, width].
    """
    others, width = padded.shape[1], padded.shape[2]
    for k in range(len(ends)):
        first = begin[ends[k] >> 1]
        down, across = (1, others) if ends[k] & 1 == 0 else (lanes, 1)
        for row in range(others):
            for lane in range(lanes):
                padded[k, row, lane] = pool[first + row * down + lane * across]
            for lane in range(lanes, width):
                padded[k, row, lane] = padded[k, row, lanes - 1]

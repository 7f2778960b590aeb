"""Min-sum message passing, compiled: the f2v messages, then beliefs, values and v2f messages (paper Eq. 2-5).

Each function works on a range, writes only its own part and returns numbers that do not depend on how the whole was
cut into ranges; that is why any number of threads gives the same result, bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dabp.kernels.belief_propagation.layout import PADDING, ExactCosts, Layout
from dabp.kernels.belief_propagation.memory import Memory
from dabp.kernels.decorators import array_inner, array_kernel, inline_kernel
from dabp.kernels.simd import Lanes, first_equal, full_like, least, load, maximum, minimum, prefetch, splat, store

AHEAD = 8
"""How many factors ahead messages are fetched from memory."""


class Passage(NamedTuple):
    """One message of a factor of arity 2: from which rows of a table it is made, and where it goes."""

    table: int
    """Position of the table's first row; lanes run over the values of the receiver."""
    rows: int
    """How many: the values of the sender."""
    step: int
    """Distance between rows."""
    source: int
    """Position of the v2f message of the sender; that of a second copy follows after `source_width`."""
    source_width: int
    target: int
    """Position of the f2v message to the receiver; that of a second copy follows after `width`."""
    width: int


@array_kernel
def send_pairs(layout: Layout, memory: Memory, lanes: Lanes, start: int, stop: int) -> None:
    """f2v messages of factors of arity 2: ``f2v_j(x_j) = min over x_i of T(x_i, x_j) + v2f_i(x_i)``.

    Every table is there in both orientations, so that each minimum runs down columns in whole vectors.
    """
    pairs = layout.pairs
    split = layout.many.message.shape[1] == 2
    for group in range(len(pairs.groups)):
        begin, end, domain_0, domain_1, width_0, width_1, step_0, step_1 = pairs.groups[group]
        for factor in range(max(begin, start), min(end, stop)):
            ahead = min(factor + AHEAD, end - 1)
            for side in range(2):
                prefetch(memory.v2f, pairs.message[ahead, side])
                prefetch(memory.f2v, pairs.message[ahead, side])
            first, second = pairs.message[factor, 0], pairs.message[factor, 1]
            table = pairs.table[factor]
            to_first = Passage(table, domain_1, step_0, second, width_1, first, width_0)
            to_second = Passage(table + domain_1 * step_0, domain_0, step_1, first, width_0, second, width_1)
            if split:
                _send_both(layout, memory, to_first, lanes)
                _send_both(layout, memory, to_second, lanes)
            else:
                _send(layout, memory, to_first, lanes)
                _send(layout, memory, to_second, lanes)


@inline_kernel
def _send(layout: Layout, memory: Memory, passage: Passage, lanes: Lanes) -> None:
    """One message."""
    tables, v2f = layout.tables, memory.v2f
    for block in range(0, passage.width, len(lanes)):
        place = passage.table + block
        message = load(tables, place, lanes) + splat(v2f, passage.source, lanes)
        for row in range(1, passage.rows):
            costs = load(tables, place + row * passage.step, lanes)
            message = minimum(message, costs + splat(v2f, passage.source + row, lanes))
        store(memory.f2v, passage.target + block, message)


@inline_kernel
def _send_both(layout: Layout, memory: Memory, passage: Passage, lanes: Lanes) -> None:
    """The messages of both copies of a split factor: one look at the table serves the two."""
    tables, v2f = layout.tables, memory.v2f
    second = passage.source + passage.source_width
    for block in range(0, passage.width, len(lanes)):
        place = passage.table + block
        costs = load(tables, place, lanes)
        message = costs + splat(v2f, passage.source, lanes)
        other = costs + splat(v2f, second, lanes)
        for row in range(1, passage.rows):
            costs = load(tables, place + row * passage.step, lanes)
            message = minimum(message, costs + splat(v2f, passage.source + row, lanes))
            other = minimum(other, costs + splat(v2f, second + row, lanes))
        store(memory.f2v, passage.target + block, message)
        store(memory.f2v, passage.target + passage.width + block, other)


@array_kernel
def send_many(layout: Layout, memory: Memory, values: Any, lanes: Lanes, start: int, stop: int) -> None:
    """f2v messages of factors of higher arity, in one pass over the table.

    A row of the table has fixed `values` of all variables but the last, whose values are the lanes.
    """
    many, v2f, f2v = layout.many, memory.v2f, memory.f2v
    for factor in range(start, stop):
        first, last = many.start[factor], many.start[factor + 1] - 1
        width = -(-many.domain[last] // len(lanes)) * len(lanes)
        rows = 1
        for k in range(first, last):
            rows *= many.domain[k]
        for copy in range(many.message.shape[1]):
            from_last = many.message[last, copy]
            nothing = full_like(PADDING, load(v2f, from_last, lanes))
            for k in range(first, last):
                values[k - first] = 0
                for x in range(many.domain[k]):
                    f2v[many.message[k, copy] + x] = PADDING
            for block in range(0, width, len(lanes)):
                store(f2v, from_last + block, nothing)
            table = many.table[factor]
            for _ in range(rows):
                base = v2f[many.message[first, copy] + values[0]]
                for k in range(first + 1, last):
                    base += v2f[many.message[k, copy] + values[k - first]]
                lowest = nothing
                for block in range(0, width, len(lanes)):
                    costs = load(layout.tables, table + block, lanes)
                    lowest = minimum(lowest, costs + load(v2f, from_last + block, lanes))
                    old = load(f2v, from_last + block, lanes)
                    store(f2v, from_last + block, minimum(old, costs + full_like(base, costs)))
                row_least = least(lowest)
                for k in range(first, last):
                    # Summed anew without k: base minus its own message would lose digits to a stand-in.
                    rest = row_least
                    for other in range(first, last):
                        if other != k:
                            rest += v2f[many.message[other, copy] + values[other - first]]
                    place = many.message[k, copy] + values[k - first]
                    f2v[place] = min(f2v[place], rest)
                table += width
                k = last - 1
                while k >= first:
                    values[k - first] += 1
                    if values[k - first] < many.domain[k]:
                        break
                    values[k - first] = 0
                    k -= 1


@array_kernel
def update_variables(
    layout: Layout, memory: Memory, gain: Any, lanes: Lanes, start: int, stop: int
) -> tuple[float, int]:
    """Beliefs, values and v2f messages of a range of variables.

    The belief is ``b_i = unary_i + H_i + Σ f2v`` and the decoded value its first minimum. With λ the damping of the
    edge, ``v2f ← λ v2f + (1 − λ)(b_i − f2v)``, shifted to minimum 0. The field of reinforced BP becomes
    ``H_i = gain · (b_i − min b_i)``; a negative `gain` leaves it as it is.

    Returns
    -------
    The largest change of a v2f message, and how many variables moved to another value, which `memory.moved` marks.
    """
    variables, v2f, f2v, field, damping = layout.variables, memory.v2f, memory.f2v, memory.field, memory.damping
    zero = full_like(0.0, load(variables.unary, 0, lanes))
    change = zero
    changed = 0
    for i in range(start, stop):
        place = variables.unary_start[i]
        width = variables.unary_start[i + 1] - place
        if width == len(lanes):
            mask = load(variables.mask, place, lanes)
            belief = load(variables.unary, place, lanes) + load(field, place, lanes)
            message = variables.message_start[i]
            for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
                belief = belief + splat(variables.edge_scale, edge, lanes) * load(f2v, message, lanes)
                message += width
            low = least(belief)
            value = first_equal(belief, low)
            if gain >= 0:
                store(field, place, full_like(gain, zero) * mask * (belief - full_like(low, zero)))
            message = variables.message_start[i]
            for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
                scale = splat(variables.edge_scale, edge, lanes)
                kept = splat(damping, edge, lanes)
                fresh = full_like((1 - damping[edge]) / variables.edge_scale[edge], zero)
                old = load(v2f, message, lanes)
                new = kept * old + fresh * (belief - scale * load(f2v, message, lanes))
                new = mask * (new - full_like(least(new), zero))
                change = maximum(change, scale * maximum(new - old, old - new))
                store(v2f, message, new)
                message += width
        else:
            value, wide_change = _update_wide(layout, memory, gain, lanes, i)
            change = maximum(change, full_like(wide_change, zero))
        memory.moved[i] = memory.assignment[i] != value
        changed += memory.moved[i]
        memory.assignment[i] = value
    return -least(zero - change), changed


@array_inner
def _update_wide(layout: Layout, memory: Memory, gain: Any, lanes: Lanes, i: int) -> tuple[int, float]:
    """`update_variables` for one variable whose messages take several vectors."""
    variables, v2f, f2v, field, damping = layout.variables, memory.v2f, memory.f2v, memory.field, memory.damping
    place = variables.unary_start[i]
    width = variables.unary_start[i + 1] - place
    zero = full_like(0.0, load(variables.unary, 0, lanes))
    belief_least = full_like(PADDING, zero)
    change = zero
    value = 0
    lowest = least(belief_least)
    # The belief is gathered twice, for its minimum and block by block for the messages: no room to keep it is needed.
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, memory, lanes, i, block)
        low = least(belief)
        if low < lowest:
            lowest = low
            value = block + first_equal(belief, low)
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, memory, lanes, i, block)
        message = variables.message_start[i] + block
        for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
            # Where the f2v message lay the new message is kept until its minimum is known.
            own = splat(variables.edge_scale, edge, lanes) * load(f2v, message, lanes)
            fresh = full_like((1 - damping[edge]) / variables.edge_scale[edge], zero)
            store(f2v, message, splat(damping, edge, lanes) * load(v2f, message, lanes) + fresh * (belief - own))
            message += width
        if gain >= 0:
            mask = load(variables.mask, place + block, lanes)
            store(field, place + block, full_like(gain, zero) * mask * (belief - full_like(lowest, zero)))
    message = variables.message_start[i]
    for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
        smallest = load(f2v, message, lanes)
        for block in range(len(lanes), width, len(lanes)):
            smallest = minimum(smallest, load(f2v, message + block, lanes))
        shift = full_like(least(smallest), zero)
        for block in range(0, width, len(lanes)):
            old = load(v2f, message + block, lanes)
            new = load(variables.mask, place + block, lanes) * (load(f2v, message + block, lanes) - shift)
            change = maximum(change, splat(variables.edge_scale, edge, lanes) * maximum(new - old, old - new))
            store(v2f, message + block, new)
        message += width
    return value, -least(zero - change)


@array_inner
def _belief(layout: Layout, memory: Memory, lanes: Lanes, i: int, block: int) -> Any:
    """One vector of a belief, from `block` on."""
    variables = layout.variables
    place = variables.unary_start[i] + block
    width = variables.unary_start[i + 1] - variables.unary_start[i]
    belief = load(variables.unary, place, lanes) + load(memory.field, place, lanes)
    message = variables.message_start[i] + block
    for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
        belief = belief + splat(variables.edge_scale, edge, lanes) * load(memory.f2v, message, lanes)
        message += width
    return belief


@array_kernel
def price_moved(exact: ExactCosts, memory: Memory, start: int, stop: int) -> None:
    """Look up the factors of variables that moved in the problem's own tables; the others cost what they did.

    Two ranges may price the same factor: they write the same number.
    """
    for i in range(start, stop):
        if memory.moved[i]:
            for place in range(exact.factor_start[i], exact.factor_start[i + 1]):
                factor = exact.factor_of[place]
                cell = exact.base[factor]
                for k in range(exact.start[factor], exact.start[factor + 1]):
                    cell += memory.assignment[exact.variable[k]] * exact.stride[k]
                memory.priced[factor] = exact.pool[cell]


@array_inner
def total_of(priced: Any) -> float:
    """Sum of all factors' costs, always in the same order."""
    first = second = third = fourth = 0.0
    for factor in range(0, len(priced) - 3, 4):
        first += priced[factor]
        second += priced[factor + 1]
        third += priced[factor + 2]
        fourth += priced[factor + 3]
    for factor in range(len(priced) // 4 * 4, len(priced)):
        first += priced[factor]
    return (first + second) + (third + fourth)

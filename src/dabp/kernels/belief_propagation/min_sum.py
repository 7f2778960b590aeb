# mypy: disable-error-code="untyped-decorator"
"""Min-sum message passing, compiled: the f2v messages, then beliefs, values and v2f messages (paper Eq. 2-5).

Each function works on a range, writes only its own part and returns numbers that do not depend on how the whole was
cut into ranges; that is why any number of threads gives the same result, bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dabp.kernels.belief_propagation.message_arrays import AHEAD, EARLY, NEAR, PADDING, UNIT, Layout, Memory
from dabp.kernels.belief_propagation.pricing import fetch_table, fetch_value, paid
from dabp.kernels.decorators import array_inner, array_kernel, inline_kernel, part
from dabp.kernels.simd import (
    Lanes,
    first_equal,
    full_like,
    item,
    least,
    load,
    maximum,
    minimum,
    prefetch,
    prefetch_early,
    splat,
    store,
)


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


@array_inner
def passage_at(layout: Layout, i: int, at: int, copy: int, lanes: Lanes) -> Passage:
    """The message of a copy at place `at` of the pairs, which is one of variable `i`, to where it lies in memory."""
    variables, pairs, copies = layout.variables, layout.pairs, layout.many.message.shape[1]
    rows, width = item(pairs.rows, at), variables.unary_start[i + 1] - variables.unary_start[i]
    source_width = -(-rows // len(lanes)) * len(lanes)
    source = UNIT * item(pairs.source, at) + copy * source_width
    target = variables.message_start[i] + (copies * at + copy - variables.edge_start[i]) * width
    return Passage(item(pairs.table, at), rows, variables.step[i], source, source_width, target, width)


@part(_nrt=False)
def fetch(layout: Layout, memory: Memory, pricing: bool, at: int) -> None:
    """Fetch what is needed some places after `at`: memory answers late, but many requests at once."""
    prefetch_early(memory.v2f, UNIT * item(layout.pairs.source, at + EARLY))
    fetch_table(layout, at)
    if pricing:
        fetch_value(layout, memory, at)


@array_inner
def hear_pairs(layout: Layout, v2f: Any, f2v: Any, nearer: int, lanes: Lanes, i: int) -> None:
    """f2v messages to a variable from its factors of arity 2, written `nearer` to the start than in a full `f2v`.

    ``f2v_i(x_i) = min over x_j of T(x_i, x_j) + v2f_j(x_j)``. Every table is stored in both orientations, so that
    each minimum runs down columns in whole vectors.
    """
    variables, pairs, copies = layout.variables, layout.pairs, layout.many.message.shape[1]
    for at in range(variables.edge_start[i] // copies, variables.edge_start[i + 1] // copies):
        if len(v2f) > NEAR:
            prefetch_early(v2f, UNIT * item(pairs.source, at + EARLY))
            fetch_table(layout, at)
        else:
            prefetch(v2f, UNIT * item(pairs.source, at + AHEAD))
        if item(pairs.table, at) >= 0:
            passage = passage_at(layout, i, at, 0, lanes)
            if copies == 2:
                _send_both(layout, v2f, f2v, passage, nearer, lanes)
            else:
                _send(layout, v2f, f2v, passage, nearer, lanes)


@inline_kernel
def _send(layout: Layout, v2f: Any, f2v: Any, passage: Passage, nearer: int, lanes: Lanes) -> None:
    """One message."""
    tables = layout.tables
    for block in range(0, passage.width, len(lanes)):
        place = passage.table + block
        message = load(tables, place, lanes) + splat(v2f, passage.source, lanes)
        for row in range(1, passage.rows):
            costs = load(tables, place + row * passage.step, lanes)
            message = minimum(message, costs + splat(v2f, passage.source + row, lanes))
        store(f2v, passage.target - nearer + block, message)


@inline_kernel
def _send_both(layout: Layout, v2f: Any, f2v: Any, passage: Passage, nearer: int, lanes: Lanes) -> None:
    """The messages of both copies of a split factor: each table row is read once for the two."""
    tables = layout.tables
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
        store(f2v, passage.target - nearer + block, message)
        store(f2v, passage.target - nearer + passage.width + block, other)


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
                next_row(layout, factor, values)


@part(_nrt=False)
def next_row(layout: Layout, factor: int, values: Any) -> None:
    """Step `values` to the next row of a factor's table, the last variable but one fastest."""
    many = layout.many
    first = many.start[factor]
    k = many.start[factor + 1] - 2
    while k >= first:
        values[k - first] += 1
        if values[k - first] < many.domain[k]:
            break
        values[k - first] = 0
        k -= 1


@array_kernel
def update_variables(
    layout: Layout, memory: Memory, gain: Any, pricing: bool, lanes: Lanes, start: int, stop: int
) -> tuple[float, int, float]:
    """Beliefs, values and the next v2f messages of a range of variables.

    If `memory.fused`, the f2v messages of pairs are made on the way. The belief is ``b_i = unary_i + H_i + Σ f2v``
    and the decoded value its first minimum. With λ the damping of the edge, ``v2f ← λ v2f + (1 − λ)(b_i − f2v)``,
    shifted to minimum 0. The field of reinforced BP becomes ``H_i = gain · (b_i − min b_i)``; a negative `gain` leaves
    it as it is.

    Returns
    -------
    The largest change of a v2f message; how many variables moved to another value, which `memory.moved` marks; and,
    with `pricing`, the cost of the factors of arity 2 inside the range.
    """
    variables = layout.variables
    zero = full_like(0.0, load(variables.unary, 0, lanes))
    change = zero
    changed = 0
    cost = 0.0
    for i in range(start, stop):
        if item(variables.unary_start, i + 1) - item(variables.unary_start, i) == len(lanes):
            value, change = _update_narrow(layout, memory, gain, pricing, change, lanes, i)
        else:
            value, change = _update_wide(layout, memory, gain, change, lanes, i)
        memory.moved[i] = memory.assignment[i] != value
        changed += memory.moved[i]
        memory.assignment[i] = value
        if pricing:
            cost += paid(layout, memory, i, value, start)
    return -least(zero - change), changed, cost


@part(_nrt=False)
def _update_narrow(
    layout: Layout, memory: Memory, gain: Any, pricing: bool, change: Any, lanes: Lanes, i: int
) -> tuple[int, Any]:
    """`update_variables` for one variable whose messages take a vector each: its value, and the largest changes."""
    variables, v2f, f2v = layout.variables, memory.v2f, memory.f2v
    made = memory.fresh if memory.fused else v2f
    copies = layout.many.message.shape[1]
    place, message, width = item(variables.unary_start, i), item(variables.message_start, i), len(lanes)
    edge, last = item(variables.edge_start, i), item(variables.edge_start, i + 1)
    mask = load(variables.mask, place, lanes)
    belief = load(variables.unary, place, lanes) + load(memory.field, place, lanes)
    scale, other_scale = splat(variables.scales, 0, lanes), splat(variables.scales, 1, lanes)
    heard = message if memory.f2v_of_all else 0
    far = memory.fused and len(v2f) > NEAR
    for at in range(edge // copies, last // copies):
        if far:
            fetch(layout, memory, pricing, at)
        else:
            prefetch(v2f, UNIT * item(layout.pairs.source, at + AHEAD))
        first, second = _heard(layout, memory, heard, lanes, i, at)
        belief = belief + scale * first
        if copies == 2:
            belief = belief + other_scale * second
        heard += copies * width
    low = least(belief)
    if gain >= 0:
        store(memory.field, place, full_like(gain, mask) * mask * (belief - full_like(low, mask)))
    heard = message if memory.f2v_of_all else 0
    while edge < last:
        for copy in range(copies):
            own = splat(variables.scales, copy, lanes)
            kept = item(memory.damping, edge)
            share = full_like((1 - kept) * variables.inverse[copy], mask)
            old = load(v2f, message, lanes)
            new = full_like(kept, mask) * old + share * (belief - own * load(f2v, heard, lanes))
            new = mask * (new - full_like(least(new), mask))
            change = maximum(change, own * maximum(new - old, old - new))
            store(made, message, new)
            edge += 1
            message += width
            heard += width
    return first_equal(belief, low), change


@part(_nrt=False)
def _heard(layout: Layout, memory: Memory, heard: int, lanes: Lanes, i: int, at: int) -> tuple[Any, Any]:
    """The f2v messages of both copies at a place of a variable whose messages take a vector each, kept at `heard`.

    Those of pairs are made here, unless all have been made before. Without copies both are the same.
    """
    pairs, tables, v2f, f2v = layout.pairs, layout.tables, memory.v2f, memory.f2v
    copies = layout.many.message.shape[1]
    table = item(pairs.table, at)
    if table >= 0 and memory.fused:
        source, rows, step = UNIT * item(pairs.source, at), item(pairs.rows, at), item(layout.variables.step, i)
        costs = load(tables, table, lanes)
        first = costs + splat(v2f, source, lanes)
        if copies == 1:
            for row in range(1, rows):
                table += step
                first = minimum(first, load(tables, table, lanes) + splat(v2f, source + row, lanes))
            store(f2v, heard, first)
            return first, first
        other = source + (rows + len(lanes) - 1) // len(lanes) * len(lanes)
        second = costs + splat(v2f, other, lanes)
        for row in range(1, rows):
            table += step
            costs = load(tables, table, lanes)
            first = minimum(first, costs + splat(v2f, source + row, lanes))
            second = minimum(second, costs + splat(v2f, other + row, lanes))
        store(f2v, heard, first)
        store(f2v, heard + len(lanes), second)
        return first, second
    return load(f2v, heard, lanes), load(f2v, heard + (copies - 1) * len(lanes), lanes)


@array_inner
def _update_wide(layout: Layout, memory: Memory, gain: Any, change: Any, lanes: Lanes, i: int) -> tuple[int, Any]:
    """`update_variables` for one variable whose messages take several vectors."""
    variables, v2f, f2v, field, damping = layout.variables, memory.v2f, memory.f2v, memory.field, memory.damping
    place = variables.unary_start[i]
    width = variables.unary_start[i + 1] - place
    target = variables.message_start[i] if memory.f2v_of_all else 0
    if memory.fused:
        hear_pairs(layout, v2f, f2v, variables.message_start[i] - target, lanes, i)
    made = memory.fresh if memory.fused else v2f
    zero = full_like(0.0, change)
    value = 0
    lowest = least(full_like(PADDING, zero))
    # The belief is gathered twice, for its minimum and block by block for the messages: it need not be stored.
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, memory, target, lanes, i, block)
        low = least(belief)
        if low < lowest:
            lowest = low
            value = block + first_equal(belief, low)
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, memory, target, lanes, i, block)
        message, heard = variables.message_start[i] + block, target + block
        for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
            # The new message takes the place of the f2v message until its minimum is known.
            own = splat(variables.edge_scale, edge, lanes) * load(f2v, heard, lanes)
            share = full_like((1 - damping[edge]) / variables.edge_scale[edge], zero)
            store(f2v, heard, splat(damping, edge, lanes) * load(v2f, message, lanes) + share * (belief - own))
            message += width
            heard += width
        if gain >= 0:
            mask = load(variables.mask, place + block, lanes)
            store(field, place + block, full_like(gain, zero) * mask * (belief - full_like(lowest, zero)))
    message, heard = variables.message_start[i], target
    for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
        smallest = load(f2v, heard, lanes)
        for block in range(len(lanes), width, len(lanes)):
            smallest = minimum(smallest, load(f2v, heard + block, lanes))
        shift = full_like(least(smallest), zero)
        for block in range(0, width, len(lanes)):
            old = load(v2f, message + block, lanes)
            new = load(variables.mask, place + block, lanes) * (load(f2v, heard + block, lanes) - shift)
            change = maximum(change, splat(variables.edge_scale, edge, lanes) * maximum(new - old, old - new))
            store(made, message + block, new)
        message += width
        heard += width
    return value, change


@array_inner
def _belief(layout: Layout, memory: Memory, target: int, lanes: Lanes, i: int, block: int) -> Any:
    """One vector of a belief, from `block` on."""
    variables = layout.variables
    place = variables.unary_start[i] + block
    width = variables.unary_start[i + 1] - variables.unary_start[i]
    belief = load(variables.unary, place, lanes) + load(memory.field, place, lanes)
    heard = target + block
    for edge in range(variables.edge_start[i], variables.edge_start[i + 1]):
        belief = belief + splat(variables.edge_scale, edge, lanes) * load(memory.f2v, heard, lanes)
        heard += width
    return belief

# mypy: disable-error-code="untyped-decorator"
"""Min-sum message passing (paper Eq. 2-5), compiled.

For variable i with factors f, copies of split factors counted, scale s_f and damping λ_f:

    f2v_f(x) = min over x_j of T_f(x, x_j) + v2f_j(x_j)                   (Eq. 3: `pair_minimum`, `send_rows`)
    b(x)     = unary(x) + H(x) + Σ_f s_f f2v_f(x)                         (Eq. 4), value = first minimum of b
    v2f_f(x) = λ_f v2f_f(x) + (1 − λ_f) (b(x) / s_f − f2v_f(x)), shifted to minimum 0   (Eq. 2)
    H(x)     = gain · (b(x) − min b)                                      reinforcement

Each function works on a range, writes only its own part and returns numbers that do not depend on how the whole was
cut into ranges, so any number of threads gives the same result, bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dabp.kernels.belief_propagation.message_arrays import (
    AHEAD,
    EARLY,
    EARLY_TABLES,
    NEAR,
    PADDING,
    UNIT,
    Layout,
    Memory,
)
from dabp.kernels.decorators import array_inner, array_kernel, part
from dabp.kernels.pair_minimum import pair_minima, pair_minimum
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
    sum_of,
)
from dabp.kernels.simd_functions import logarithm, power_or_zero


class Passage(NamedTuple):
    """One message of a factor of arity 2: the rows of a table that it is made from, and its positions."""

    table: int
    """Position of the table's first row; lanes run over the values of the receiver."""
    rows: int
    """The number of values of the sender."""
    step: int
    """Distance between rows."""
    source: int
    """Position of the v2f message of the sender."""
    target: int
    """Position of the f2v message to the receiver."""
    width: int
    """Padded length of the f2v message."""


@array_inner
def passage_at(layout: Layout, i: int, at: int, copy: int, lanes: Lanes) -> Passage:
    """The message of a copy of the factor at place `at` of the pairs to variable `i`."""
    variables, pairs, copies = layout.variables, layout.pairs, layout.many.message.shape[1]
    rows, width = item(pairs.rows, at), variables.unary_start[i + 1] - variables.unary_start[i]
    source = UNIT * item(pairs.source, at) + copy * (-(-rows // len(lanes)) * len(lanes))
    target = variables.message_start[i] + (copies * at + copy - variables.edge_start[i]) * width
    return Passage(item(pairs.table, at), rows, variables.step[i], source, target, width)


@part(_nrt=False)
def fetch(layout: Layout, messages: Any, tables: Any, at: int) -> None:
    """Fetch the message and the table of a place some places after `at`, as memory answers late."""
    pairs = layout.pairs
    if len(messages) <= NEAR:
        prefetch(messages, UNIT * item(pairs.source, at + AHEAD))
        return
    prefetch_early(messages, UNIT * item(pairs.source, at + EARLY))
    if len(tables) > NEAR:
        table = item(pairs.table, at + EARLY_TABLES)
        prefetch_early(tables, table)
        prefetch_early(tables, table + 16)  # the next cache line


@array_inner
def receive_pairs(layout: Layout, v2f: Any, f2v: Any, before: int, lanes: Lanes, i: int) -> None:
    """f2v messages to a variable from its factors of arity 2, `before` positions before their place in a full `f2v`.

    Every table is stored in both orientations, so that each minimum runs down columns in whole vectors.
    """
    variables, copies = layout.variables, layout.many.message.shape[1]
    for at in range(variables.edge_start[i] // copies, variables.edge_start[i + 1] // copies):
        fetch(layout, v2f, layout.tables, at)
        for copy in range(copies if item(layout.pairs.table, at) >= 0 else 0):
            p = passage_at(layout, i, at, copy, lanes)
            for block in range(0, p.width, len(lanes)):
                message = pair_minimum(layout.tables, p.table + block, p.step, v2f, p.source, p.rows, lanes)
                store(f2v, p.target - before + block, message)


@array_kernel
def send_many(layout: Layout, memory: Memory, values: Any, lanes: Lanes, start: int, stop: int) -> None:
    """f2v messages of factors of higher arity."""
    for factor in range(start, stop):
        for copy in range(layout.many.message.shape[1]):
            send_rows(layout, memory, factor, copy, None, values, lanes)


@array_inner
def send_rows(layout: Layout, memory: Memory, factor: int, copy: int, c: Any, values: Any, lanes: Lanes) -> None:
    """All f2v messages of a factor of higher arity in one pass over its table: minima, or `soft_minimum` at c.

    A row of the table has fixed `values` of all variables but the last, whose values are the lanes.
    """
    many, v2f, f2v = layout.many, memory.v2f, memory.f2v
    first, last = many.start[factor], many.start[factor + 1] - 1
    width = -(-many.domain[last] // len(lanes)) * len(lanes)
    to_last, table, rows = many.message[last, copy], many.table[factor], 1
    nothing = full_like(PADDING, load(v2f, to_last, lanes))
    for k in range(first, last):
        values[k - first] = 0
        rows *= many.domain[k]
        for x in range(many.domain[k]):
            f2v[many.message[k, copy] + x] = PADDING
    for block in range(0, width, len(lanes)):
        store(f2v, to_last + block, nothing)
    for _ in range(rows):
        base = v2f[many.message[first, copy] + values[0]]
        for k in range(first + 1, last):
            base += v2f[many.message[k, copy] + values[k - first]]
        whole = nothing
        for block in range(0, width, len(lanes)):
            costs = load(layout.tables, table + block, lanes)
            whole = soft_minimum(whole, costs + load(v2f, to_last + block, lanes), c)
            old = load(f2v, to_last + block, lanes)
            store(f2v, to_last + block, soft_minimum(old, costs + full_like(base, costs), c))
        row_cost = soft_least(whole, c)
        for k in range(first, last):
            # Summed again without k: base minus its own message would lose digits beside a forbidden cell.
            rest = row_cost
            for other in range(first, last):
                if other != k:
                    rest += v2f[many.message[other, copy] + values[other - first]]
            place = many.message[k, copy] + values[k - first]
            if c is None:
                f2v[place] = min(f2v[place], rest)
            else:
                f2v[place] = least(soft_minimum(splat(f2v, place, lanes), full_like(rest, nothing), c))
        table += width
        next_row(layout, factor, values)


@part(_nrt=False)
def soft_minimum(a: Any, b: Any, c: Any) -> Any:
    """``−1/c log₂(2^(−ca) + 2^(−cb))`` for each lane; without c the minimum, its limit."""
    if c is None:
        return minimum(a, b)
    high, low = maximum(a, b), minimum(a, b)
    over = power_or_zero(full_like(c, a) * (low - high))
    return low - full_like(1.0 / c, a) * logarithm(full_like(1.0, a) + over)


@part(_nrt=False)
def soft_least(a: Any, c: Any) -> Any:
    """`soft_minimum` of all lanes, as a number."""
    if c is None:
        return least(a)
    low = full_like(least(a), a)
    sums = full_like(sum_of(power_or_zero(full_like(c, low) * (low - a))), low)
    return least(low - full_like(1.0 / c, low) * logarithm(sums))


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
    layout: Layout, memory: Memory, gain: Any, lanes: Lanes, start: int, stop: int
) -> tuple[float, int]:
    """Beliefs, values and the next v2f messages of a range of variables.

    If `memory.fused`, the f2v messages of pairs are made on the way. A negative `gain` leaves the field as it is.

    Returns
    -------
    The largest change of a v2f message, and how many variables changed their value, which `memory.moved` marks.
    """
    variables = layout.variables
    zero = full_like(0.0, load(variables.unary, 0, lanes))
    change = zero
    changed = 0
    for i in range(start, stop):
        if item(variables.unary_start, i + 1) - item(variables.unary_start, i) == len(lanes):
            value, change = _update_narrow(layout, memory, gain, change, lanes, i)
        else:
            value, change = _update_wide(layout, memory, gain, change, lanes, i)
        memory.moved[i] = memory.assignment[i] != value
        changed += memory.moved[i]
        memory.assignment[i] = value
    return -least(zero - change), changed


@part(_nrt=False)
def _update_narrow(layout: Layout, memory: Memory, gain: Any, change: Any, lanes: Lanes, i: int) -> tuple[int, Any]:
    """`update_variables` for one variable whose messages take a vector each: its value, and the largest changes."""
    variables, pairs, v2f, f2v = layout.variables, layout.pairs, memory.v2f, memory.f2v
    copies, width = layout.many.message.shape[1], len(lanes)
    place, step = item(variables.unary_start, i), item(variables.step, i)
    edge, last = item(variables.edge_start, i), item(variables.edge_start, i + 1)
    outgoing = item(variables.message_start, i)
    incoming = first = outgoing if memory.f2v_of_all else 0
    belief = load(variables.unary, place, lanes) + load(memory.field, place, lanes)
    for at in range(edge // copies, last // copies):
        table, rows, source = item(pairs.table, at), item(pairs.rows, at), UNIT * item(pairs.source, at)
        if memory.fused:
            fetch(layout, v2f, layout.tables, at)
        if not memory.fused or table < 0:
            message, other = load(f2v, incoming, lanes), load(f2v, incoming + (copies - 1) * width, lanes)
        elif copies == 1:
            message = other = pair_minimum(layout.tables, table, step, v2f, source, rows, lanes)
        else:
            second = source + (rows + width - 1) // width * width
            message, other = pair_minima(layout.tables, table, step, v2f, source, second, rows, lanes)
        store(f2v, incoming, message)
        belief = belief + splat(variables.scales, 0, lanes) * message
        if copies == 2:
            store(f2v, incoming + width, other)
            belief = belief + splat(variables.scales, 1, lanes) * other
        incoming += copies * width
    low, mask = least(belief), load(variables.mask, place, lanes)
    if gain >= 0:
        store(memory.field, place, full_like(gain, mask) * mask * (belief - full_like(low, mask)))
    incoming = first
    target = memory.fresh if memory.fused else v2f
    while edge < last:
        for copy in range(copies):
            scale, damping = splat(variables.scales, copy, lanes), item(memory.damping, edge)
            share = full_like((1 - damping) * variables.inverse[copy], mask)
            old = load(v2f, outgoing, lanes)
            new = full_like(damping, mask) * old + share * (belief - scale * load(f2v, incoming, lanes))
            new = mask * (new - full_like(least(new), mask))
            change = maximum(change, scale * maximum(new - old, old - new))
            store(target, outgoing, new)
            edge += 1
            outgoing += width
            incoming += width
    return first_equal(belief, low), change


@array_inner
def _update_wide(layout: Layout, memory: Memory, gain: Any, change: Any, lanes: Lanes, i: int) -> tuple[int, Any]:
    """`update_variables` for one variable whose messages take several vectors."""
    variables, v2f, f2v, field, damping = layout.variables, memory.v2f, memory.f2v, memory.field, memory.damping
    place = variables.unary_start[i]
    width = variables.unary_start[i + 1] - place
    first, last = variables.edge_start[i], variables.edge_start[i + 1]
    target = variables.message_start[i] if memory.f2v_of_all else 0
    if memory.fused:
        receive_pairs(layout, v2f, f2v, variables.message_start[i] - target, lanes, i)
    made = memory.fresh if memory.fused else v2f
    zero = full_like(0.0, change)
    value = 0
    lowest = least(full_like(PADDING, zero))
    # The belief is summed twice, for its minimum and for the messages, rather than stored.
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, memory, target, lanes, i, block)
        low = least(belief)
        if low < lowest:
            lowest = low
            value = block + first_equal(belief, low)
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, memory, target, lanes, i, block)
        message, incoming = variables.message_start[i] + block, target + block
        for edge in range(first, last):
            # The new message takes the place of the f2v message until its minimum is known.
            own = splat(variables.scales, (edge - first) & 1, lanes) * load(f2v, incoming, lanes)
            share = full_like((1 - damping[edge]) / variables.scales[(edge - first) & 1], zero)
            store(f2v, incoming, splat(damping, edge, lanes) * load(v2f, message, lanes) + share * (belief - own))
            message += width
            incoming += width
        if gain >= 0:
            mask = load(variables.mask, place + block, lanes)
            store(field, place + block, full_like(gain, zero) * mask * (belief - full_like(lowest, zero)))
    message, incoming = variables.message_start[i], target
    for edge in range(first, last):
        smallest = load(f2v, incoming, lanes)
        for block in range(len(lanes), width, len(lanes)):
            smallest = minimum(smallest, load(f2v, incoming + block, lanes))
        shift = full_like(least(smallest), zero)
        for block in range(0, width, len(lanes)):
            old = load(v2f, message + block, lanes)
            new = load(variables.mask, place + block, lanes) * (load(f2v, incoming + block, lanes) - shift)
            change = maximum(change, splat(variables.scales, (edge - first) & 1, lanes) * maximum(new - old, old - new))
            store(made, message + block, new)
        message += width
        incoming += width
    return value, change


@array_inner
def _belief(layout: Layout, memory: Memory, target: int, lanes: Lanes, i: int, block: int) -> Any:
    """The vector of a belief at `block`."""
    variables = layout.variables
    place = variables.unary_start[i] + block
    width = variables.unary_start[i + 1] - variables.unary_start[i]
    belief = load(variables.unary, place, lanes) + load(memory.field, place, lanes)
    incoming, first = target + block, variables.edge_start[i]
    for edge in range(first, variables.edge_start[i + 1]):
        belief = belief + splat(variables.scales, (edge - first) & 1, lanes) * load(memory.f2v, incoming, lanes)
        incoming += width
    return belief

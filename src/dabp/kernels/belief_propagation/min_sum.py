"""Min-sum message passing, compiled: the f2v messages, then beliefs, values and v2f messages (paper Eq. 2-5).

Each function works on a range, writes only its own part and returns numbers that do not depend on how the whole was
cut into ranges; that is why any number of threads gives the same result, bit for bit.
"""

from __future__ import annotations

from typing import Any

from dabp.kernels.belief_propagation.layout import PADDING, Layout, Reals
from dabp.kernels.decorators import array_kernel, inline_kernel
from dabp.kernels.simd import Lanes, first_equal, full_like, least, load, maximum, minimum, prefetch, splat, store

AHEAD = 8
"""How many factors ahead messages are fetched from memory."""


@array_kernel
def send_pairs(layout: Layout, v2f: Reals, f2v: Reals, lanes: Lanes, start: int, stop: int) -> None:
    """f2v messages of factors of arity 2: ``f2v_j(x_j) = min over x_i of T(x_i, x_j) + v2f_i(x_i)``.

    Every table is there in both orientations, so that each minimum runs down columns in whole vectors.
    """
    tables = layout.tables
    split = layout.many_message.shape[1] == 2
    for group in range(len(layout.pair_groups)):
        begin, end, domain_0, domain_1, width_0, width_1, step_0, step_1 = layout.pair_groups[group]
        for factor in range(max(begin, start), min(end, stop)):
            ahead = min(factor + AHEAD, end - 1)
            for side in range(2):
                prefetch(v2f, layout.pair_message[ahead, side])
                prefetch(f2v, layout.pair_message[ahead, side])
            first, second = layout.pair_message[factor, 0], layout.pair_message[factor, 1]
            table = layout.pair_table[factor]
            if split:
                _send_both(tables, table, domain_1, step_0, v2f, second, width_1, f2v, first, width_0, lanes)
                table += domain_1 * step_0
                _send_both(tables, table, domain_0, step_1, v2f, first, width_0, f2v, second, width_1, lanes)
            else:
                _send(tables, table, domain_1, step_0, v2f, second, f2v, first, width_0, lanes)
                table += domain_1 * step_0
                _send(tables, table, domain_0, step_1, v2f, first, f2v, second, width_1, lanes)


@inline_kernel
def _send(
    tables: Reals, table: int, rows: int, step: int, v2f: Reals, source: int, f2v: Reals, target: int, width: int,
    lanes: Lanes,
) -> None:  # fmt: skip
    """One message from `source` to `target`."""
    for block in range(0, width, len(lanes)):
        message = load(tables, table + block, lanes) + splat(v2f, source, lanes)
        for row in range(1, rows):
            costs = load(tables, table + block + row * step, lanes)
            message = minimum(message, costs + splat(v2f, source + row, lanes))
        store(f2v, target + block, message)


@inline_kernel
def _send_both(
    tables: Reals, table: int, rows: int, step: int, v2f: Reals, source: int, source_width: int, f2v: Reals,
    target: int, width: int, lanes: Lanes,
) -> None:  # fmt: skip
    """The messages of both copies of a split factor: one look at the table serves the two."""
    for block in range(0, width, len(lanes)):
        costs = load(tables, table + block, lanes)
        message = costs + splat(v2f, source, lanes)
        other = costs + splat(v2f, source + source_width, lanes)
        for row in range(1, rows):
            costs = load(tables, table + block + row * step, lanes)
            message = minimum(message, costs + splat(v2f, source + row, lanes))
            other = minimum(other, costs + splat(v2f, source + source_width + row, lanes))
        store(f2v, target + block, message)
        store(f2v, target + width + block, other)


@array_kernel
def send_many(layout: Layout, v2f: Reals, f2v: Reals, values: Any, lanes: Lanes, start: int, stop: int) -> None:
    """f2v messages of factors of higher arity, in one pass over the table.

    A row of the table has fixed `values` of all variables but the last, whose values are the lanes.
    """
    for factor in range(start, stop):
        first, last = layout.many_start[factor], layout.many_start[factor + 1] - 1
        width = -(-layout.many_domain[last] // len(lanes)) * len(lanes)
        rows = 1
        for k in range(first, last):
            rows *= layout.many_domain[k]
        for copy in range(layout.many_message.shape[1]):
            from_last = layout.many_message[last, copy]
            nothing = full_like(PADDING, load(v2f, from_last, lanes))
            for k in range(first, last):
                values[k - first] = 0
                for x in range(layout.many_domain[k]):
                    f2v[layout.many_message[k, copy] + x] = PADDING
            for block in range(0, width, len(lanes)):
                store(f2v, from_last + block, nothing)
            table = layout.many_table[factor]
            for _ in range(rows):
                base = v2f[layout.many_message[first, copy] + values[0]]
                for k in range(first + 1, last):
                    base += v2f[layout.many_message[k, copy] + values[k - first]]
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
                            rest += v2f[layout.many_message[other, copy] + values[other - first]]
                    place = layout.many_message[k, copy] + values[k - first]
                    f2v[place] = min(f2v[place], rest)
                table += width
                k = last - 1
                while k >= first:
                    values[k - first] += 1
                    if values[k - first] < layout.many_domain[k]:
                        break
                    values[k - first] = 0
                    k -= 1


@array_kernel
def update_variables(
    layout: Layout,
    v2f: Reals,
    f2v: Reals,
    field: Reals,
    damping: Reals,
    gain: Any,
    assignment: Any,
    moved: Any,
    lanes: Lanes,
    start: int,
    stop: int,
) -> tuple[float, int]:
    """Beliefs, values and v2f messages of a range of variables.

    The belief is ``b_i = unary_i + H_i + Σ f2v`` and the decoded value its first minimum. With λ the damping of the
    edge, ``v2f ← λ v2f + (1 − λ)(b_i − f2v)``, shifted to minimum 0. The field of reinforced BP becomes
    ``H_i = gain · (b_i − min b_i)``; a negative `gain` leaves it as it is.

    Returns
    -------
    The largest change of a v2f message, and how many variables moved to another value, which `moved` marks.
    """
    zero = full_like(0.0, load(layout.unary, 0, lanes))
    change = zero
    changed = 0
    for i in range(start, stop):
        place = layout.unary_start[i]
        width = layout.unary_start[i + 1] - place
        if width == len(lanes):
            mask = load(layout.mask, place, lanes)
            belief = load(layout.unary, place, lanes) + load(field, place, lanes)
            message = layout.message_start[i]
            for edge in range(layout.edge_start[i], layout.edge_start[i + 1]):
                belief = belief + splat(layout.edge_scale, edge, lanes) * load(f2v, message, lanes)
                message += width
            low = least(belief)
            value = first_equal(belief, low)
            if gain >= 0:
                store(field, place, full_like(gain, zero) * mask * (belief - full_like(low, zero)))
            message = layout.message_start[i]
            for edge in range(layout.edge_start[i], layout.edge_start[i + 1]):
                scale = splat(layout.edge_scale, edge, lanes)
                kept = splat(damping, edge, lanes)
                fresh = full_like((1 - damping[edge]) / layout.edge_scale[edge], zero)
                old = load(v2f, message, lanes)
                new = kept * old + fresh * (belief - scale * load(f2v, message, lanes))
                new = mask * (new - full_like(least(new), zero))
                change = maximum(change, scale * maximum(new - old, old - new))
                store(v2f, message, new)
                message += width
        else:
            value, wide_change = _update_wide(layout, v2f, f2v, field, damping, gain, lanes, i)
            change = maximum(change, full_like(wide_change, zero))
        moved[i] = assignment[i] != value
        changed += moved[i]
        assignment[i] = value
    return -least(zero - change), changed


@array_kernel
def _update_wide(
    layout: Layout, v2f: Reals, f2v: Reals, field: Reals, damping: Reals, gain: Any, lanes: Lanes, i: int
) -> tuple[int, float]:
    """`update_variables` for one variable whose messages take several vectors."""
    place = layout.unary_start[i]
    width = layout.unary_start[i + 1] - place
    zero = full_like(0.0, load(layout.unary, 0, lanes))
    belief_least = full_like(PADDING, zero)
    change = zero
    value = 0
    lowest = least(belief_least)
    # The belief is gathered twice, for its minimum and block by block for the messages: no room to keep it is needed.
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, f2v, field, lanes, i, block)
        low = least(belief)
        if low < lowest:
            lowest = low
            value = block + first_equal(belief, low)
    for block in range(0, width, len(lanes)):
        belief = _belief(layout, f2v, field, lanes, i, block)
        message = layout.message_start[i] + block
        for edge in range(layout.edge_start[i], layout.edge_start[i + 1]):
            # Where the f2v message lay the new message is kept until its minimum is known.
            own = splat(layout.edge_scale, edge, lanes) * load(f2v, message, lanes)
            fresh = full_like((1 - damping[edge]) / layout.edge_scale[edge], zero)
            store(f2v, message, splat(damping, edge, lanes) * load(v2f, message, lanes) + fresh * (belief - own))
            message += width
        if gain >= 0:
            mask = load(layout.mask, place + block, lanes)
            store(field, place + block, full_like(gain, zero) * mask * (belief - full_like(lowest, zero)))
    message = layout.message_start[i]
    for edge in range(layout.edge_start[i], layout.edge_start[i + 1]):
        smallest = load(f2v, message, lanes)
        for block in range(len(lanes), width, len(lanes)):
            smallest = minimum(smallest, load(f2v, message + block, lanes))
        shift = full_like(least(smallest), zero)
        for block in range(0, width, len(lanes)):
            old = load(v2f, message + block, lanes)
            new = load(layout.mask, place + block, lanes) * (load(f2v, message + block, lanes) - shift)
            change = maximum(change, splat(layout.edge_scale, edge, lanes) * maximum(new - old, old - new))
            store(v2f, message + block, new)
        message += width
    return value, -least(zero - change)


@array_kernel
def _belief(layout: Layout, f2v: Reals, field: Reals, lanes: Lanes, i: int, block: int) -> Any:
    place = layout.unary_start[i] + block
    width = layout.unary_start[i + 1] - layout.unary_start[i]
    belief = load(layout.unary, place, lanes) + load(field, place, lanes)
    message = layout.message_start[i] + block
    for edge in range(layout.edge_start[i], layout.edge_start[i + 1]):
        belief = belief + splat(layout.edge_scale, edge, lanes) * load(f2v, message, lanes)
        message += width
    return belief


@array_kernel
def price_moved(layout: Layout, assignment: Any, moved: Any, priced: Any, start: int, stop: int) -> None:
    """Look up the factors of variables that moved in the problem's own tables; the others cost what they did.

    Two ranges may price the same factor: they write the same number.
    """
    for i in range(start, stop):
        if moved[i]:
            for place in range(layout.factor_start[i], layout.factor_start[i + 1]):
                factor = layout.factor_of[place]
                cell = layout.cost_base[factor]
                for k in range(layout.cost_start[factor], layout.cost_start[factor + 1]):
                    cell += assignment[layout.cost_variable[k]] * layout.cost_stride[k]
                priced[factor] = layout.pool[cell]


@array_kernel
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

# mypy: disable-error-code="untyped-decorator"
"""Iterations at a finite temperature: factor→variable messages are sums of exponentials instead of minima.

At inverse temperature β the message is ``f2v_j(x_j) = −1/β log Σ_{x_i} exp(−β (T(x_i, x_j) + v2f_i(x_i)))``, in
units of cost like the minimum that it approaches as β → ∞. So beliefs, damping and reinforcement are those of
`min_sum`, and nothing has to be rescaled when β changes but the weights exp(−βT), made once for each β.

For pairs the sum is a matrix-vector product of weights. Weights of messages are stored 2^`LIFT` times too large and are
never below 1, so that no product is denormal; a sum below `SMALL` may have lost terms that count, and is computed again
without weights. Exponentials and logarithms are to base 2: costs are multiplied by c = β / ln 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.belief_propagation.iteration import note_cost, price, verdict
from dabp.kernels.belief_propagation.message_arrays import (
    PADDING,
    RUNNING,
    UNIT,
    Ints,
    Layout,
    Memory,
    Reals,
    Rules,
)
from dabp.kernels.belief_propagation.min_sum import (
    Passage,
    fetch,
    next_row,
    passage_at,
    receive_pairs,
    send_many,
    send_rows,
    update_variables,
)
from dabp.kernels.decorators import array_inner, array_kernel, part
from dabp.kernels.pair_minimum import pair_minimum
from dabp.kernels.simd import (
    Lanes,
    any_below,
    full_like,
    item,
    load,
    maximum,
    minimum,
    splat,
    store,
    sum_of,
)
from dabp.kernels.simd_functions import logarithm, power_of_two, power_or_zero

LIFT = 100.0
"""Weights of messages lie between 1 and 2 to this power, those of tables between the least normal number and 1."""

SMALL = 2.0**28
"""A sum above this has lost less than a share of 1 / `SMALL` for each term."""

SOFTEN = 1
"""The stage of an iteration that makes the weights of tables and v2f messages."""
SEND = 2
"""The stage of an iteration that makes f2v messages."""
UPDATE = 4
"""The stage of an iteration that makes beliefs, values and v2f messages."""


class Scratch(NamedTuple):
    """The scratch memory of a thread for one factor of higher arity."""

    values: Ints
    """[largest arity]: the values of a row of its table."""
    sums: NDArray[np.float64]
    """A sum for each value of all variables but the last."""


class Softness(NamedTuple):
    """Weights of messages at a finite temperature."""

    share: NDArray[np.float64]
    """[C]: a copy's share of its table's costs; its messages are stored divided by it, so its β is times it."""
    inverse: NDArray[np.float64]
    """[C]: one over the share."""
    messages: Reals
    """Weights of v2f messages, as those lie in `Memory.v2f`."""
    weights: Reals
    """exp(−β share T) for all tables as they lie in `Layout.tables`; for different shares one after another."""
    start: NDArray[np.int64]
    """[C]: where the weights of a copy start."""


@array_inner
def soften(layout: Layout, soft: Softness, c: float, lanes: Lanes, start: int, stop: int) -> None:
    """Make the weights of a range of the tables, in whole vectors."""
    for copy in range(len(soft.share)):
        if copy > 0 and soft.start[copy] == soft.start[copy - 1]:
            continue
        factor = full_like(-c * soft.share[copy], load(layout.tables, 0, lanes))
        for place in range(start, stop, len(lanes)):
            store(soft.weights, soft.start[copy] + place, power_or_zero(factor * load(layout.tables, place, lanes)))


@array_inner
def weigh(layout: Layout, memory: Memory, soft: Softness, c: float, lanes: Lanes, start: int, stop: int) -> None:
    """Make the weights of the v2f messages of a range of variables.

    In a loop of their own, as they lie in memory: exponentials of single messages would wait for each other.
    """
    variables = layout.variables
    zero = full_like(0.0, load(memory.v2f, 0, lanes))
    lift = full_like(LIFT, zero)
    place = variables.message_start[start]
    if len(soft.share) == 1:
        factor = full_like(-c * soft.share[0], zero)
        for at in range(place, item(variables.message_start, stop), len(lanes)):
            power = lift + factor * load(memory.v2f, at, lanes)
            store(soft.messages, at, power_of_two(maximum(power, zero)))
        return
    for i in range(start, stop):
        width = variables.unary_start[i + 1] - variables.unary_start[i]
        first = variables.edge_start[i]
        for edge in range(first, variables.edge_start[i + 1]):
            factor = full_like(-c * variables.scales[(edge - first) & 1], zero)
            for _ in range(0, width, len(lanes)):
                power = lift + factor * load(memory.v2f, place, lanes)
                store(soft.messages, place, power_of_two(maximum(power, zero)))
                place += len(lanes)


@array_inner
def soft_pairs(layout: Layout, memory: Memory, soft: Softness, c: float, lanes: Lanes, start: int, stop: int) -> None:
    """f2v messages of factors of arity 2 to a range of variables, from the weights of tables and of v2f messages."""
    variables, pairs, copies = layout.variables, layout.pairs, len(soft.share)
    temperature = 1.0 / c
    low = full_like(PADDING, load(memory.v2f, 0, lanes))
    for i in range(start, stop):
        if copies == 1 and item(variables.unary_start, i + 1) - item(variables.unary_start, i) == len(lanes):
            low = minimum(low, _receive_narrow(layout, memory, soft, temperature * soft.inverse[0], lanes, i))
            continue
        for at in range(variables.edge_start[i] // copies, variables.edge_start[i + 1] // copies):
            fetch(layout, soft.messages, soft.weights, at)
            if item(pairs.table, at) >= 0:
                for copy in range(copies):
                    passage = passage_at(layout, i, at, copy, lanes)
                    own = temperature * soft.inverse[copy]
                    low = minimum(low, _send_softly(memory, soft, passage, soft.start[copy], own, lanes))
    if any_below(low, SMALL):
        _mend(layout, memory, soft, c, lanes, start, stop)


@part(_nrt=False)
def _receive_narrow(layout: Layout, memory: Memory, soft: Softness, temperature: float, lanes: Lanes, i: int) -> Any:
    """All messages to a variable whose messages take a vector each, without copies; returns the least of their sums."""
    variables, pairs, weights, messages = layout.variables, layout.pairs, soft.weights, soft.messages
    low = full_like(PADDING, load(weights, 0, lanes))
    lift, scale, zero = full_like(LIFT, low), full_like(temperature, low), full_like(0.0, low)
    first, last = item(variables.edge_start, i), item(variables.edge_start, i + 1)
    step, place = item(variables.step, i), item(variables.message_start, i)
    for at in range(first, last):
        fetch(layout, soft.messages, soft.weights, at)
        table = item(pairs.table, at)
        if table >= 0:
            source = UNIT * item(pairs.source, at)
            end = source + item(pairs.rows, at)
            total, other = zero, zero
            while source + 1 < end:
                total = total + load(weights, table, lanes) * splat(messages, source, lanes)
                other = other + load(weights, table + step, lanes) * splat(messages, source + 1, lanes)
                table += 2 * step
                source += 2
            if source < end:
                total = total + load(weights, table, lanes) * splat(messages, source, lanes)
            total = total + other
            low = minimum(low, total)
            store(memory.f2v, place, scale * (lift - logarithm(total)))
        place += len(lanes)
    return low


@part(_nrt=False)
def _send_softly(
    memory: Memory, soft: Softness, passage: Passage, weights_start: int, temperature: float, lanes: Lanes
) -> Any:
    """One message; returns the least of its sums, lane by lane."""
    low = full_like(PADDING, load(soft.weights, 0, lanes))
    lift = full_like(LIFT, low)
    for block in range(0, passage.width, len(lanes)):
        place = weights_start + passage.table + block
        total = load(soft.weights, place, lanes) * splat(soft.messages, passage.source, lanes)
        for row in range(1, passage.rows):
            weights = load(soft.weights, place + row * passage.step, lanes)
            total = total + weights * splat(soft.messages, passage.source + row, lanes)
        low = minimum(low, total)
        store(memory.f2v, passage.target + block, full_like(temperature, low) * (lift - logarithm(total)))
    return low


@array_inner
def _mend(layout: Layout, memory: Memory, soft: Softness, c: float, lanes: Lanes, start: int, stop: int) -> None:
    """Make messages of factors of arity 2 whose sums were too small with the minimum taken out of the sum."""
    variables, pairs, copies, tables, v2f = layout.variables, layout.pairs, len(soft.share), layout.tables, memory.v2f
    zero = full_like(0.0, load(v2f, 0, lanes))
    for i in range(start, stop):
        for at in range(variables.edge_start[i] // copies, variables.edge_start[i + 1] // copies):
            for copy in range(copies if pairs.table[at] >= 0 else 0):
                own, p = c * soft.share[copy], passage_at(layout, i, at, copy, lanes)
                for block in range(0, p.width, len(lanes)):
                    if not any_below(zero - load(memory.f2v, p.target + block, lanes), (28.0 - LIFT) / own):
                        continue
                    place, total = p.table + block, zero
                    low = pair_minimum(tables, place, p.step, v2f, p.source, p.rows, lanes)
                    for row in range(p.rows):
                        costs = load(tables, place + row * p.step, lanes) + splat(v2f, p.source + row, lanes)
                        total = total + power_or_zero(full_like(-own, low) * (costs - low))
                    store(memory.f2v, p.target + block, low - full_like(1.0 / own, low) * logarithm(total))


@array_inner
def soft_many(
    layout: Layout, memory: Memory, soft: Softness, c: float, scratch: Scratch, lanes: Lanes, start: int, stop: int
) -> None:
    """f2v messages of a range of factors of higher arity, in one pass over the weights of the table.

    A row has fixed values of all variables but the last, whose values are the lanes. It adds the product of its own
    sum with the weights of all others to what each of these is sent, whose own weight is taken out at the end: these
    sums are in double precision, for weights of several messages leave the range of single precision.
    """
    many = layout.many
    for factor in range(start, stop):
        for copy in range(many.message.shape[1]):
            own = c * soft.share[copy]
            if many.start[factor + 1] - many.start[factor] <= 10:  # a product of more weights exceeds float64
                _weigh_rows(layout, memory, soft, factor, copy, scratch, lanes)
                if not _sums_to_messages(layout, memory, soft, factor, copy, own, scratch, lanes):
                    continue
            send_rows(layout, memory, factor, copy, own, scratch.values, lanes)


@array_inner
def _weigh_rows(
    layout: Layout, memory: Memory, soft: Softness, factor: int, copy: int, scratch: Scratch, lanes: Lanes
) -> None:
    """Add each row of a table to the sums: of the last variable in `Memory.f2v`, lifted once, of others in `scratch`.

    Where the weight of a row's values is below one over 2^`LIFT` of the largest, it adds nothing to what the last
    variable is sent unless that is small anyway.
    """
    many, weights, messages, f2v = layout.many, soft.weights, soft.messages, memory.f2v
    first, last = many.start[factor], many.start[factor + 1] - 1
    width, to_last = -(-many.domain[last] // len(lanes)) * len(lanes), many.message[last, copy]
    table, rows, count = soft.start[copy] + many.table[factor], 1, 0
    for k in range(first, last):
        scratch.values[k - first] = 0
        rows *= many.domain[k]
        count += many.domain[k]
    for place in range(count):
        scratch.sums[place] = 0.0
    zero = full_like(0.0, load(f2v, to_last, lanes))
    for block in range(0, width, len(lanes)):
        store(f2v, to_last + block, zero)
    once = 2.0 ** (-LIFT * (last - first - 1))
    for _ in range(rows):
        base = 1.0
        for k in range(first, last):
            base *= messages[many.message[k, copy] + scratch.values[k - first]]
        share, total = full_like(base * once if base * once >= 1.0 else 0.0, zero), zero
        for block in range(0, width, len(lanes)):
            weight = load(weights, table + block, lanes)
            total = total + weight * load(messages, to_last + block, lanes)
            store(f2v, to_last + block, load(f2v, to_last + block, lanes) + weight * share)
        added, place = base * sum_of(total), 0
        for k in range(first, last):
            scratch.sums[place + scratch.values[k - first]] += added
            place += many.domain[k]
        table += width
        next_row(layout, factor, scratch.values)


@array_inner
def _sums_to_messages(
    layout: Layout, memory: Memory, soft: Softness, factor: int, copy: int, c: float, scratch: Scratch, lanes: Lanes
) -> bool:
    """Turn the sums into messages; whether one was too small for its range."""
    many, f2v = layout.many, memory.f2v
    first, last = many.start[factor], many.start[factor + 1] - 1
    once, place = 2.0 ** (-LIFT * (last - first - 1)), 0
    zero = full_like(0.0, load(f2v, many.message[last, copy], lanes))
    lift, scale, low = full_like(LIFT, zero), full_like(1.0 / c, zero), full_like(PADDING, zero)
    for k in range(first, last + 1):
        target, domain = many.message[k, copy], many.domain[k]
        if k < last:
            for x in range(domain):
                f2v[target + x] = scratch.sums[place + x] * once / soft.messages[target + x]
            place += domain
        width = -(-domain // len(lanes)) * len(lanes)
        for x in range(domain, width):  # padding: any sum that is not small will do
            f2v[target + x] = SMALL
        for block in range(0, width, len(lanes)):
            sums = load(f2v, target + block, lanes)
            low = minimum(low, sums)
            store(f2v, target + block, scale * (lift - logarithm(maximum(sums, full_like(1.0, zero)))))
    return bool(any_below(low, SMALL))


class Course(NamedTuple):
    """What changes from iteration to iteration; entry 0 is that of the iteration before the first."""

    beta: NDArray[np.float64]
    """Inverse temperature over ln 2, in scaled units of cost; infinite = min-sum."""
    gain: NDArray[np.float64]
    """Of reinforcement; negative = none."""


class Share(NamedTuple):
    """The ranges of each stage that one thread computes, and its scratch memory."""

    many: tuple[int, int]
    """Factors of arity 3 and more."""
    variables: tuple[int, int]
    numbers: tuple[int, int]
    """Numbers of the tables."""
    scratch: Scratch


@array_kernel
def iterate_softly(
    layout: Layout,
    memory: Memory,
    rules: Rules,
    soft: Softness,
    course: Course,
    share: Share,
    stages: int,
    lanes: Lanes,
    trace: Any,
) -> tuple[int, int]:
    """`iterate` at a finite temperature: iterations until `trace` is full or the rules end them; how many, and why."""
    (first, last), (first_many, last_many) = share.variables, share.many
    for t in range(1, len(trace) + 1):
        c = course.beta[t]
        hard = c == np.inf
        if stages & SOFTEN and not hard:
            if c != course.beta[t - 1]:
                soften(layout, soft, c, lanes, share.numbers[0], share.numbers[1])
            weigh(layout, memory, soft, c, lanes, first, last)
        if stages & SEND and hard:
            for i in range(first, last):
                receive_pairs(layout, memory.v2f, memory.f2v, 0, lanes, i)
            send_many(layout, memory, share.scratch.values, lanes, first_many, last_many)
        elif stages & SEND:
            soft_pairs(layout, memory, soft, c, lanes, first, last)
            soft_many(layout, memory, soft, c, share.scratch, lanes, first_many, last_many)
        if stages & UPDATE:
            memory.progress[0].iterations += 1
            change, changed = update_variables(layout, memory, course.gain[t], lanes, first, last)
            price(layout, memory, changed)
            note_cost(memory, rules, changed)
            trace[t - 1] = memory.progress[0].current
            why = verdict(memory, rules, float(change))
            if why != RUNNING:
                return t, why
    return len(trace), RUNNING

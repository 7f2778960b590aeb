"""The fused iteration of min-sum, again and again until the rules end it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.belief_propagation.layout import ExactCosts, Layout
from dabp.kernels.belief_propagation.meeting import begin_block, end_block
from dabp.kernels.belief_propagation.memory import (
    BEST,
    BEST_AT,
    BEST_OF_START,
    CONVERGED,
    CURRENT,
    ITERATIONS,
    RUNNING,
    SETTLED,
    UNCHANGED,
    Memory,
    Rules,
)
from dabp.kernels.belief_propagation.min_sum import price_moved, send_many, total_of, update_and_price
from dabp.kernels.belief_propagation.pricing import cell_of, price_rest
from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import Lanes, prefetch

FREEZING = 0.3
"""Rate times iterations from which a reinforced start that does not improve has nothing to wait for."""


MANY_CHANGES = 16
"""All factors are priced anew when one in so many variables has changed its value."""
MOST_CHANGE = 4
"""Factors are priced in the updates of variables from when on one in so many has changed, until no longer many do."""
PRICED_TOGETHER = 64
"""How many factors are looked for in memory before the first of them is read."""


@array_kernel
def gain_of(rate: float, iteration: int) -> float:
    """``g_t = 1 − (1 − rate)^t``, or −1 without reinforcement."""
    return 1.0 - (1.0 - rate) ** iteration if rate > 0 else -1.0


@array_kernel
def note_cost(memory: Memory, rules: Rules, changed: int) -> None:
    """Add up the factors' costs if a value changed, and keep the assignment if it is the best."""
    note_total(memory, rules.constant + total_of(memory.priced) if changed else 0.0, changed)


@array_kernel
def note_total(memory: Memory, total: float, changed: int) -> None:
    """Note the assignment's cost, if a value changed, and keep the assignment if it is the best."""
    if changed == 0:
        memory.counts[UNCHANGED] += 1
        return
    memory.counts[UNCHANGED] = 0
    memory.costs[CURRENT] = total
    if total < memory.costs[BEST_OF_START]:
        memory.costs[BEST_OF_START] = total
        memory.counts[BEST_AT] = memory.counts[ITERATIONS]
    if total < memory.costs[BEST]:
        memory.costs[BEST] = total
        for i in range(len(memory.best)):
            memory.best[i] = memory.assignment[i]


@array_kernel
def stays_stale(exact: ExactCosts, pricing: bool, changed: int, variables: int) -> bool:
    """Whether the next iteration prices factors while it updates variables, after one that did so or did not."""
    return exact.unit > 0 and (MANY_CHANGES if pricing else MOST_CHANGE) * changed > variables


@array_kernel
def price_all(exact: ExactCosts, memory: Memory, start: int, stop: int) -> None:
    """Look up a range of factors in the problem's own tables, in their order, which is the order of memory.

    Where many values change this is quicker than `price_moved`, which looks at the factors of each variable that did.
    A cost lies anywhere in its table: a block of them is asked for before the first is read.
    """
    for begin in range(start, stop, PRICED_TOGETHER):
        end = min(begin + PRICED_TOGETHER, stop)
        for factor in range(begin, end):
            cell = cell_of(exact, memory, factor)
            prefetch(exact.pool, cell)
            memory.priced[factor] = cell
        for factor in range(begin, end):
            memory.priced[factor] = exact.pool[int(memory.priced[factor])]


@array_kernel
def verdict(memory: Memory, rules: Rules, change: float) -> int:
    """Whether the run ends here, and why."""
    if change < rules.tolerance:
        return CONVERGED
    if rules.patience > 0 and memory.counts[UNCHANGED] >= rules.patience:
        return SETTLED
    iterations = memory.counts[ITERATIONS]
    # A few variables may flip for ever while the rest is frozen.
    if rules.rate * iterations > FREEZING and iterations > 3 * memory.counts[BEST_AT]:
        return SETTLED
    return RUNNING


@array_kernel
def update_part(
    layout: Layout, memory: Memory, gain: Any, pricing: bool, lanes: Lanes, thread: int, start: int, stop: int
) -> tuple[float, int, float]:
    """`update_and_price` for the part of a thread, one of several; without what `price_across` is left to price."""
    change, changed, cost, shift = 0.0, 0, 0.0, memory.meeting.shift
    low = start
    while low < stop:
        block = low >> shift
        high = min(stop, (block + 1) << shift)
        row = begin_block(memory.meeting, thread, block)
        outcome = update_and_price(layout, memory, gain, pricing, lanes, start, row, low, high)
        end_block(memory.meeting, thread, block)
        change = max(change, float(outcome[0]))
        changed += outcome[1]
        cost += outcome[2]
        low = high
    return change, changed, cost


@array_kernel
def iterate(layout: Layout, memory: Memory, rules: Rules, lanes: Lanes, trace: Any) -> tuple[int, int]:
    """Iterations until `trace` is full of their costs or the rules end the run; how many, and why."""
    first: Any = np.int64(0)  # a literal would have the stages compiled for it, too
    variables, rest = len(layout.variables.domain), len(layout.exact.rest)
    for t in range(len(trace)):
        send_many(layout, memory, memory.values, lanes, first, len(layout.many.table))
        memory.counts[ITERATIONS] += 1
        gain = gain_of(rules.rate, memory.counts[ITERATIONS])
        pricing = memory.stale[0]
        change, changed, cost = update_and_price(layout, memory, gain, pricing, lanes, first, first, first, variables)
        memory = Memory(memory.fresh, memory.v2f, *memory[2:])  # the messages made are those heard next
        many = MANY_CHANGES * changed > variables
        if pricing:
            note_total(memory, rules.constant + cost + price_rest(layout.exact, memory, first, rest), changed)
        if many != pricing:
            price_all(layout.exact, memory, first, len(memory.priced))
        elif changed > 0 and not pricing:
            price_moved(layout.exact, memory, first, variables)
        if not pricing:
            note_cost(memory, rules, changed)
        memory.stale[0] = stays_stale(layout.exact, pricing, changed, variables)
        trace[t] = memory.costs[CURRENT]
        why = verdict(memory, rules, float(change))
        if why != RUNNING:
            return t + 1, why
    return len(trace), RUNNING

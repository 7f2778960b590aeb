"""The iteration of min-sum with the cost of the assignment that it decodes, repeated until the rules end it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.belief_propagation.message_arrays import (
    CONVERGED,
    RUNNING,
    SETTLED,
    ExactCosts,
    Ints,
    Layout,
    Memory,
    Reals,
    Rules,
    Variables,
)
from dabp.kernels.belief_propagation.min_sum import send_many, update_variables
from dabp.kernels.decorators import array_inner, array_kernel
from dabp.kernels.simd import Lanes, prefetch

MANY_CHANGES = 16
"""All factors are priced again if more than 1 / `MANY_CHANGES` of the variables have changed their values."""


@array_kernel
def lean(variables: Variables, assignment: Ints, charge: float, v2f: Reals) -> None:
    """Set v2f messages to `charge` for every value but the assignment's; 0 in padded lanes."""
    for i in range(len(variables.domain)):
        width = variables.unary_start[i + 1] - variables.unary_start[i]
        for message in range(variables.message_start[i], variables.message_start[i + 1], width):
            for value in range(width):
                v2f[message + value] = charge if value < variables.domain[i] else 0.0
            v2f[message + assignment[i]] = 0.0


@array_kernel
def gain_of(rate: float, iteration: int) -> float:
    """``g_t = 1 − (1 − rate)^t``, or −1 without reinforcement."""
    return 1.0 - (1.0 - rate) ** iteration if rate > 0 else -1.0


@array_inner
def _cell_of(exact: ExactCosts, memory: Memory, factor: int) -> int:
    """Position of a factor's exact cost under the assignment."""
    cell = exact.base[factor]
    for k in range(exact.start[factor], exact.start[factor + 1]):
        cell += memory.assignment[exact.variable[k]] * exact.stride[k]
    return int(cell)


@array_kernel
def price_moved(exact: ExactCosts, memory: Memory, start: int, stop: int) -> None:
    """Look up the factors of variables that moved; the others cost what they did.

    Two ranges may price the same factor: they write the same number.
    """
    for i in range(start, stop):
        if memory.moved[i]:
            for place in range(exact.factor_start[i], exact.factor_start[i + 1]):
                factor = exact.factor_of[place]
                memory.priced[factor] = exact.pool[_cell_of(exact, memory, factor)]


@array_kernel
def price_all(exact: ExactCosts, memory: Memory, start: int, stop: int) -> None:
    """Look up a range of factors in their order, which is the order of memory.

    Where many values change this is quicker than `price_moved`.
    """
    for begin in range(start, stop, 64):  # cells are fetched together before the first of them is read
        end = min(begin + 64, stop)
        for factor in range(begin, end):
            cell = _cell_of(exact, memory, factor)
            prefetch(exact.pool, cell)
            memory.priced[factor] = cell
        for factor in range(begin, end):
            memory.priced[factor] = exact.pool[int(memory.priced[factor])]


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


@array_kernel
def price(layout: Layout, memory: Memory, changed: int) -> None:
    """Look up the costs of factors after this number of variables has changed its value."""
    variables: Any = len(layout.variables.domain)
    first: Any = np.int64(0)
    if MANY_CHANGES * changed > variables:
        price_all(layout.exact, memory, first, len(memory.priced))
    elif changed > 0:
        price_moved(layout.exact, memory, first, variables)


@array_kernel
def note_cost(memory: Memory, rules: Rules, changed: int) -> None:
    """Add up the factors' costs if a value changed, and keep the assignment if it is the best."""
    progress = memory.progress[0]
    if changed == 0:
        progress.unchanged += 1
        return
    progress.unchanged = 0
    progress.current = rules.constant + total_of(memory.priced)
    if progress.current < progress.best_of_start:
        progress.best_of_start = progress.current
        progress.best_at = progress.iterations
    if progress.current < progress.best:
        progress.best = progress.current
        for i in range(len(memory.best)):
            memory.best[i] = memory.assignment[i]


@array_kernel
def verdict(memory: Memory, rules: Rules, change: float) -> int:
    """Whether the run ends here, and why."""
    if change < rules.tolerance:
        return CONVERGED
    progress = memory.progress[0]
    if rules.patience > 0 and progress.unchanged >= rules.patience:
        return SETTLED
    # Well into freezing a few variables may flip for ever while the rest is frozen.
    if rules.rate * progress.iterations > 0.3 and progress.iterations > 3 * progress.best_at:
        return SETTLED
    return RUNNING


@array_kernel
def iterate(layout: Layout, memory: Memory, rules: Rules, lanes: Lanes, trace: Any) -> tuple[int, int]:
    """Iterations until `trace` is full of their costs or the rules end the run; how many, and why."""
    first: Any = np.int64(0)  # a literal would be one more type to compile the stages for
    progress = memory.progress[0]
    for t in range(len(trace)):
        send_many(layout, memory, memory.values, lanes, first, len(layout.many.table))
        progress.iterations += 1
        gain = gain_of(rules.rate, progress.iterations)
        change, changed = update_variables(layout, memory, gain, lanes, first, len(layout.variables.domain))
        memory = Memory(memory.fresh, memory.v2f, *memory[2:])  # the next iteration reads the messages made here
        price(layout, memory, changed)
        note_cost(memory, rules, changed)
        trace[t] = progress.current
        why = verdict(memory, rules, float(change))
        if why != RUNNING:
            return t + 1, why
    return len(trace), RUNNING

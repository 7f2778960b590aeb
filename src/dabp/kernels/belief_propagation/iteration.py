"""The fused iteration of min-sum, repeated until the rules end it."""

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
from dabp.kernels.belief_propagation.pricing import price_all, price_moved, price_rest, total_of
from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import Lanes

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


@array_kernel
def note_cost(memory: Memory, rules: Rules, changed: int) -> None:
    """Add up the factors' costs if a value changed, and keep the assignment if it is the best."""
    note_total(memory, rules.constant + total_of(memory.priced) if changed else 0.0, changed)


@array_kernel
def note_total(memory: Memory, total: float, changed: int) -> None:
    """Note the assignment's cost, if a value changed, and keep the assignment if it is the best."""
    progress = memory.progress[0]
    if changed == 0:
        progress.unchanged += 1
        return
    progress.unchanged = 0
    progress.current = total
    if total < progress.best_of_start:
        progress.best_of_start = total
        progress.best_at = progress.iterations
    if total < progress.best:
        progress.best = total
        for i in range(len(memory.best)):
            memory.best[i] = memory.assignment[i]


@array_kernel
def prices_next(exact: ExactCosts, pricing: bool, changed: int, variables: int) -> bool:
    """Whether the next iteration prices factors while it updates variables, after one that did so or did not.

    It begins when more than a quarter of the variables change, and ends below 1 / `MANY_CHANGES` of them.
    """
    return exact.unit > 0 and (MANY_CHANGES if pricing else 4) * changed > variables


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
    variables, rest = len(layout.variables.domain), len(layout.exact.rest)
    progress = memory.progress[0]
    for t in range(len(trace)):
        send_many(layout, memory, memory.values, lanes, first, len(layout.many.table))
        progress.iterations += 1
        gain = gain_of(rules.rate, progress.iterations)
        pricing = progress.pricing != 0
        change, changed, cost = update_variables(layout, memory, gain, pricing, lanes, first, variables)
        memory = Memory(memory.fresh, memory.v2f, *memory[2:])  # the next iteration reads the messages made here
        many = MANY_CHANGES * changed > variables
        if pricing:
            note_total(memory, rules.constant + cost + price_rest(layout.exact, memory, first, rest), changed)
        if many != pricing:
            price_all(layout.exact, memory, first, len(memory.priced))
        elif changed > 0 and not pricing:
            price_moved(layout.exact, memory, first, variables)
        if not pricing:
            note_cost(memory, rules, changed)
        progress.pricing = prices_next(layout.exact, pricing, changed, variables)
        trace[t] = progress.current
        why = verdict(memory, rules, float(change))
        if why != RUNNING:
            return t + 1, why
    return len(trace), RUNNING

# mypy: disable-error-code="untyped-decorator"
"""What an assignment costs, found while its variables are updated, where costs are whole numbers.

A variable's tables have just been read when its value is decoded, so the factors between it and variables decoded
before cost no memory traffic but for their values. Numbers of tables are scaled and in single precision, but
times the scale they lie so near to the whole number they come from that it can be told; and sums of whole numbers do
not depend on their order, hence not on the number of threads.
"""

from __future__ import annotations

from dabp.kernels.belief_propagation.layout import EARLY, EARLY_TABLES, NEAR, ExactCosts, Layout
from dabp.kernels.belief_propagation.meeting import known, strangers
from dabp.kernels.belief_propagation.memory import Memory
from dabp.kernels.decorators import array_inner, array_kernel, part
from dabp.kernels.simd import item, prefetch_early

LINE = 16
"""Numbers of single precision in a cache line."""

LARGEST = 2.0**22
"""Whole numbers below this can be told from single precision."""

_ROUNDING = 1.5 * 2.0**52
"""Added to a number of moderate size and taken off again it leaves the nearest whole number."""


@part(_nrt=False)
def fetch_value(layout: Layout, memory: Memory, at: int) -> None:
    """Ask for the value of the other variable some places after `at`."""
    if len(memory.assignment) > NEAR // 16:
        prefetch_early(memory.assignment, item(layout.pairs.other, at + EARLY))


@part(_nrt=False)
def fetch_table(layout: Layout, at: int) -> None:
    """Ask for the first lines of the table some places after `at`."""
    if len(layout.tables) > NEAR:
        table = item(layout.pairs.table, at + EARLY_TABLES)
        prefetch_early(layout.tables, table)
        prefetch_early(layout.tables, table + LINE)


@part(_nrt=False)
def paid(layout: Layout, memory: Memory, i: int, value: int, least: int, row: int) -> float:
    """Cost of the factors of arity 2 between variable `i` at `value` and those decoded before it.

    Those are the ones from `least` on, which are the same thread's, and what the row of `Meeting.seen` says.
    """
    variables, meeting, copies = layout.variables, memory.meeting, layout.many.message.shape[1]
    first, last = item(variables.edge_start, i) // copies, item(variables.edge_start, i + 1) // copies
    step, cost = item(variables.step, i), 0.0
    if meeting.blocks == 1:
        for at in range(first, last):
            other = item(layout.pairs.other, at)
            cost += _cost_at(layout, memory, at, other, step, value, other < i)
        return cost
    for at in range(first, last):
        other = item(layout.pairs.other, at)
        counted = (other >= least) & (other < i) | known(meeting, row, other)
        cost += _cost_at(layout, memory, at, other, step, value, counted)
    return cost


@part(_nrt=False)
def _cost_at(layout: Layout, memory: Memory, at: int, other: int, step: int, value: int, counted: bool) -> float:
    """What the factor at a place costs with the other variable's value, if it is to be counted."""
    taken = item(memory.assignment, other) * counted  # it may have no value yet
    scaled = layout.exact.unit * item(layout.tables, item(layout.pairs.table, at) + taken * step + value)
    return float((scaled + _ROUNDING - _ROUNDING) * counted)


@array_kernel
def price_across(layout: Layout, memory: Memory, start: int, stop: int) -> float:
    """Cost of the factors between a range of pairs of blocks, those that no thread could price before."""
    pairs, meeting, cost = layout.pairs, memory.meeting, 0.0
    for pair in range(start, stop):
        if strangers(meeting, pair):
            for factor in range(item(meeting.first, pair), item(meeting.first, pair + 1)):
                i, at = item(meeting.variable, factor), item(meeting.place, factor)
                step, value, other = item(layout.variables.step, i), item(memory.assignment, i), item(pairs.other, at)
                cost += _cost_at(layout, memory, at, other, step, value, True)
    return cost


@array_inner
def cell_of(exact: ExactCosts, memory: Memory, factor: int) -> int:
    """Where a factor's exact cost under the assignment stands."""
    cell = exact.base[factor]
    for k in range(exact.start[factor], exact.start[factor + 1]):
        cell += memory.assignment[exact.variable[k]] * exact.stride[k]
    return int(cell)


@array_kernel
def price_rest(exact: ExactCosts, memory: Memory, start: int, stop: int) -> float:
    """Cost of a range of the factors that are not of arity 2."""
    cost = 0.0
    for place in range(start, stop):
        cost += exact.pool[cell_of(exact, memory, exact.rest[place])]
    return cost

# mypy: disable-error-code="untyped-decorator"
"""The cost of an assignment: looked up in the problem's own tables, or found while variables are updated.

The second way is for integer costs. A variable's tables have just been read when its value is decoded, so the factors
between it and variables decoded before cost no memory traffic but for their values. Numbers of tables are scaled and in
single precision, but times the scale they round to the integer they come from; and sums of integers do not depend on
their order, hence not on the number of threads.
"""

from __future__ import annotations

from typing import Any

from dabp.kernels.belief_propagation.message_arrays import EARLY, EARLY_TABLES, NEAR, ExactCosts, Ints, Layout, Memory
from dabp.kernels.decorators import array_inner, array_kernel, part
from dabp.kernels.simd import item, prefetch, prefetch_early

LINE = 16
"""Numbers of single precision in a cache line."""

LARGEST = 2.0**22
"""Integers below this can be recovered from single precision."""

PRICED_TOGETHER = 64
"""Factors whose cells are fetched from memory before the first of them is read."""

_ROUNDING = 1.5 * 2.0**52
"""Added to a number of moderate size and taken off again, it leaves the nearest integer."""


@part(_nrt=False)
def fetch_value(layout: Layout, memory: Memory, at: int) -> None:
    """Fetch the value of the other variable some places after `at`."""
    if len(memory.assignment) > NEAR // 16:
        prefetch_early(memory.assignment, item(layout.pairs.other, at + EARLY))


@part(_nrt=False)
def fetch_table(layout: Layout, at: int) -> None:
    """Fetch the first lines of the table some places after `at`."""
    if len(layout.tables) > NEAR:
        table = item(layout.pairs.table, at + EARLY_TABLES)
        prefetch_early(layout.tables, table)
        prefetch_early(layout.tables, table + LINE)


@part(_nrt=False)
def paid(layout: Layout, memory: Memory, i: int, value: int, first: int) -> float:
    """Cost of the factors of arity 2 between variable `i` at `value` and the variables ``first … i − 1``."""
    variables, copies = layout.variables, layout.many.message.shape[1]
    step, cost = item(variables.step, i), 0.0
    for at in range(item(variables.edge_start, i) // copies, item(variables.edge_start, i + 1) // copies):
        other = item(layout.pairs.other, at)
        cost += _cost_at(layout, memory, at, other, step, value, (other >= first) & (other < i))
    return cost


@part(_nrt=False)
def _cost_at(layout: Layout, memory: Memory, at: int, other: int, step: int, value: int, counted: bool) -> float:
    """Cost of the factor at a place given the other variable's value, 0 unless it is to be counted."""
    taken = item(memory.assignment, other) * counted  # it may have no value yet
    scaled = layout.exact.unit * item(layout.tables, item(layout.pairs.table, at) + taken * step + value)
    return float((scaled + _ROUNDING - _ROUNDING) * counted)


@array_kernel
def price_across(layout: Layout, memory: Memory, variable: Ints, place: Ints, start: int, stop: int) -> float:
    """Cost of a range of factors of arity 2, each given by a variable and a place of it."""
    cost = 0.0
    for k in range(start, stop):
        i, at = variable[k], place[k]
        step, value, other = item(layout.variables.step, i), item(memory.assignment, i), item(layout.pairs.other, at)
        cost += _cost_at(layout, memory, at, other, step, value, True)
    return cost


@array_inner
def _cell_of(exact: ExactCosts, memory: Memory, factor: int) -> int:
    """Position of a factor's exact cost under the assignment."""
    cell = exact.base[factor]
    for k in range(exact.start[factor], exact.start[factor + 1]):
        cell += memory.assignment[exact.variable[k]] * exact.stride[k]
    return int(cell)


@array_kernel
def price_rest(exact: ExactCosts, memory: Memory, start: int, stop: int) -> float:
    """Cost of a range of the factors that are not of arity 2."""
    cost = 0.0
    for place in range(start, stop):
        cost += exact.pool[_cell_of(exact, memory, exact.rest[place])]
    return cost


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

    Where many values change this is quicker than `price_moved`, which looks at the factors of each variable that did.
    """
    for begin in range(start, stop, PRICED_TOGETHER):
        end = min(begin + PRICED_TOGETHER, stop)
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

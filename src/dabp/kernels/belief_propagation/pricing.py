# mypy: disable-error-code="untyped-decorator"
"""The cost of an assignment: looked up in the problem's own tables, or found while variables are updated.

The second way is for integer costs. The update of a variable has just read its tables, so pricing the factors to
variables decoded before adds little memory traffic. Tables hold scaled numbers in single precision, which times the
scale round to the original integers. Sums of integers do not depend on their order, hence not on the threads.
"""

from __future__ import annotations

from typing import Any

from dabp.kernels.belief_propagation.message_arrays import EARLY, NEAR, ExactCosts, Ints, Layout, Memory
from dabp.kernels.decorators import array_inner, array_kernel, part
from dabp.kernels.simd import item, prefetch, prefetch_early

LARGEST = 2.0**22
"""Integers below this can be recovered from single precision."""


@part(_nrt=False)
def fetch_value(layout: Layout, memory: Memory, at: int) -> None:
    """Fetch the value of the other variable some places after `at`."""
    if len(memory.assignment) > NEAR // 16:
        prefetch_early(memory.assignment, item(layout.pairs.other, at + EARLY))


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
    rounding = 1.5 * 2.0**52  # added and taken off again it leaves the nearest integer
    return float((scaled + rounding - rounding) * counted)


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

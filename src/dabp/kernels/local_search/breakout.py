"""Rounds of GDBA: a variable that cannot improve raises the modifiers of its violated factors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.elimination.free_set import Columns
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.distributed import cost_of_round, wins
from dabp.kernels.local_search.moves import move_now
from dabp.kernels.local_search.random_stream import below
from dabp.kernels.local_search.search_arrays import Costs, Floats, Ints, State


class Breakout(NamedTuple):
    """Factors of two or more variables as GDBA reads them; F factors, E entries."""

    entries: Columns
    zero: Floats  # the cost in each factor's table that counts as 0 where costs are multiplied, [F]
    cells: Floats  # base costs in units; forbidden combinations have a large one
    violated: NDArray[np.bool_]  # whether each cell counts as a violation of its factor
    modifier_at: Ints  # where the modifiers of each entry's variable begin, [E]
    modifier: Floats
    position: Ints  # the cell of each factor's table that the assignment chooses, [F]
    effective: Floats  # workspace for the effective costs of one variable's values


class Rules(NamedTuple):
    """How modifiers of violated factors are applied and raised."""

    multiply: bool  # whether a cost is multiplied by its modifier, else the modifier is added
    increment: float  # what a modifier grows by
    by_own: bool  # whether each value of the variable has modifiers of its own
    by_others: bool  # whether each combination of the others' values has


@inlined
def _modifier_place(b: Breakout, c: Costs, rules: Rules, e: int, cell: int, value: int) -> Any:
    """Where the modifier of a cell lies, for the variable of entry e, which has this value in it."""
    place: Any = np.int64(0)
    size = c.rows.size[b.entries.variable[e]]
    if rules.by_others:  # the cell without its digit of this variable
        stride = b.entries.stride[e]
        place = cell // (stride * size) * stride + cell % stride
    if rules.by_own:
        place = place * size + value
    return b.modifier_at[e] + place


@inlined
def _weigh(c: Costs, s: State, b: Breakout, rules: Rules, i: int) -> None:
    """Compute the effective cost of each value of variable i beside the others' present ones."""
    for a in range(c.rows.size[i]):
        own = c.rows.unary[c.rows.start[i] + a]
        b.effective[a] = np.inf if own >= c.rows.pad else own  # no modifier makes a forbidden value the lesser evil
    for place in range(b.entries.incident_start[i], b.entries.incident_start[i + 1]):
        e = b.entries.incident[place]
        f, stride = b.entries.factor[e], b.entries.stride[e]
        first = b.position[f] - s.x[i] * stride
        for a in range(c.rows.size[i]):
            cell = first + a * stride
            cost = b.cells[b.entries.table_start[f] + cell]
            modifier = b.modifier[_modifier_place(b, c, rules, e, cell, a)]
            b.effective[a] += (cost - b.zero[f]) * modifier if rules.multiply else cost + modifier


@inlined
def _increase(c: Costs, s: State, b: Breakout, rules: Rules, i: int) -> int:
    """Raise variable i's modifiers of its violated factors; returns how many factors are violated."""
    raised = 0
    for place in range(b.entries.incident_start[i], b.entries.incident_start[i + 1]):
        e = b.entries.incident[place]
        f = b.entries.factor[e]
        if b.violated[b.entries.table_start[f] + b.position[f]]:
            raised += 1
            b.modifier[_modifier_place(b, c, rules, e, b.position[f], s.x[i])] += rules.increment
    return raised


@local_kernel
def place_all(s: State, b: Breakout) -> None:
    """Compute `position` from the assignment."""
    for f in range(len(b.position)):
        b.position[f] = 0
        for e in range(b.entries.scope_start[f], b.entries.scope_start[f + 1]):
            b.position[f] += b.entries.stride[e] * s.x[b.entries.variable[e]]


@local_kernel
def gdba(c: Costs, s: State, b: Breakout, rules: Rules, chosen: Ints, gain: Floats, lowest: Ints) -> int:
    """Up to ``len(lowest)`` rounds; how many, negative if the last one changed neither a value nor a modifier."""
    for t in range(len(lowest)):
        changed = 0
        for i in range(len(s.x)):
            _weigh(c, s, b, rules, i)
            size, present = c.rows.size[i], b.effective[s.x[i]]
            first = below(s.random, size)
            chosen[i], least = s.x[i], present - 1e-12 * abs(present)  # a gain by rounding is none
            for k in range(size):
                value = (first + k) % size
                if b.effective[value] < least:
                    chosen[i], least = value, b.effective[value]
            gain[i] = 0.0 if chosen[i] == s.x[i] else present - least
        for i in range(len(s.x)):
            most = gain[i]
            for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
                most = max(most, gain[c.neighbours.variable[q]])
            if not wins(c, gain, i, -1):
                chosen[i] = s.x[i]
            if most == 0.0:
                changed += _increase(c, s, b, rules, i)
        for i in range(len(s.x)):
            if chosen[i] != s.x[i]:
                for place in range(b.entries.incident_start[i], b.entries.incident_start[i + 1]):
                    e = b.entries.incident[place]
                    b.position[b.entries.factor[e]] += (chosen[i] - s.x[i]) * b.entries.stride[e]
                move_now(c, s, i, chosen[i])
                changed += 1
        lowest[t] = cost_of_round(s)
        if changed == 0:
            return -t - 1
    return len(lowest)

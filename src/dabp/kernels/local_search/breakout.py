"""Rounds of GDBA: who cannot improve makes what is violated around it dearer, for itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.moves import move_now, remember_now
from dabp.kernels.local_search.random_stream import below
from dabp.kernels.local_search.search_arrays import NOTHING, SOFT, VIOLATIONS, Costs, State

ENTRY, ROW, COLUMN, TABLE = range(4)
"""Whose modifiers grow: of the combination, of all own values beside the others' present ones, of the own present
value beside all of the others', of all combinations."""
NOT_ZERO, NOT_LEAST, MOST = range(3)
"""Which combinations violate a factor."""

Ints = NDArray[np.int64]


class Breakout(NamedTuple):
    """Factors of two or more variables as GDBA looks at them; F factors, E entries of their scopes, N variables."""

    scope_offsets: Ints
    """The entries of factor f are ``scope_offsets[f]:scope_offsets[f + 1]``, [F + 1]."""
    variable: Ints
    """[E]."""
    stride: Ints
    """Cells of the table that a step of the variable's value moves, [E]."""
    factor: Ints
    """[E]."""
    cells_at: Ints
    """The first cell of each factor's table, [F]."""
    zero: NDArray[np.float64]
    """What cells of the factor's table count as 0, [F]; `least` and `most` of them, likewise."""
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    start: Ints
    """Each variable's part of `entry`, [N + 1]."""
    entry: Ints
    """Entries by variable, [E]."""
    cells: NDArray[np.float64]
    """Base costs in units; forbidden combinations have a large one."""
    modifier_at: Ints
    """Where each entry's modifiers begin: each end of a factor has its own, [E]."""
    modifier: NDArray[np.float64]
    position: Ints
    """The cell of each factor's table that is assigned, [F]."""
    effective: NDArray[np.float64]
    """Room for the effective costs of one variable's values."""


class Rules(NamedTuple):
    """How modifiers work."""

    multiply: bool
    """Whether a cost is multiplied by its modifier, rather than raised by it."""
    increment: float
    """What a modifier grows by."""
    violation: int
    scope: int


@inlined
def _modifier_place(b: Breakout, c: Costs, e: int, cell: int, value: int, scope: int) -> Any:
    """Where the modifier of a cell lies, for the variable of entry e that has this value in it."""
    place: Any = np.int64(0)
    if scope == ENTRY:
        place = cell
    elif scope == COLUMN:
        place = value
    elif scope == ROW:  # the cell without its digit of this variable
        stride = b.stride[e]
        place = cell // (stride * c.rows.size[b.variable[e]]) * stride + cell % stride
    return b.modifier_at[e] + place


@inlined
def _weigh(c: Costs, s: State, b: Breakout, rules: Rules, i: int) -> None:
    """The effective cost of each value of variable i, beside the others' present ones."""
    for a in range(c.rows.size[i]):
        own = c.rows.unary[c.rows.start[i] + a]
        b.effective[a] = np.inf if own >= c.rows.pad else own  # no modifier makes a forbidden value the lesser evil
    for place in range(b.start[i], b.start[i + 1]):
        e = b.entry[place]
        f, stride = b.factor[e], b.stride[e]
        first = b.position[f] - s.x[i] * stride
        for a in range(c.rows.size[i]):
            cell = first + a * stride
            cost = b.cells[b.cells_at[f] + cell]
            modifier = b.modifier[_modifier_place(b, c, e, cell, a, rules.scope)]
            b.effective[a] += (cost - b.zero[f]) * modifier if rules.multiply else cost + modifier


@inlined
def _violated(b: Breakout, f: int, violation: int) -> Any:
    cost = b.cells[b.cells_at[f] + b.position[f]]
    if violation == NOT_ZERO:
        return cost != 0.0
    return cost != b.least[f] if violation == NOT_LEAST else cost == b.most[f]


@inlined
def _increase(c: Costs, s: State, b: Breakout, rules: Rules, i: int) -> int:
    """Raise variable i's modifiers of what is violated; how many factors are."""
    raised = 0
    for place in range(b.start[i], b.start[i + 1]):
        e = b.entry[place]
        f = b.factor[e]
        if _violated(b, f, rules.violation):
            raised += 1
            b.modifier[_modifier_place(b, c, e, b.position[f], s.x[i], rules.scope)] += rules.increment
    return raised


@local_kernel
def place_all(s: State, b: Breakout) -> None:
    """Look up the cell of every factor that the assignment chooses."""
    for f in range(len(b.position)):
        b.position[f] = 0
        for e in range(b.scope_offsets[f], b.scope_offsets[f + 1]):
            b.position[f] += s.x[b.variable[e]] * b.stride[e]


@local_kernel
def gdba(
    c: Costs,
    s: State,
    b: Breakout,
    rules: Rules,
    chosen: Ints,
    gain: NDArray[np.float64],
    lowest: Ints,
) -> int:
    """Up to ``len(lowest)`` rounds; how many, negative if the last one changed neither a value nor a modifier."""
    for t in range(len(lowest)):
        changed = 0
        for i in range(len(s.x)):
            _weigh(c, s, b, rules, i)
            size, present = c.rows.size[i], b.effective[s.x[i]]
            first = below(s.random, size)
            chosen[i], least = s.x[i], present - 1e-12 * abs(present)  # what only rounding gains is none
            for k in range(size):
                value = (first + k) % size
                if b.effective[value] < least:
                    chosen[i], least = value, b.effective[value]
            gain[i] = 0.0 if chosen[i] == s.x[i] else present - least
        for i in range(len(s.x)):
            wins, most = gain[i] > 0.0, gain[i]
            for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
                j = c.neighbours.variable[q]
                wins = wins and (gain[i] > gain[j] or (gain[i] == gain[j] and i < j))
                most = max(most, gain[j])
            if not wins:
                chosen[i] = s.x[i]
            if most == 0.0:
                changed += _increase(c, s, b, rules, i)
        for i in range(len(s.x)):
            if chosen[i] != s.x[i]:
                for place in range(b.start[i], b.start[i + 1]):
                    e = b.entry[place]
                    b.position[b.factor[e]] += (chosen[i] - s.x[i]) * b.stride[e]
                move_now(c, s, i, chosen[i])
                changed += 1
        remember_now(s)
        lowest[t] = NOTHING if s.tally[VIOLATIONS] > 0 else s.tally[SOFT]
        if changed == 0:
            return -t - 1
    return len(lowest)

"""Tabu search over a table of local costs, the best move kept incrementally.

Each variable keeps the change of cost of its best move, blocks of variables keep the least of theirs, and a step looks
at the blocks only: a move touches the rows of its neighbours and their blocks, whatever the number of variables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.moves import move, remember, reweigh
from dabp.kernels.local_search.random_stream import below, draw
from dabp.kernels.local_search.search_arrays import (
    BEST,
    FEASIBLE,
    LANES,
    LEVEL,
    NOTHING,
    ROW,
    SOFT,
    VIOLATIONS,
    WEIGHTED,
    Costs,
    State,
)
from dabp.kernels.simd import least, load, minimum, next_equal

BLOCK = 64
"""Variables in a block, a multiple of `LANES`."""

STEP, DIRTY, MINIMA = range(3)
"""Places of `Moves.clock`: steps done; dirty blocks; local minima with violations since weights last changed."""


class Rules(NamedTuple):
    """How a search goes: an iteration is `steps` moves."""

    steps: int
    tenure: int
    """The value a variable leaves is tabu for `tenure` + U{0 … spread − 1} steps."""
    spread: int
    patience: int
    """After so many local minima that violate something, the violated factors gain `increment` of weight."""
    increment: int


class Moves(NamedTuple):
    """What moves are worth; M blocks of `BLOCK` variables, rows padded as in `Costs`, a ring longer than any tenure."""

    closed: NDArray[Any]
    """`pad` for a value that is taken or tabu, else 0, [R]."""
    until: NDArray[np.int64]
    """The step in which each tabu ends, [R]."""
    owner: NDArray[np.int64]
    """The variable of each place of a row, [R]."""
    open_best: NDArray[Any]
    """Change of cost of each variable's best open move, [M · BLOCK]."""
    any_best: NDArray[Any]
    """The same among all its values, its own (0) included."""
    open_block: NDArray[Any]
    """The least of each block, padded to whole rows."""
    any_block: NDArray[Any]
    """The same of `any_best`."""
    dirty: NDArray[np.int64]
    """Blocks to look at again, as many as ``clock[DIRTY]`` says, [M]."""
    is_dirty: NDArray[np.bool_]
    """Whether a block is among them, [M]."""
    made: NDArray[np.int64]
    """The place that step t (modulo the ring) made tabu."""
    following: NDArray[np.int64]
    """The next such t whose tabu ends in the same step, −1 after the last."""
    ending: NDArray[np.int64]
    """The first such t for each step (modulo the ring), −1 if none."""
    clock: NDArray[np.int64]
    """Counters, see `STEP`."""


@inlined
def _weigh_row(s: State, m: Moves, i: int, row: int, width: int) -> None:
    """Find the best moves in a row so wide: where that is written as a constant, no loop is left of it."""
    costs = load(s.local, row, ROW)
    lowest = costs
    lowest_open = costs + load(m.closed, row, ROW)
    for k in range(LANES, width, LANES):
        costs = load(s.local, row + k, ROW)
        lowest = minimum(lowest, costs)
        lowest_open = minimum(lowest_open, costs + load(m.closed, row + k, ROW))
    now = s.local[row + s.x[i]]
    m.open_best[i] = least(lowest_open) - now
    m.any_best[i] = least(lowest) - now


@inlined
def _weigh(c: Costs, s: State, m: Moves, i: int) -> None:
    """Find the best moves of variable i, and note that its block has changed."""
    if c.rows.uniform == LANES:
        _weigh_row(s, m, i, i * LANES, LANES)
    elif c.rows.uniform == 2 * LANES:
        _weigh_row(s, m, i, i * (2 * LANES), 2 * LANES)
    else:
        _weigh_row(s, m, i, c.rows.start[i], c.rows.width[i])
    block = i // BLOCK
    if not m.is_dirty[block]:
        m.is_dirty[block] = True
        m.dirty[m.clock[DIRTY]] = block
        m.clock[DIRTY] += 1


@inlined
def least_of(values: NDArray[Any], start: int, stop: int) -> Any:
    """The least of whole rows."""
    lowest = load(values, start, ROW)
    for k in range(start + LANES, stop, LANES):
        lowest = minimum(lowest, load(values, k, ROW))
    return least(lowest)


@inlined
def _summarise(m: Moves) -> None:
    """Look at the dirty blocks again."""
    for k in range(m.clock[DIRTY]):
        block = m.dirty[k]
        m.is_dirty[block] = False
        m.open_block[block] = least_of(m.open_best, block * BLOCK, (block + 1) * BLOCK)
        m.any_block[block] = least_of(m.any_best, block * BLOCK, (block + 1) * BLOCK)
    m.clock[DIRTY] = 0


@inlined
def find(values: NDArray[Any], start: int, stop: int, value: Any, random: Any) -> Any:
    """A place between start and stop that has `value`, by chance one of several."""
    rows = (stop - start) // LANES
    first = np.int64(random >> np.uint64(40)) % rows
    for r in range(rows):
        at = start + ((first + r) % rows) * LANES
        lane = next_equal(load(values, at, ROW), value, np.int64(random) & (LANES - 1))
        if lane >= 0:
            return at + lane
    return start


@inlined
def _find_open(s: State, m: Moves, start: int, stop: int, value: Any, random: Any) -> Any:
    """The same for an open value of a row of local costs."""
    rows = (stop - start) // LANES
    first = np.int64(random >> np.uint64(40)) % rows
    for r in range(rows):
        at = start + ((first + r) % rows) * LANES
        costs = load(s.local, at, ROW) + load(m.closed, at, ROW)
        lane = next_equal(costs, value, np.int64(random) & (LANES - 1))
        if lane >= 0:
            return at + lane
    return start


@local_kernel
def weigh_all(c: Costs, s: State, m: Moves) -> None:
    """Begin from x with nothing tabu."""
    for k in range(len(m.closed)):
        m.closed[k] = 0
    for k in range(len(m.ending)):
        m.ending[k] = -1
    for i in range(len(s.x)):
        m.closed[c.rows.start[i] + s.x[i]] = c.rows.pad
        _weigh(c, s, m, i)


@inlined
def _expire(c: Costs, s: State, m: Moves, step: int) -> None:
    """Open what stops being tabu in this step."""
    slot = step % len(m.ending)
    made = m.ending[slot]
    m.ending[slot] = -1
    while made >= 0:
        place = m.made[made]
        i = m.owner[place]
        if m.until[place] == step and c.rows.start[i] + s.x[i] != place:
            m.closed[place] = 0
            _weigh(c, s, m, i)
        made = m.following[made]


@inlined
def _forbid(m: Moves, place: int, step: int, end: int) -> None:
    """Make a place tabu until `end`."""
    ring = len(m.ending)
    node, slot = step % ring, end % ring
    m.until[place] = end
    m.made[node] = place
    m.following[node] = m.ending[slot]
    m.ending[slot] = node


@array_inner
def _gain_weight(c: Costs, s: State, m: Moves, increment: int) -> None:
    """Every violated factor weighs more from now on."""
    for k in range(s.tally[VIOLATIONS]):
        factor = s.violated[k]
        if s.weights[factor] + increment > c.rows.heaviest:
            continue
        reweigh(c, s, factor, increment)
        for q in range(c.hard.offsets[factor], c.hard.offsets[factor + 1]):
            _weigh(c, s, m, c.hard.scope[q])
    s.tally[LEVEL] = s.tally[WEIGHTED]
    m.clock[MINIMA] = 0


@local_kernel
def tabu(c: Costs, s: State, m: Moves, rules: Rules, lowest: NDArray[np.int64]) -> None:
    """Iterations of moves: each time the best that is not tabu, or that is but reaches a new level.

    `lowest` gets each iteration's least feasible cost.
    """
    for t in range(len(lowest)):
        least_cost = np.int64(NOTHING)
        for _ in range(rules.steps):
            step = m.clock[STEP]
            m.clock[STEP] += 1
            random = draw(s.random)
            _expire(c, s, m, step)
            _summarise(m)
            change = least_of(m.open_block, 0, len(m.open_block))
            change_any = least_of(m.any_block, 0, len(m.any_block))
            level = s.tally[BEST] if s.tally[FEASIBLE] else s.tally[LEVEL]
            if change_any < change and s.tally[WEIGHTED] + change_any < level:
                block = find(m.any_block, 0, len(m.any_block), change_any, random)
                i = find(m.any_best, block * BLOCK, (block + 1) * BLOCK, change_any, random)
                row = c.rows.start[i]
                place = find(s.local, row, row + c.rows.width[i], s.local[row + s.x[i]] + change_any, random)
            elif change < c.rows.pad // 2:
                block = find(m.open_block, 0, len(m.open_block), change, random)
                i = find(m.open_best, block * BLOCK, (block + 1) * BLOCK, change, random)
                row = c.rows.start[i]
                place = _find_open(s, m, row, row + c.rows.width[i], s.local[row + s.x[i]] + change, random)
                if s.tally[VIOLATIONS] > 0 and change >= 0:
                    m.clock[MINIMA] += 1
            else:
                continue  # everything is tabu: let time pass
            old = row + s.x[i]
            _forbid(m, old, step, step + rules.tenure + below(s.random, rules.spread))
            m.closed[place] = c.rows.pad
            move(c, s, i, place - row)
            _weigh(c, s, m, i)
            for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
                _weigh(c, s, m, c.neighbours.variable[q])
            if s.tally[WEIGHTED] < s.tally[LEVEL]:
                s.tally[LEVEL] = s.tally[WEIGHTED]
                m.clock[MINIMA] = 0
            if s.tally[VIOLATIONS] == 0:
                if s.tally[SOFT] < least_cost:
                    least_cost = s.tally[SOFT]
                    remember(s)
            elif m.clock[MINIMA] >= rules.patience:
                _gain_weight(c, s, m, rules.increment)
        lowest[t] = least_cost

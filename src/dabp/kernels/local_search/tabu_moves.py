"""Tabu search, the best move kept incrementally.

Each variable keeps the change of cost of its best move, blocks of variables keep the least of theirs, and a step reads
the blocks only: a move touches its neighbours and their blocks, whatever the number of variables. The kernels work on
a table of local costs (`Costs`, `State`) or on binary variables (`Couplings`, `Flips`): either `c` or `flips` is None,
and Numba compiles nothing below ``is not None`` for an argument that is None. A place is a value in a row of local
costs, or a binary variable.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.flips import Couplings, flip
from dabp.kernels.local_search.moves import move, remember, reweigh
from dabp.kernels.local_search.random_stream import below, draw
from dabp.kernels.local_search.search_arrays import LANES, NOTHING, ROW, Costs, Ints, Record, State
from dabp.kernels.simd import least, load, minimum, next_equal

BLOCK = 64
"""Variables in a block, a multiple of `LANES`."""

CLOCK = np.dtype(
    [
        ("step", np.int64),  # steps done
        ("dirty", np.int64),  # entries of `Moves.dirty`
        ("minima", np.int64),  # local minima with violations since weights last changed
    ],
    align=True,
)
"""The numbers of `Moves.clock`."""


class Rules(NamedTuple):
    """How a search goes: an iteration is `steps` moves."""

    steps: int
    tenure: int  # the value that a variable leaves is tabu for `tenure` + U{0 … spread − 1} steps
    spread: int
    patience: int  # after as many local minima with violations, violated factors gain `increment` of weight
    increment: int


class Moves(NamedTuple):
    """What moves are worth; P places, M blocks of `BLOCK` variables, a ring longer than any tenure."""

    closed: NDArray[Any]  # `pad` for a place that is taken or tabu, else 0, [P]
    until: Ints  # the step in which each tabu ends, [P]
    owner: Ints  # the variable of each place, [P]
    open_best: NDArray[Any]  # change of cost of each variable's best open move, [M · BLOCK]
    any_best: NDArray[Any]  # the same among all its values, its own (0) included
    open_block: NDArray[Any]  # the least of each block, padded to whole rows
    any_block: NDArray[Any]  # the same of `any_best`
    dirty: Ints  # blocks to compute again, as many as the clock says, [M]
    is_dirty: NDArray[np.bool_]  # whether a block is among them, [M]
    made: Ints  # the place of each node of the ring
    following: Ints  # the next node whose tabu ends in the same step, −1 after the last
    ending: Ints  # the first node for each step (modulo the ring), −1 if there is none
    clock: Record  # `CLOCK`, []
    pad: int  # larger than any change of cost


@inlined
def _weigh_row(s: State, m: Moves, i: int, row: int, width: int) -> None:
    """Find the best moves in a row; the loop over a constant width disappears."""
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
def _weigh(c: Costs | None, flips: Couplings | None, s: Any, m: Moves, i: int) -> None:
    """Find the best moves of variable i, and note that its block has changed."""
    if flips is not None:
        change = s.x[i] * s.field[i]
        m.any_best[i] = change
        m.open_best[i] = change + m.closed[i]
    if c is not None:
        if c.rows.uniform == LANES:
            _weigh_row(s, m, i, i * LANES, LANES)
        elif c.rows.uniform == 2 * LANES:
            _weigh_row(s, m, i, i * (2 * LANES), 2 * LANES)
        else:
            _weigh_row(s, m, i, c.rows.start[i], c.rows.width[i])
    block = i // BLOCK
    if not m.is_dirty[block]:
        clock = m.clock[()]
        m.is_dirty[block] = True
        m.dirty[clock.dirty] = block
        clock.dirty += 1


@inlined
def _least_of(values: NDArray[Any], start: int, stop: int) -> Any:
    """The least of whole rows."""
    lowest = load(values, start, ROW)
    for k in range(start + LANES, stop, LANES):
        lowest = minimum(lowest, load(values, k, ROW))
    return least(lowest)


@inlined
def _summarise(m: Moves) -> None:
    """Compute the dirty blocks again."""
    clock = m.clock[()]
    for k in range(clock.dirty):
        block = m.dirty[k]
        m.is_dirty[block] = False
        m.open_block[block] = _least_of(m.open_best, block * BLOCK, (block + 1) * BLOCK)
        m.any_block[block] = _least_of(m.any_best, block * BLOCK, (block + 1) * BLOCK)
    clock.dirty = 0


@inlined
def _find(values: NDArray[Any], closed: Any, start: int, stop: int, value: Any, random: Any) -> Any:
    """A place between start and stop that has `value`, by chance one of several; `closed` is added unless None."""
    rows = (stop - start) // LANES
    first = np.int64(random >> np.uint64(40)) % rows
    for r in range(rows):
        at = start + ((first + r) % rows) * LANES
        costs = load(values, at, ROW)
        if closed is not None:
            costs = costs + load(closed, at, ROW)
        lane = next_equal(costs, value, np.int64(random) & (LANES - 1))
        if lane >= 0:
            return at + lane
    return start


@inlined
def _place_of(c: Costs | None, s: Any, closed: Any, i: int, change: Any, random: Any) -> Any:
    """The place of a move of variable i that changes the cost by `change`."""
    place = i
    if c is not None:
        row = c.rows.start[i]
        place = _find(s.local, closed, row, row + c.rows.width[i], s.local[row + s.x[i]] + change, random)
    return place


@inlined
def _taken(c: Costs | None, s: Any, i: int) -> Any:
    """The place that variable i leaves when it moves."""
    place = i
    if c is not None:
        place = c.rows.start[i] + s.x[i]
    return place


@inlined
def _move(c: Costs | None, flips: Couplings | None, s: Any, m: Moves, i: int, place: int) -> None:
    """Make a move, and weigh the variable and its neighbours."""
    if flips is not None:
        flip(flips, s, i)
        _weigh(c, flips, s, m, i)
        for e in range(flips.offsets[i], flips.offsets[i + 1]):
            _weigh(c, flips, s, m, flips.target[e])
    if c is not None:
        move(c, s, i, place - c.rows.start[i])
        _weigh(c, flips, s, m, i)
        for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
            _weigh(c, flips, s, m, c.neighbours.variable[q])


@local_kernel
def weigh_all(c: Costs | None, flips: Couplings | None, s: Any, m: Moves) -> None:
    """Weigh all moves; `closed` is given."""
    for i in range(len(s.best)):
        _weigh(c, flips, s, m, i)


@inlined
def _expire(c: Costs | None, flips: Couplings | None, s: Any, m: Moves, step: int) -> None:
    """Open what stops being tabu in this step."""
    slot = step % len(m.ending)
    node = m.ending[slot]
    m.ending[slot] = -1
    while node >= 0:
        place = m.made[node]
        i = m.owner[place]
        if m.until[place] == step and (c is None or _taken(c, s, i) != place):
            m.closed[place] = 0
            _weigh(c, flips, s, m, i)
        node = m.following[node]


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
    for k in range(s.tally[()].violations):
        factor = s.violated[k]
        if s.weights[factor] + increment > c.rows.heaviest:
            continue
        reweigh(c, s, factor, increment)
        for q in range(c.hard.offsets[factor], c.hard.offsets[factor + 1]):
            _weigh(c, None, s, m, c.hard.scope[q])
    s.tally[()].level = s.tally[()].weighted
    m.clock[()].minima = 0


@local_kernel
def tabu(c: Costs | None, flips: Couplings | None, s: Any, m: Moves, rules: Rules, lowest: Ints) -> None:
    """Iterations of moves: each time the best that is not tabu, or that is but reaches a new level.

    `lowest` gets each iteration's least feasible cost.
    """
    tally, clock = s.tally[()], m.clock[()]
    for t in range(len(lowest)):
        least_cost = np.int64(NOTHING)
        for _ in range(rules.steps):
            step = clock.step
            clock.step += 1
            random = draw(s.random)
            _expire(c, flips, s, m, step)
            _summarise(m)
            change = _least_of(m.open_block, 0, len(m.open_block))
            change_any = _least_of(m.any_block, 0, len(m.any_block))
            cost = tally.soft if c is None else tally.weighted
            level = tally.best if tally.feasible else tally.level
            if change_any < change and cost + change_any < level:
                block = _find(m.any_block, None, 0, len(m.any_block), change_any, random)
                i = _find(m.any_best, None, block * BLOCK, (block + 1) * BLOCK, change_any, random)
                place = _place_of(c, s, None, i, change_any, random)
            elif change < m.pad // 2:
                block = _find(m.open_block, None, 0, len(m.open_block), change, random)
                i = _find(m.open_best, None, block * BLOCK, (block + 1) * BLOCK, change, random)
                place = _place_of(c, s, m.closed, i, change, random)
                if tally.violations > 0 and change >= 0:
                    clock.minima += 1
            else:
                continue  # everything is tabu
            _forbid(m, _taken(c, s, i), step, step + rules.tenure + below(s.random, rules.spread))
            m.closed[place] = m.pad
            _move(c, flips, s, m, i, place)
            if c is not None and tally.weighted < tally.level:
                tally.level = tally.weighted
                clock.minima = 0
            if tally.violations == 0:
                if tally.soft < least_cost:
                    least_cost = tally.soft
                    remember(s, s.x)
            elif c is not None and clock.minima >= rules.patience:
                _gain_weight(c, s, m, rules.increment)
        lowest[t] = least_cost

"""Tabu search over flips of binary variables, the best flip kept by blocks.

Blocks of variables keep the least change of cost among theirs, and a step looks at the blocks only: a flip touches its
neighbours and their blocks, whatever the number of variables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.flips import Couplings, Flips, flip, remember_flips
from dabp.kernels.local_search.random_stream import below, draw
from dabp.kernels.local_search.search_arrays import BEST, FEASIBLE, LANES, NOTHING, ROW, SOFT
from dabp.kernels.local_search.tabu_moves import BLOCK, DIRTY, STEP, Rules, find, least_of
from dabp.kernels.simd import least, load, minimum, next_equal


class FlipMoves(NamedTuple):
    """What flips are worth; M blocks of `BLOCK` variables, a ring longer than any tenure."""

    closed: NDArray[Any]
    """`pad` for a variable that is tabu, else 0, [M · BLOCK]."""
    until: NDArray[np.int64]
    """The step in which each tabu ends, [N]."""
    open_block: NDArray[Any]
    """The least change of cost of each block's open flips, padded to whole rows."""
    any_block: NDArray[Any]
    """The same of all its flips."""
    dirty: NDArray[np.int64]
    """Blocks to look at again, as many as ``clock[DIRTY]`` says, [M]."""
    is_dirty: NDArray[np.bool_]
    """Whether a block is among them, [M]."""
    made: NDArray[np.int64]
    """The variable that step t (modulo the ring) made tabu."""
    following: NDArray[np.int64]
    """The next such t whose tabu ends in the same step, −1 after the last."""
    ending: NDArray[np.int64]
    """The first such t for each step (modulo the ring), −1 if none."""
    clock: NDArray[np.int64]
    """Counters, see `tabu.STEP`."""


@inlined
def _soil(m: FlipMoves, i: int) -> None:
    """Note that the block of variable i has changed."""
    block = i // BLOCK
    if not m.is_dirty[block]:
        m.is_dirty[block] = True
        m.dirty[m.clock[DIRTY]] = block
        m.clock[DIRTY] += 1


@inlined
def _summarise(s: Flips, m: FlipMoves) -> None:
    """Look at the dirty blocks again."""
    for k in range(m.clock[DIRTY]):
        block = m.dirty[k]
        m.is_dirty[block] = False
        start = block * BLOCK
        lowest = load(s.step, start, ROW) * load(s.field, start, ROW)
        lowest_open = lowest + load(m.closed, start, ROW)
        for at in range(start + LANES, start + BLOCK, LANES):
            change = load(s.step, at, ROW) * load(s.field, at, ROW)
            lowest = minimum(lowest, change)
            lowest_open = minimum(lowest_open, change + load(m.closed, at, ROW))
        m.any_block[block] = least(lowest)
        m.open_block[block] = least(lowest_open)
    m.clock[DIRTY] = 0


@inlined
def _find_flip(s: Flips, closed: NDArray[Any], weight: int, block: int, value: Any, random: Any) -> Any:
    """A variable of a block whose flip (plus `weight` times whether it is closed) is worth `value`, one by chance."""
    rows = BLOCK // LANES
    first = np.int64(random >> np.uint64(40)) % rows
    for r in range(rows):
        at = block * BLOCK + ((first + r) % rows) * LANES
        change = load(s.step, at, ROW) * load(s.field, at, ROW)
        if weight:
            change = change + load(closed, at, ROW)
        lane = next_equal(change, value, np.int64(random) & (LANES - 1))
        if lane >= 0:
            return at + lane
    return block * BLOCK


@local_kernel
def open_all(c: Couplings, m: FlipMoves) -> None:
    """Begin with nothing tabu."""
    for k in range(len(m.closed)):
        m.closed[k] = 0
    for k in range(len(m.ending)):
        m.ending[k] = -1
    for i in range(len(c.field)):
        _soil(m, i)


@inlined
def _expire(m: FlipMoves, step: int) -> None:
    """Open what stops being tabu in this step."""
    slot = step % len(m.ending)
    made = m.ending[slot]
    m.ending[slot] = -1
    while made >= 0:
        i = m.made[made]
        if m.until[i] == step:
            m.closed[i] = 0
            _soil(m, i)
        made = m.following[made]


@inlined
def _forbid(c: Couplings, m: FlipMoves, i: int, step: int, end: int) -> None:
    """Make a variable tabu until `end`."""
    ring = len(m.ending)
    node, slot = step % ring, end % ring
    m.until[i] = end
    m.closed[i] = c.pad
    m.made[node] = i
    m.following[node] = m.ending[slot]
    m.ending[slot] = node


@local_kernel
def flip_tabu(c: Couplings, s: Flips, m: FlipMoves, rules: Rules, lowest: NDArray[np.int64]) -> None:
    """Iterations of flips: each time the best that is not tabu, or that is but reaches a new best.

    `lowest` gets each iteration's least cost.
    """
    for t in range(len(lowest)):
        least_cost = np.int64(NOTHING)
        for _ in range(rules.steps):
            step = m.clock[STEP]
            m.clock[STEP] += 1
            random = draw(s.random)
            _expire(m, step)
            _summarise(s, m)
            change = least_of(m.open_block, 0, len(m.open_block))
            change_any = least_of(m.any_block, 0, len(m.any_block))
            if change_any < change and s.tally[FEASIBLE] and s.tally[SOFT] + change_any < s.tally[BEST]:
                block = find(m.any_block, 0, len(m.any_block), change_any, random)
                i = _find_flip(s, m.closed, 0, block, change_any, random)
            elif change < c.pad // 2:
                block = find(m.open_block, 0, len(m.open_block), change, random)
                i = _find_flip(s, m.closed, 1, block, change, random)
            else:
                continue  # everything is tabu: let time pass
            _forbid(c, m, i, step, step + rules.tenure + below(s.random, rules.spread))
            flip(c, s, i)
            _soil(m, i)
            for e in range(c.offsets[i], c.offsets[i + 1]):
                _soil(m, c.target[e])
            if s.tally[SOFT] < least_cost:
                least_cost = s.tally[SOFT]
                remember_flips(s)
        lowest[t] = least_cost

"""Sweeps of flips in classes, by one thread or several: see `dabp.kernels.local_search.shared_sweep`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.atomics import APART, tell
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.flips import THRESHOLDS, Couplings, Flips
from dabp.kernels.local_search.random_stream import STEP, mixed
from dabp.kernels.local_search.search_arrays import LANES, ROW
from dabp.kernels.local_search.shared_sweep import (
    ABROAD,
    CHANGE,
    COUNT,
    NEW,
    VARIABLE,
    Crew,
    begin_sweep,
    end_sweep,
    note_move,
    note_moves,
    others_done,
    remember_part,
    state_at,
    threads_of,
)
from dabp.kernels.simd import item, least, load


@inlined
def _choose(s: Flips, crew: Crew, k: int, thread: int, thresholds: NDArray[np.float32], temperature: Any) -> None:
    """A thread's part of class k flips or not, which nobody else is told yet; as in `flips.flip_sweep`."""
    part = k * threads_of(crew) + thread
    first, last = crew.first[part], crew.first[part + 1]
    ceiling = np.int64(temperature * thresholds[0])
    moved, abroad, change = first, first, np.int64(0)
    start = state_at(s.random, 1)
    for row in range(first // LANES * LANES, last, LANES):
        # Lanes of others, which may be flipping, lead nowhere.
        if least(load(s.step, row, ROW) * load(s.field, row, ROW)) > ceiling:
            continue
        for i in range(max(row, first), min(row + LANES, last)):
            rise = item(s.step, i) * item(s.field, i)
            if rise > 0:
                if rise > ceiling:
                    continue
                bits = mixed(start + np.uint64(i) * np.uint64(STEP))
                if rise >= temperature * thresholds[np.int64(bits >> np.uint64(32)) & (THRESHOLDS - 1)]:
                    continue
            s.step[i] = -s.step[i]
            change += rise
            abroad = note_move(crew, thread, moved, abroad, i, -s.step[i], s.step[i], False)
            moved += 1
    crew.told[thread * APART + COUNT] = moved - first
    crew.told[thread * APART + ABROAD] = abroad - first
    crew.told[thread * APART + CHANGE] = change


@inlined
def _tell(c: Couplings, s: Flips, crew: Crew, k: int, thread: int) -> None:
    """Change the fields of a thread's part of the variables by what all of class k did."""
    threads = threads_of(crew)
    for other in range(threads):
        begin = crew.first[k * threads + other]
        moves = crew.moved if other == thread else crew.abroad
        for at in range(begin, begin + crew.told[other * APART + (COUNT if other == thread else ABROAD)]):
            part, step = moves[at, VARIABLE] * threads + thread, moves[at, NEW]
            for e in range(crew.bounds[part], crew.bounds[part + 1]):
                s.field[c.target[e]] -= step * c.weight[e]


@local_kernel
def flip_together(
    s: Flips,
    thresholds: NDArray[np.float32],
    temperatures: NDArray[np.float64],
    lowest: NDArray[np.int64],
    crew: Crew,
    c: Couplings,
    stage: int,
    thread: int,
) -> int:
    """A thread's part of sweeps, one per temperature; `lowest` gets the cost after each.

    The stages are those of `chromatic.sweep_together`.
    """
    threads = threads_of(crew)
    classes = (len(crew.first) - 1) // threads
    of_a_sweep = 2 * classes + 1
    while stage < of_a_sweep * len(temperatures):
        if threads > 1 and not others_done(crew, stage):
            return stage
        t = stage // of_a_sweep
        k, telling = divmod(stage - t * of_a_sweep, 2)
        if k == classes:
            remember_part(s, s.step, crew, thread)
        elif telling == 0:
            if k == 0:
                begin_sweep(s, crew, thread)
            _choose(s, crew, k, thread, thresholds, temperatures[t])
        else:
            note_moves(s, crew, k, thread)
            _tell(c, s, crew, k, thread)
            if thread == 0 and k == classes - 1:
                lowest[t] = end_sweep(s, crew)
        stage += 1
        if threads > 1:
            tell(crew.done, thread * APART, stage)
    return stage

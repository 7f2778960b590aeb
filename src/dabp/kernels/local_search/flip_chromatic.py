"""Sweeps of flips in classes, by one thread or several: see `dabp.kernels.local_search.together`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.atomics import tell
from dabp.kernels.local_search.columns import LANES, ROW
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.flips import THRESHOLDS, Couplings, Flips
from dabp.kernels.local_search.randomness import STEP, mixed
from dabp.kernels.local_search.together import (
    APART,
    CHANGE,
    COUNT,
    Crew,
    edges_to,
    end_sweep,
    first_of,
    note_moves,
    others_done,
    remember_part,
    state_at,
)
from dabp.kernels.simd import item, least, load


@inlined
def _choose(s: Flips, crew: Crew, k: int, thread: int, thresholds: NDArray[np.float32], temperature: Any) -> None:
    """A thread's part of class k flips or not, which nobody else is told yet; as in `flips.flip_sweep`."""
    first, last = first_of(crew, k, thread), first_of(crew, k, thread + 1)
    ceiling = np.int64(temperature * thresholds[0])
    moved, change = first, np.int64(0)
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
            crew.moved[moved] = i
            moved += 1
    crew.told[thread * APART + COUNT] = moved - first
    crew.told[thread * APART + CHANGE] = change


@inlined
def _tell(c: Couplings, s: Flips, crew: Crew, k: int, thread: int) -> None:
    """Change the fields of a thread's part of the variables by what all of class k did."""
    for other in range(len(crew.own) - 1):
        begin = first_of(crew, k, other)
        for at in range(begin, begin + crew.told[other * APART + COUNT]):
            i = crew.moved[at]
            first, last = edges_to(c.offsets, crew, i, thread)
            for e in range(first, last):
                s.field[c.target[e]] -= s.step[i] * c.weight[e]


@local_kernel
def flip_together(
    c: Couplings,
    s: Flips,
    thresholds: NDArray[np.float32],
    temperatures: NDArray[np.float64],
    lowest: NDArray[np.int64],
    crew: Crew,
    stage: int,
    thread: int,
) -> int:
    """A thread's part of sweeps, one per temperature; `lowest` gets the cost after each.

    The stages are those of `chromatic.sweep_together`.
    """
    classes, threads = len(crew.classes) - 1, len(crew.own) - 1
    of_a_sweep = 2 * classes + 1
    while stage < of_a_sweep * len(temperatures):
        if threads > 1 and not others_done(crew, stage):
            return stage
        t = stage // of_a_sweep
        k, telling = divmod(stage - t * of_a_sweep, 2)
        if k == classes:
            remember_part(s, s.step, crew, thread)
        elif telling == 0:
            _choose(s, crew, k, thread, thresholds, temperatures[t])
        else:
            if thread == 0:
                note_moves(s, crew, k)
            _tell(c, s, crew, k, thread)
            if thread == 0 and k == classes - 1:
                lowest[t] = end_sweep(s, crew)
        stage += 1
        if threads > 1:
            tell(crew.done, thread * APART, stage)
    return stage

"""Heat-bath sweeps in classes, by one thread or several: see `dabp.kernels.local_search.shared_sweep`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.atomics import APART, tell
from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.heat_bath import resample
from dabp.kernels.local_search.moves import add_difference, add_weighted, change_violated
from dabp.kernels.local_search.random_stream import STEP, mixed
from dabp.kernels.local_search.search_arrays import LANES, WEIGHTED, Costs, Edges, State
from dabp.kernels.local_search.shared_sweep import (
    ABROAD,
    CHANGE,
    COUNT,
    FLIPPED,
    NEW,
    OLD,
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
from dabp.kernels.simd import item


@array_inner
def _note_flips(c: Costs, s: State, crew: Crew, thread: int, i: int, old: int, new: int) -> Any:
    """The part of a move that begins or ends violations: note which; gives the change of their weights."""
    change: Any = np.int64(0)
    room = thread * len(s.weights)
    count = crew.told[thread * APART + FLIPPED]
    for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
        if c.edges.hard_at[e] >= 0:
            j = c.edges.target[e]
            at, width = c.edges.hard_at[e] + s.x[j], c.rows.width[j]
            flipped = np.int64(c.edges.hard[at + new * width]) - np.int64(c.edges.hard[at + old * width])
            if flipped != 0:
                factor = c.edges.weight[e]
                change += flipped * s.weights[factor]
                crew.flips[room + count] = factor if flipped > 0 else -1 - factor
                count += 1
    for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
        f = c.wide.factor[entry]
        if c.wide.hard_at[f] >= 0:
            at = c.wide.hard_at[f] + s.position[f]
            shift = (new - old) * c.wide.stride[entry]
            flipped = np.int64(c.wide.hard[at + shift]) - np.int64(c.wide.hard[at])
            if flipped != 0:
                factor = c.wide.weight[f]
                change += flipped * s.weights[factor]
                crew.flips[room + count] = factor if flipped > 0 else -1 - factor
                count += 1
    crew.told[thread * APART + FLIPPED] = count
    return change


@inlined
def _choose(c: Costs, s: State, crew: Crew, k: int, thread: int, noise: NDArray[np.float32], temperature: Any) -> None:
    """A thread's part of class k takes new values, which nobody else is told yet."""
    part = k * threads_of(crew) + thread
    first, last = crew.first[part], crew.first[part + 1]
    crew.told[thread * APART + FLIPPED] = 0
    moved, abroad, change = first, first, np.int64(0)
    random = state_at(s.random, first)
    for i in range(first, last):
        random += np.uint64(STEP)
        new, old = resample(c, s, i, mixed(random), noise, temperature), item(s.x, i)
        if new != old:
            row = c.rows.start[i]
            change += np.int64(s.local[row + new]) - np.int64(s.local[row + old])
            if len(s.weights):
                change -= _note_flips(c, s, crew, thread, i, old, new)
            for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
                s.position[c.wide.factor[entry]] += (new - old) * c.wide.stride[entry]
            s.x[i] = new
            abroad = note_move(crew, thread, moved, abroad, i, old, new, c.wide.offsets[i] < c.wide.offsets[i + 1])
            moved += 1
    crew.told[thread * APART + COUNT] = moved - first
    crew.told[thread * APART + ABROAD] = abroad - first
    crew.told[thread * APART + CHANGE] = change


@inlined
def _tell_rows(
    edges: Edges, s: State, crew: Crew, moves: NDArray[np.int32], begin: int, end: int, thread: int, width: int
) -> None:
    """`_tell` for the moves in a range of places, of problems without violations whose rows all have one width."""
    threads = threads_of(crew)
    for at in range(begin, end):
        i = moves[at, VARIABLE]
        plus, minus = moves[at, NEW] * width, moves[at, OLD] * width
        part = i * threads + thread
        for e in range(crew.bounds[part], crew.bounds[part + 1]):
            row, table = item(edges.target, e) * width, item(edges.soft_at, e)
            add_difference(s.local, row, edges.soft, table + plus, table + minus, width)


@array_inner
def _tell_any(
    c: Costs, edges: Edges, s: State, crew: Crew, moves: NDArray[np.int32], begin: int, end: int, thread: int
) -> None:
    """`_tell` for the moves in a range of places, for edges of all kinds."""
    threads = threads_of(crew)
    for at in range(begin, end):
        i, old, new = moves[at, VARIABLE], moves[at, OLD], moves[at, NEW]
        part = i * threads + thread
        for e in range(crew.bounds[part], crew.bounds[part + 1]):
            j = edges.target[e]
            row, width = c.rows.start[j], c.rows.width[j]
            if edges.soft_at[e] >= 0:
                base = edges.soft_at[e]
                add_difference(s.local, row, edges.soft, base + new * width, base + old * width, width)
            if edges.hard_at[e] >= 0:
                base, weight = edges.hard_at[e], s.weights[edges.weight[e]]
                add_weighted(s.local, row, edges.hard, base + new * width, width, weight)
                add_weighted(s.local, row, edges.hard, base + old * width, width, -weight)


@array_inner
def _tell_wide(c: Costs, s: State, crew: Crew, moves: NDArray[np.int32], begin: int, end: int, thread: int) -> None:
    """`_tell` for the moves in a range of places, for factors of arity 3 or more."""
    for at in range(begin, end):
        i = moves[at, VARIABLE]
        for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
            f = c.wide.factor[entry]
            shift = (moves[at, NEW] - moves[at, OLD]) * c.wide.stride[entry]
            for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
                j, stride = c.wide.scope_variable[q], c.wide.scope_stride[q]
                if j == i or crew.owner[j] != thread:
                    continue
                row, start = c.rows.start[j], s.position[f] - shift - s.x[j] * stride
                if c.wide.soft_at[f] >= 0:
                    base = c.wide.soft_at[f] + start
                    for a in range(c.rows.size[j]):
                        s.local[row + a] += c.wide.soft[base + a * stride + shift] - c.wide.soft[base + a * stride]
                if c.wide.hard_at[f] >= 0:
                    base, weight = c.wide.hard_at[f] + start, s.weights[c.wide.weight[f]]
                    for a in range(c.rows.size[j]):
                        cells = c.wide.hard[base + a * stride + shift] - c.wide.hard[base + a * stride]
                        s.local[row + a] += weight * cells


@inlined
def _tell(c: Costs, edges: Edges, s: State, crew: Crew, k: int, thread: int) -> None:
    """Change the rows of a thread's part of the variables by what all of class k did."""
    threads = threads_of(crew)
    for other in range(threads):
        begin = crew.first[k * threads + other]
        moves = crew.moved if other == thread else crew.abroad
        end = begin + crew.told[other * APART + (COUNT if other == thread else ABROAD)]
        if len(s.weights) or c.rows.uniform == 0 or c.rows.uniform > 2 * LANES:
            _tell_any(c, edges, s, crew, moves, begin, end, thread)
        elif c.rows.uniform == LANES:
            _tell_rows(edges, s, crew, moves, begin, end, thread, LANES)
        else:
            _tell_rows(edges, s, crew, moves, begin, end, thread, 2 * LANES)
        if len(s.position):
            _tell_wide(c, s, crew, moves, begin, end, thread)


@array_inner
def _note_violated(s: State, crew: Crew) -> None:
    """What a class did to the weighted cost and to what is violated, in the order of its variables."""
    for thread in range(threads_of(crew)):
        s.tally[WEIGHTED] += crew.told[thread * APART + CHANGE]
        room = thread * len(s.weights)
        for at in range(room, room + crew.told[thread * APART + FLIPPED]):
            factor = crew.flips[at]
            if factor >= 0:
                change_violated(s, factor, 1)
            else:
                change_violated(s, -1 - factor, -1)


@local_kernel
def sweep_together(
    c: Costs,
    s: State,
    noise: NDArray[np.float32],
    temperatures: NDArray[np.float64],
    lowest: NDArray[np.int64],
    crew: Crew,
    edges: Edges,
    stage: int,
    thread: int,
) -> int:
    """A thread's part of sweeps, one per temperature; `lowest` gets the cost after each if that is feasible.

    Each class has two stages, choosing and telling, and each sweep ends with one in which its result is remembered.
    Gives how many stages are done: all, or what to go on with when other threads had their time.
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
            remember_part(s, s.x, crew, thread)
        elif telling == 0:
            if k == 0:
                begin_sweep(s, crew, thread)
            _choose(c, s, crew, k, thread, noise, np.float32(temperatures[t]))
        else:
            if thread == 0:
                _note_violated(s, crew)
            note_moves(s, crew, k, thread)
            _tell(c, edges, s, crew, k, thread)
            if thread == 0 and k == classes - 1:
                lowest[t] = end_sweep(s, crew)
        stage += 1
        if threads > 1:
            tell(crew.done, thread * APART, stage)
    return stage

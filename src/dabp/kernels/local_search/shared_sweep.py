"""Sweeps by several threads: class by class of variables that share no factor.

Variables of a class do not change each other's local costs, so that all of them can be resampled at once (chromatic
Gibbs sampling, Gonzalez et al. 2011), each thread a part of them. Then the rows of the neighbours are updated, each
thread those of its own variables. Each variable has its own random number and costs are integers, so that the result
equals that of one thread that resamples one variable after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.atomics import APART, heard, tell
from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.flips import THRESHOLDS, Couplings, Flips
from dabp.kernels.local_search.heat_bath import resample
from dabp.kernels.local_search.moves import (
    add_difference,
    change_violated,
    edge_violation,
    remember,
    update_row,
    update_wide_row,
    wide_violation,
)
from dabp.kernels.local_search.random_stream import STEP, mixed, state_at
from dabp.kernels.local_search.search_arrays import (
    LANES,
    NOTHING,
    ROW,
    Costs,
    Edges,
    Floats,
    Ints,
    Noise,
    Record,
    State,
)
from dabp.kernels.simd import item, least, load

LOOKS = 300_000
"""How often a waiting thread reads the others' stages before it returns to Python: about 0.1 ms, more than a stage."""

MOVE = np.dtype([("variable", np.int32), ("old", np.int32), ("new", np.int32)], align=True)
"""A move of a sweep."""

REPORT = np.dtype(
    {
        "names": [
            "count",  # variables that moved
            "change",  # by how much the weighted cost changed, without the violations
            "violations",  # factors that began or ceased to forbid the assignment
            "shared",  # variables that moved and have neighbours of other threads
        ],
        "formats": [np.int64] * 4,
        "itemsize": 8 * APART,
    },
    align=True,
)
"""What a thread did with its part of a class, in a cache line of its own."""


class Crew(NamedTuple):
    """What threads share in a sweep; T threads, C classes, N variables, classes one after the other."""

    first: Ints  # where thread t's part of class k begins, at k · T + t; the next begins at its end, [C · T + 1]
    owner: NDArray[np.int32]  # the thread that updates each variable's row, [N]
    bounds: Ints  # where variable i's edges to thread t's variables begin, at i · T + t, sorted by i and t, [N · T + 1]
    moved: Record  # moves of a class (`MOVE`), each thread's from its first place in the class on, [N]
    shared: Record  # those of variables with neighbours of other threads, which the other threads read, [N]
    violations: Ints  # factors that began (f) or ceased (−1 − f) to forbid the assignment, H for each thread, [T · H]
    reports: Record  # `REPORT`, [T]
    done: Ints  # stages of the sweeps that each thread has done, `APART`


@inlined
def _others_done(crew: Crew, stage: int) -> bool:
    """Whether all threads have done as many stages; waits a little."""
    for thread in range(len(crew.reports)):
        looks = 0
        while heard(crew.done, thread * APART) < stage:
            looks += 1
            if looks > LOOKS:
                return False
    return True


@inlined
def _note_move(crew: Crew, thread: int, place: int, at: int, i: int, old: int, new: int, wide: bool) -> Any:
    """Write a move at `place`, and at `at` if other threads must read it; returns where the next one of those goes.

    All threads read the moves of variables in wide factors.
    """
    note = crew.moved[place]
    note.variable, note.old, note.new = i, old, new
    threads = len(crew.reports)
    if threads > 1:
        part, last = i * threads + thread, (i + 1) * threads
        own = item(crew.bounds, part + 1) - item(crew.bounds, part)
        if wide or own < item(crew.bounds, last) - item(crew.bounds, last - threads):
            note = crew.shared[at]
            note.variable, note.old, note.new = i, old, new
            return at + 1
    return at


@inlined
def _note_moves(s: Any, crew: Crew, k: int) -> None:
    """Write the moves of class k into the journal, in the order of the variables, and add up the cost."""
    tally, threads = s.tally[()], len(crew.reports)
    for thread in range(threads):
        tally.soft += crew.reports[thread].change
        begin = crew.first[k * threads + thread]
        for at in range(min(crew.reports[thread].count, len(s.journal) - tally.journal)):
            s.journal[tally.journal] = crew.moved[begin + at].variable
            tally.journal += 1


@array_inner
def _note_violations(c: Costs, s: State, crew: Crew, thread: int, i: int, old: int, new: int) -> Any:
    """Write which factors begin or cease to forbid the assignment; returns the change of their weights."""
    change: Any = np.int64(0)
    begin, report = thread * len(s.weights), crew.reports[thread]
    for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
        violation = edge_violation(c, s, e, old, new)
        if violation != 0:
            factor = c.edges.weight[e]
            change += violation * s.weights[factor]
            crew.violations[begin + report.violations] = factor if violation > 0 else -1 - factor
            report.violations += 1
    for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
        f = c.wide.factor[entry]
        violation = wide_violation(c, s, f, (new - old) * c.wide.stride[entry])
        if violation != 0:
            factor = c.wide.weight[f]
            change += violation * s.weights[factor]
            crew.violations[begin + report.violations] = factor if violation > 0 else -1 - factor
            report.violations += 1
    return change


@inlined
def _resample_part(c: Costs, s: State, crew: Crew, k: int, thread: int, noise: Noise, temperature: Any) -> None:
    """Give a thread's part of class k new values, before any row is updated."""
    part = k * len(crew.reports) + thread
    first, last, report = crew.first[part], crew.first[part + 1], crew.reports[thread]
    report.violations = 0
    moved, shared, change = first, first, np.int64(0)
    random = state_at(s.random, first)
    for i in range(first, last):
        random += np.uint64(STEP)
        new, old = resample(c, s, i, mixed(random), noise, temperature), item(s.x, i)
        if new != old:
            row = c.rows.start[i]
            change += np.int64(s.local[row + new]) - np.int64(s.local[row + old])
            if len(s.weights):
                change -= _note_violations(c, s, crew, thread, i, old, new)
            for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
                s.position[c.wide.factor[entry]] += (new - old) * c.wide.stride[entry]
            s.x[i] = new
            shared = _note_move(crew, thread, moved, shared, i, old, new, c.wide.offsets[i] < c.wide.offsets[i + 1])
            moved += 1
    report.count, report.shared, report.change = moved - first, shared - first, change


@inlined
def _flip_part(s: Flips, crew: Crew, k: int, thread: int, thresholds: Noise, temperature: Any) -> None:
    """Flip some of a thread's part of class k as `flips.flip_sweep` does, before any field is updated."""
    part = k * len(crew.reports) + thread
    first, last, report = crew.first[part], crew.first[part + 1], crew.reports[thread]
    ceiling = np.int64(temperature * thresholds[0])
    moved, shared, change = first, first, np.int64(0)
    start = state_at(s.random, 1)
    for row in range(first // LANES * LANES, last, LANES):
        # Lanes of other threads may be changing meanwhile: they do not decide what their owner does.
        if least(load(s.x, row, ROW) * load(s.field, row, ROW)) > ceiling:
            continue
        for i in range(max(row, first), min(row + LANES, last)):
            rise = item(s.x, i) * item(s.field, i)
            if rise > 0:
                if rise > ceiling:
                    continue
                bits = mixed(start + np.uint64(i) * np.uint64(STEP))
                if rise >= temperature * thresholds[np.int64(bits >> np.uint64(32)) & (THRESHOLDS - 1)]:
                    continue
            s.x[i] = -s.x[i]
            change += rise
            shared = _note_move(crew, thread, moved, shared, i, -s.x[i], s.x[i], False)
            moved += 1
    report.count, report.shared, report.change = moved - first, shared - first, change


@inlined
def _update_uniform(
    edges: Edges, s: State, crew: Crew, moves: Record, begin: int, end: int, thread: int, width: int
) -> None:
    """Update a thread's rows after some moves, all rows of one width and without weights."""
    threads = len(crew.reports)
    for at in range(begin, end):
        i = moves[at].variable
        plus, minus = moves[at].new * width, moves[at].old * width
        part = i * threads + thread
        for e in range(crew.bounds[part], crew.bounds[part + 1]):
            row, table = item(edges.target, e) * width, item(edges.soft_at, e)
            add_difference(s.local, row, edges.soft, table + plus, table + minus, width)


@array_inner
def _update_rows(
    c: Costs, edges: Edges, s: State, crew: Crew, moves: Record, begin: int, end: int, thread: int
) -> None:
    """The same for edges of all kinds."""
    threads = len(crew.reports)
    for at in range(begin, end):
        part = moves[at].variable * threads + thread
        for e in range(crew.bounds[part], crew.bounds[part + 1]):
            update_row(c, edges, s, e, moves[at].old, moves[at].new)


@array_inner
def _update_wide(c: Costs, s: State, crew: Crew, moves: Record, begin: int, end: int, thread: int) -> None:
    """The same for wide factors."""
    for at in range(begin, end):
        i = moves[at].variable
        for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
            f = c.wide.factor[entry]
            shift = (moves[at].new - moves[at].old) * c.wide.stride[entry]
            for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
                j = c.wide.scope_variable[q]
                if j != i and crew.owner[j] == thread:
                    update_wide_row(c, s, f, q, s.position[f] - shift, shift)


@inlined
def _update_fields(edges: Couplings, s: Flips, crew: Crew, moves: Record, begin: int, end: int, thread: int) -> None:
    """The same for binary variables."""
    threads = len(crew.reports)
    for at in range(begin, end):
        part, step = moves[at].variable * threads + thread, moves[at].new
        for e in range(crew.bounds[part], crew.bounds[part + 1]):
            s.field[edges.target[e]] -= step * edges.weight[e]


@inlined
def _update(c: Costs | None, thresholds: Any, edges: Any, s: Any, crew: Crew, k: int, thread: int) -> None:
    """Update the rows or fields of a thread's variables after the moves of class k."""
    threads = len(crew.reports)
    for other in range(threads):
        begin = crew.first[k * threads + other]
        moves = crew.moved if other == thread else crew.shared
        end = begin + (crew.reports[other].count if other == thread else crew.reports[other].shared)
        if thresholds is not None:
            _update_fields(edges, s, crew, moves, begin, end, thread)
        if c is not None:
            if len(s.weights) or c.rows.uniform == 0 or c.rows.uniform > 2 * LANES:
                _update_rows(c, edges, s, crew, moves, begin, end, thread)
            elif c.rows.uniform == LANES:
                _update_uniform(edges, s, crew, moves, begin, end, thread, LANES)
            else:
                _update_uniform(edges, s, crew, moves, begin, end, thread, 2 * LANES)
            if len(s.position):
                _update_wide(c, s, crew, moves, begin, end, thread)


@array_inner
def _count_violations(s: State, crew: Crew) -> None:
    """Add what a class did to the weighted cost and to the violated factors, in the order of its variables."""
    for thread in range(len(crew.reports)):
        s.tally[()].weighted += crew.reports[thread].change
        begin = thread * len(s.weights)
        for at in range(begin, begin + crew.reports[thread].violations):
            factor = crew.violations[at]
            if factor >= 0:
                change_violated(s, factor, 1)
            else:
                change_violated(s, -1 - factor, -1)


@local_kernel
def sweep_together(
    c: Costs | None,
    s: Any,
    noise: Noise | None,
    thresholds: Noise | None,
    temperatures: Floats,
    lowest: Ints,
    crew: Crew,
    edges: Edges | Couplings,
    stage: int,
    thread: int,
) -> int:
    """A thread's part of sweeps, one per temperature; `lowest` gets the cost after each if that is feasible.

    Each class has two stages, moves and updates. Returns the stages done: all, or where to continue after other threads
    had their time. `c` and `noise` are None for binary variables, `thresholds` for others; Numba compiles nothing below
    ``is not None`` for an argument that is None.
    """
    threads = len(crew.reports)
    classes = (len(crew.first) - 1) // threads
    while stage < 2 * classes * len(temperatures):
        if threads > 1 and not _others_done(crew, stage):
            return stage
        t = stage // (2 * classes)
        k, updating = divmod(stage - 2 * classes * t, 2)
        if updating == 0:
            if thresholds is not None:
                _flip_part(s, crew, k, thread, thresholds, temperatures[t])
            if c is not None and noise is not None:
                _resample_part(c, s, crew, k, thread, noise, np.float32(temperatures[t]))
        else:
            if thread == 0:
                if c is not None:
                    _count_violations(s, crew)
                _note_moves(s, crew, k)
                if k == classes - 1:  # no thread moves a variable in this stage
                    s.random[0] += np.uint64(len(s.best)) * np.uint64(STEP)
                    remember(s, s.x)
                    lowest[t] = np.int64(NOTHING) if s.tally[()].violations > 0 else s.tally[()].soft
            _update(c, thresholds, edges, s, crew, k, thread)
        stage += 1
        if threads > 1:
            tell(crew.done, thread * APART, stage)
    return stage

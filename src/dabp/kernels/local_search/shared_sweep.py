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

from dabp.kernels.atomics import APART, heard
from dabp.kernels.local_search.compilation import inlined
from dabp.kernels.local_search.random_stream import STEP
from dabp.kernels.local_search.search_arrays import NOTHING, Ints, Record
from dabp.kernels.simd import item

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
            "journal",  # entries of the journal
        ],
        "formats": [np.int64] * 5,
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
    copies: Ints  # entries of the journal to remember after a sweep, more than there are for all variables, [1]


@inlined
def others_done(crew: Crew, stage: int) -> bool:
    """Whether all threads have done as many stages; waits a little."""
    for thread in range(len(crew.reports)):
        looks = 0
        while heard(crew.done, thread * APART) < stage:
            looks += 1
            if looks > LOOKS:
                return False
    return True


@inlined
def note_move(crew: Crew, thread: int, place: int, at: int, i: int, old: int, new: int, wide: bool) -> Any:
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
def note_moves(s: Any, crew: Crew, k: int, thread: int) -> None:
    """Write a thread's moves of class k into the journal, in the order of the variables; thread 0 adds up the cost."""
    threads, length = len(crew.reports), len(s.journal)
    used, change = crew.reports[thread].journal, np.int64(0)
    for other in range(threads):
        count = crew.reports[other].count
        if other == thread:
            begin = crew.first[k * threads + thread]
            for at in range(min(count, length - used)):
                s.journal[used + at] = crew.moved[begin + at].variable
        used = min(used + count, length)
        change += crew.reports[other].change
    crew.reports[thread].journal = used
    if thread == 0:
        s.tally[()].journal = used
        s.tally[()].soft += change


@inlined
def end_sweep(s: Any, crew: Crew) -> Any:
    """Let all threads remember the assignment if it is feasible and the best; returns its cost if it is feasible."""
    tally = s.tally[()]
    s.random[0] += np.uint64(len(s.best)) * np.uint64(STEP)
    crew.copies[0] = 0
    if tally.violations > 0:
        return np.int64(NOTHING)
    if not tally.feasible or tally.soft < tally.best:
        tally.best = tally.soft
        tally.feasible = 1
        crew.copies[0] = tally.journal if tally.journal < len(s.journal) else len(s.journal) + 1
        tally.journal = 0
    return tally.soft


@inlined
def remember_part(s: Any, crew: Crew, thread: int) -> None:
    """Copy a thread's part of the assignment to `best`."""
    threads = len(crew.reports)
    if crew.copies[0] > len(s.journal):
        for part in range(thread, len(crew.first) - 1, threads):  # its own variables, class by class
            for i in range(crew.first[part], crew.first[part + 1]):
                s.best[i] = s.x[i]
    else:
        for at in range(crew.copies[0] * thread // threads, crew.copies[0] * (thread + 1) // threads):
            s.best[s.journal[at]] = s.x[s.journal[at]]

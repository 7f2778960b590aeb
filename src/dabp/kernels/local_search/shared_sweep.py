"""Sweeps that several threads do together: class by class of variables that share no factor.

Variables of a class do not change each other's local costs, so that all of them can be resampled at once (chromatic
Gibbs sampling, Gonzalez et al. 2011), each thread a part of them. Then the neighbours are told what has moved, each
thread a part of the neighbours. Random numbers go with the variables and costs are integers, so that the result is that
of one thread that takes the variables one after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.atomics import APART, heard
from dabp.kernels.local_search.compilation import inlined
from dabp.kernels.local_search.random_stream import STEP
from dabp.kernels.local_search.search_arrays import BEST, FEASIBLE, JOURNAL, NOTHING, SOFT, VIOLATIONS
from dabp.kernels.simd import item

PATIENCE = 300_000
"""How often a thread looks at what the others have done before it lets others have its core: about 0.1 ms, longer than
most stages. Whoever gives up has to come back through Python, which takes as long as a stage."""

COUNT, CHANGE, FLIPPED, ABROAD, WRITTEN = range(5)
"""What threads tell each other of their part of a class: how many variables moved, how much the cost changed, how many
factors began or ceased to forbid the assignment, how many of those that moved have neighbours of other threads; and how
many entries of the journal are written, which each knows for itself."""

VARIABLE, OLD, NEW = range(3)
"""What is noted of a move."""


class Crew(NamedTuple):
    """What threads share in a sweep; T threads, C classes, N variables, classes one after the other."""

    first: NDArray[np.int64]
    """Where the part of class k that thread t has begins, at k · T + t; the next begins where it ends, [C · T + 1]."""
    owner: NDArray[np.int32]
    """The thread that has each variable: the one that tells it what its neighbours did, too, [N]."""
    bounds: NDArray[np.int64]
    """Where the edges of variable i to the variables of thread t begin, at i · T + t, of those that are sorted by
    variable and owner of the other variable, [N · T + 1]."""
    moved: NDArray[np.int32]
    """Moves, each thread's from its first place in the class on: see `VARIABLE`, [N, 3]."""
    abroad: NDArray[np.int32]
    """Likewise the moves of variables with neighbours of other threads, which are all that those look at, [N, 3]."""
    flips: NDArray[np.int64]
    """Factors that began (f) or ceased (−1 − f) to forbid the assignment, room for all for each thread, [T · H]."""
    told: NDArray[np.int64]
    """`COUNT`, `CHANGE`, `FLIPPED`, `ABROAD` and `WRITTEN` of each thread, `APART`."""
    done: NDArray[np.int64]
    """How many stages of the sweeps each thread has done, `APART`."""
    copies: NDArray[np.int64]
    """How many entries of the journal are to be remembered after a sweep, more than it has for all variables, [1]."""


@inlined
def threads_of(crew: Crew) -> Any:
    """How many threads there are."""
    return len(crew.done) // APART


@inlined
def others_done(crew: Crew, stage: int) -> bool:
    """Whether all threads have done so many stages; waits a little."""
    for thread in range(threads_of(crew)):
        looks = 0
        while heard(crew.done, thread * APART) < stage:
            looks += 1
            if looks > PATIENCE:
                return False
    return True


@inlined
def state_at(random: NDArray[np.uint64], i: int) -> Any:
    """The state of the stream before the number that variable i has in this sweep."""
    return random[0] + np.uint64(i) * np.uint64(STEP)


@inlined
def note_move(crew: Crew, thread: int, place: int, at: int, i: int, old: int, new: int, wide: bool) -> Any:
    """Note a move at `place`, and at `at` if others must hear of it; gives where the next one of those goes.

    All threads hear of variables in factors of arity 3 or more.
    """
    crew.moved[place, VARIABLE], crew.moved[place, OLD], crew.moved[place, NEW] = i, old, new
    threads = threads_of(crew)
    if threads > 1:
        part, last = i * threads + thread, (i + 1) * threads
        own = item(crew.bounds, part + 1) - item(crew.bounds, part)
        if wide or own < item(crew.bounds, last) - item(crew.bounds, last - threads):
            crew.abroad[at, VARIABLE], crew.abroad[at, OLD], crew.abroad[at, NEW] = i, old, new
            return at + 1
    return at


@inlined
def begin_sweep(s: Any, crew: Crew, thread: int) -> None:
    """Each thread counts for itself how full the journal is: only before the first class nobody changes the tally."""
    crew.told[thread * APART + WRITTEN] = s.tally[JOURNAL]


@inlined
def note_moves(s: Any, crew: Crew, k: int, thread: int) -> None:
    """A thread's own moves of class k go to the journal, in the order of the variables; the first notes the cost."""
    threads, room = threads_of(crew), len(s.journal)
    used, change = crew.told[thread * APART + WRITTEN], np.int64(0)
    for other in range(threads):
        count = crew.told[other * APART + COUNT]
        if other == thread:
            begin = crew.first[k * threads + thread]
            for at in range(min(count, room - used)):
                s.journal[used + at] = crew.moved[begin + at, VARIABLE]
        used = min(used + count, room)
        change += crew.told[other * APART + CHANGE]
    crew.told[thread * APART + WRITTEN] = used
    if thread == 0:
        s.tally[JOURNAL] = used
        s.tally[SOFT] += change


@inlined
def end_sweep(s: Any, crew: Crew) -> Any:
    """Let all remember the assignment if it is feasible and the best; gives its cost if it is feasible."""
    s.random[0] += np.uint64(len(s.best)) * np.uint64(STEP)
    crew.copies[0] = 0
    if s.tally[VIOLATIONS] > 0:
        return np.int64(NOTHING)
    if not s.tally[FEASIBLE] or s.tally[SOFT] < s.tally[BEST]:
        s.tally[BEST] = s.tally[SOFT]
        s.tally[FEASIBLE] = 1
        crew.copies[0] = s.tally[JOURNAL] if s.tally[JOURNAL] < len(s.journal) else len(s.journal) + 1
        s.tally[JOURNAL] = 0
    return s.tally[SOFT]


@inlined
def remember_part(s: Any, values: NDArray[Any], crew: Crew, thread: int) -> None:
    """A thread's part of what is to be remembered of the assignment."""
    threads = threads_of(crew)
    if crew.copies[0] > len(s.journal):
        for part in range(thread, len(crew.first) - 1, threads):  # its own variables, class by class
            for i in range(crew.first[part], crew.first[part + 1]):
                s.best[i] = values[i]
    else:
        for at in range(crew.copies[0] * thread // threads, crew.copies[0] * (thread + 1) // threads):
            s.best[s.journal[at]] = values[s.journal[at]]

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

from dabp.kernels.atomics import heard
from dabp.kernels.local_search.columns import BEST, FEASIBLE, JOURNAL, NOTHING, SOFT, VIOLATIONS
from dabp.kernels.local_search.compilation import inlined
from dabp.kernels.local_search.randomness import STEP

APART = 8
"""Numbers of different threads are so many places apart, in cache lines of their own."""

PATIENCE = 2000
"""How often a thread looks at what the others have done before it lets others have its core."""

COUNT, CHANGE, FLIPPED = range(3)
"""What threads tell each other of their part of a class: how many variables moved, how much the cost changed, how many
factors began or ceased to forbid the assignment."""


class Crew(NamedTuple):
    """What threads share in a sweep; T threads, C classes, N variables, classes one after the other."""

    classes: NDArray[np.int64]
    """Where each class begins, [C + 1]."""
    own: NDArray[np.int64]
    """Where each thread's part of the variables begins, of those that it tells what their neighbours did, [T + 1]."""
    splits: NDArray[np.int32]
    """Where the edges from variable i to the variables of thread t + 1 and later begin, counted from its first, at
    t · N + i, [(T − 1) · N]."""
    moved: NDArray[np.int32]
    """The variables that moved, each thread's from its first place in the class on, [N]."""
    before: NDArray[np.int32]
    """The values they had, [N]."""
    flips: NDArray[np.int64]
    """Factors that began (f) or ceased (−1 − f) to forbid the assignment, room for all for each thread, [T · H]."""
    told: NDArray[np.int64]
    """`COUNT`, `CHANGE` and `FLIPPED` of each thread, `APART`."""
    done: NDArray[np.int64]
    """How many stages of the sweeps each thread has done, `APART`."""
    copies: NDArray[np.int64]
    """How many entries of the journal are to be remembered after a sweep, more than it has for all variables, [1]."""


@inlined
def others_done(crew: Crew, stage: int) -> bool:
    """Whether all threads have done so many stages; waits a little."""
    for thread in range(len(crew.own) - 1):
        looks = 0
        while heard(crew.done, thread * APART) < stage:
            looks += 1
            if looks > PATIENCE:
                return False
    return True


@inlined
def first_of(crew: Crew, k: int, thread: int) -> Any:
    """Where a thread's part of class k begins; that of the next ends it."""
    begin = crew.classes[k]
    return begin + (crew.classes[k + 1] - begin) * thread // (len(crew.own) - 1)


@inlined
def state_at(random: NDArray[np.uint64], i: int) -> Any:
    """The state of the stream before the number that variable i has in this sweep."""
    return random[0] + np.uint64(i) * np.uint64(STEP)


@inlined
def note_moves(s: Any, crew: Crew, k: int) -> None:
    """What class k did to the cost and to the journal."""
    for thread in range(len(crew.own) - 1):
        begin, used = first_of(crew, k, thread), s.tally[JOURNAL]
        fit = min(crew.told[thread * APART + COUNT], len(s.journal) - used)
        for at in range(fit):
            s.journal[used + at] = crew.moved[begin + at]
        s.tally[JOURNAL] = used + fit
        s.tally[SOFT] += crew.told[thread * APART + CHANGE]


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
    if crew.copies[0] > len(s.journal):
        for i in range(crew.own[thread], crew.own[thread + 1]):
            s.best[i] = values[i]
    else:
        threads = len(crew.own) - 1
        for at in range(crew.copies[0] * thread // threads, crew.copies[0] * (thread + 1) // threads):
            s.best[s.journal[at]] = values[s.journal[at]]


@inlined
def edges_to(offsets: NDArray[np.int64], crew: Crew, i: int, thread: int) -> Any:
    """The edges of variable i, of those from ``offsets[i]`` on, that lead to a thread's part of the variables."""
    count, begin = len(crew.moved), offsets[i]
    first = begin + (crew.splits[(thread - 1) * count + i] if thread > 0 else 0)
    if thread < len(crew.own) - 2:
        return first, begin + crew.splits[thread * count + i]
    return first, offsets[i + 1]

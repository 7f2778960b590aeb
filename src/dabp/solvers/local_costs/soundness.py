"""Whether what a checkpoint holds of a local search fits the problem, so that no index or sum in a kernel goes astray.

A file may be of a stranger. What follows from the assignment is computed again and compared; what does not (the order
of violated factors, what is tabu until when) must lie in its range. All raise `ValueError` with what is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.search_arrays import JOURNAL, VIOLATIONS
from dabp.kernels.local_search.tabu_moves import BLOCK, DIRTY, STEP


def same(name: str, found: Any, expected: Any) -> None:
    """What follows from the rest is what it must be."""
    if not np.array_equal(found, expected):
        raise ValueError(f"{name} do not fit the assignment")


def within(name: str, values: NDArray[Any], low: int, stop: int) -> None:
    """All of them in [low, stop)."""
    if ((values < low) | (values >= stop)).any():
        raise ValueError(f"{name} are beyond their range")


def check_journal(state: Any) -> None:
    """Its entries are variables, and it is not longer than its room."""
    within("journal entries", state.journal, 0, len(state.journal))
    within("journal lengths", state.tally[JOURNAL : JOURNAL + 1], 0, len(state.journal) + 1)


def check_violated(state: Any, expected: Any) -> None:
    """The violated factors are those of the assignment, in whatever order; each knows its place."""
    count = int(expected.tally[VIOLATIONS])
    same("violations", state.tally[VIOLATIONS], count)
    violated = state.violated[:count]
    same("violated factors", np.sort(violated), np.sort(expected.violated[:count]))
    place = np.full(len(state.place), -1, dtype=np.int64)
    place[violated] = np.arange(count)
    same("places of violated factors", state.place, place)


def check_ring(moves: Any, places: int, pad: int) -> None:
    """The tabu list: a chain for each step to come, that ends; and the list of blocks to look at again."""
    ring, blocks = len(moves.ending), len(moves.dirty)
    if not np.isin(moves.closed, (0, pad)).all():
        raise ValueError("closed places are not marked as such")
    within("tabu places", moves.made, 0, max(places, 1))
    within("ends of tabus", moves.until, 0, int(moves.clock[STEP]) + ring)
    for name in ("following", "ending"):
        within(f"{name} entries", getattr(moves, name), -1, ring)
    within("counters", moves.clock, 0, np.iinfo(np.int64).max // 2)
    _check_chains(moves, int(moves.clock[STEP]))
    within("numbers of dirty blocks", moves.clock[DIRTY : DIRTY + 1], 0, blocks + 1)
    dirty = np.zeros(blocks, dtype=bool)
    listed = moves.dirty[: moves.clock[DIRTY]]
    within("dirty blocks", listed, 0, blocks)
    dirty[listed] = True
    same("dirty blocks", moves.is_dirty, dirty)
    same("dirty blocks", dirty.sum(), len(listed))


def _check_chains(moves: Any, step: int) -> None:
    """What ends in one step is a chain; no entry is in two, and each has ended before its place is taken again."""
    ring = len(moves.ending)
    slots = np.flatnonzero(moves.ending >= 0)
    nodes = moves.ending[slots]
    met = np.zeros(ring, dtype=bool)
    while len(nodes):
        if (
            met[nodes].any()
            or len(np.unique(nodes)) < len(nodes)
            or ((slots - step) % ring > (nodes - step) % ring).any()
        ):
            raise ValueError("what is tabu would never end")
        met[nodes] = True
        following = moves.following[nodes]
        slots, nodes = slots[following >= 0], following[following >= 0]


def check_blocks(moves: Any, any_best: NDArray[Any], open_best: NDArray[Any], pad: int) -> None:
    """Blocks that are not dirty know the least of theirs; what pads them is never taken."""
    clean = ~moves.is_dirty
    for name, best in (("any_block", any_best), ("open_block", open_best)):
        least = best.reshape(-1, BLOCK).min(axis=1)
        block = getattr(moves, name)
        same("best moves of blocks", block[: len(clean)][clean], least[clean])
        same("best moves of blocks", block[len(clean) :], np.full(len(block) - len(clean), pad))

# mypy: disable-error-code="untyped-decorator"
"""Which values threads know of each other while each updates its part of the variables, to price what they can.

A factor of two variables is priced by the thread that decodes the second of them. If that is another thread than the
first's, it must know that the first is done: threads tell how many blocks of variables they have done, and at the
start of each block look at what the others told. Nobody waits. Of two blocks of different threads at most one began
after the other had ended; the factors between blocks that were under way at the same time are left for later.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.atomics import APART, heard, tell
from dabp.kernels.belief_propagation.layout import Ints
from dabp.kernels.decorators import array_inner, part
from dabp.kernels.simd import item


class Meeting(NamedTuple):
    """B blocks of consecutive variables, T threads; one thread alone has one block, which it never looks at."""

    seen: NDArray[np.uint8]
    """[(B + 1) · B]: at a · B + b whether the values of block b, another thread's, were known when block a began.

    The last row is that of blocks whose variables are of several threads: nothing is known there.
    """
    done: Ints
    """How many of its blocks each thread has done in this iteration, `APART`."""
    whole: Ints
    """[T, 2]: the range of blocks that are a thread's alone."""
    shift: int
    """The block of variable i is i over 2 to this power."""
    blocks: int
    between: Ints
    """[2 · P]: the P pairs of blocks a and b that have factors between their threads, as a · B + b and b · B + a."""
    first: Ints
    """[P + 1]: where the factors between them begin."""
    variable: NDArray[np.int32]
    """Of each factor between blocks the variable that comes later,"""
    place: NDArray[np.int32]
    """and its place in `Pairs`."""


@array_inner
def begin_block(meeting: Meeting, thread: int, block: int) -> int:
    """Look at what the others have done; gives where the row of the block starts."""
    row = block * meeting.blocks
    if not meeting.whole[thread, 0] <= block < meeting.whole[thread, 1]:
        return meeting.blocks * meeting.blocks
    for other in range(len(meeting.whole)):
        if other != thread:
            first = meeting.whole[other, 0]
            for known in range(first, first + heard(meeting.done, other * APART)):
                meeting.seen[row + known] = 1
    return row


@array_inner
def end_block(meeting: Meeting, thread: int, block: int) -> None:
    """Tell the others that the block is done, if it is this thread's alone."""
    first, last = meeting.whole[thread, 0], meeting.whole[thread, 1]
    if first <= block < last:
        tell(meeting.done, thread * APART, block + 1 - first)


@part(_nrt=False)
def known(meeting: Meeting, row: int, other: int) -> bool:
    """Whether the value of another thread's variable was known when a block began."""
    return bool(item(meeting.seen, row + (other >> meeting.shift)) != 0)


@part(_nrt=False)
def strangers(meeting: Meeting, pair: int) -> bool:
    """Whether neither of two blocks of different threads was done when the other one began."""
    one, other = item(meeting.between, 2 * pair), item(meeting.between, 2 * pair + 1)
    return bool((item(meeting.seen, one) | item(meeting.seen, other)) == 0)

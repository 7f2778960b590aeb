"""Blocks of variables by which threads tell how far they are: see `dabp.kernels.belief_propagation.meeting`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.graph.grouping import grouped
from dabp.kernels.atomics import APART, zeros_apart
from dabp.kernels.belief_propagation.layout import Layout
from dabp.kernels.belief_propagation.meeting import Meeting

MOST_BLOCKS = 256
"""There are more than half as many blocks, unless there are fewer variables: those under way at once are few of all."""


def meeting_of(layout: Layout, parts: list[tuple[int, int]]) -> Meeting:
    """For threads that each have one of these ranges of variables, one after the other."""
    count = parts[-1][1]
    shift = max((count - 1) // MOST_BLOCKS, 0).bit_length() if len(parts) > 1 else 62
    blocks, size = max(-(-count >> shift), 1), 1 << shift
    whole = [(-(-low // size), blocks if high == count else high // size) for low, high in parts]
    variable, place = _across(layout, parts) if layout.exact.unit > 0 else 2 * (np.zeros(0, dtype=np.int32),)
    pair = (variable >> shift).astype(np.int64) * blocks + (layout.pairs.other[place] >> shift)
    order, first = grouped(pair, blocks * blocks)
    between = np.flatnonzero(np.diff(first))
    turned = between % blocks * blocks + between // blocks
    return Meeting(
        np.zeros((blocks + 1) * blocks, dtype=np.uint8),
        zeros_apart(len(parts) * APART),
        np.array(whole, dtype=np.int64),
        shift,
        blocks,
        np.stack([between, turned], axis=1).ravel(),
        first[np.append(between, -1)],
        variable[order],
        place[order],
    )


def _across(layout: Layout, parts: list[tuple[int, int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The places of pairs with a variable of an earlier part: the later variable, and the place."""
    starts = layout.variables.edge_start // layout.many.message.shape[1]
    found = [(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))]
    for low, high in parts[1:]:
        places = np.arange(starts[low], starts[high], dtype=np.int32)
        variables = np.repeat(np.arange(low, high, dtype=np.int32), np.diff(starts[low : high + 1]))
        across = layout.pairs.other[places] < low
        found.append((variables[across], places[across]))
    variable, place = (np.concatenate(each) for each in zip(*found, strict=True))
    return variable, place

"""Flips of binary variables, and the fields that they keep up to date.

For variables of two values and factors of at most two variables, the whole table of local costs is one number per
variable, its field h: what value 1 costs more than value 0 while all others stay. With the step r that a flip makes
(1 at value 0, −1 at value 1) and the coupling

    W_ij = f_ij(1, 1) + f_ij(0, 0) − f_ij(0, 1) − f_ij(1, 0)

flipping i costs Δ_i = r_i h_i and adds r_i W_ij to h_j. Costs are integers, so that sums are exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.moves import note_moved, remember
from dabp.kernels.local_search.random_stream import draw
from dabp.kernels.local_search.search_arrays import LANES, ROW, Floats, Ints, Noise, Record
from dabp.kernels.simd import least, load

THRESHOLDS = 1 << 15
"""Exponentially distributed numbers in the table of thresholds."""


class Couplings(NamedTuple):
    """A binary problem; N variables, costs int32 or int64."""

    offsets: Ints  # variable i's couplings are ``offsets[i]:offsets[i + 1]``, [N + 1]
    target: NDArray[np.int32]  # the other variable
    weight: NDArray[Any]  # W
    field: NDArray[Any]  # h with all variables at 0; `pad` for one that must stay at 0, −`pad` for one at 1, [N]
    pad: int  # larger than any change of cost


class Flips(NamedTuple):
    """The state of one search."""

    x: NDArray[Any]  # r: 1 at value 0, −1 at value 1; padded with 1 to whole rows
    field: NDArray[Any]  # h; padded with `pad` to whole rows
    best: NDArray[Any]  # the best assignment's r, without the journal's flips while `x` is the best, [N]
    journal: Ints  # variables that flipped since `best` equalled `x`; when full, any may have flipped, [N]
    tally: Record  # `search_arrays.TALLY`, []
    random: NDArray[np.uint64]  # the state of the random stream, [1]


@local_kernel
def restart_flips(c: Couplings, s: Flips) -> None:
    """Compute the fields from `x`. `best` stays."""
    for i in range(len(c.field)):
        total = np.int64(c.field[i])
        for e in range(c.offsets[i], c.offsets[i + 1]):
            if s.x[c.target[e]] < 0:
                total += c.weight[e]
        s.field[i] = total
    s.tally[()].journal = len(c.field)


@inlined
def flip(c: Couplings, s: Flips, i: int) -> None:
    """Flip variable i: its value, the cost, and its neighbours' fields."""
    step = s.x[i]
    s.tally[()].soft += step * s.field[i]
    s.x[i] = -step
    note_moved(s, i)
    for e in range(c.offsets[i], c.offsets[i + 1]):
        s.field[c.target[e]] += step * c.weight[e]


@inlined
def _accepted(s: Flips, i: int, thresholds: Noise, ceiling: Any, temperature: Any) -> bool:
    """Whether a flip of variable i is made at a temperature, given the most that it may cost there."""
    change = s.x[i] * s.field[i]
    if change <= 0 or change > ceiling:
        return bool(change <= 0)
    place = np.int64(draw(s.random) >> np.uint64(32)) & (THRESHOLDS - 1)
    return bool(change < temperature * thresholds[place])


@local_kernel
def flip_sweep(c: Couplings, s: Flips, thresholds: Noise, temperatures: Floats, lowest: Ints) -> None:
    """Offer every variable a flip once per temperature; `lowest` gets each sweep's least cost.

    A flip that costs Δ is made with probability min(1, exp(−Δ / T)) (Metropolis), that is if Δ < T · E with E
    exponentially distributed; E is read from a random place of `thresholds`, which begins with its largest.
    """
    tally, count = s.tally[()], len(s.best)
    for t in range(len(temperatures)):
        temperature = temperatures[t]
        ceiling = np.int64(temperature * thresholds[0])
        least_cost = tally.soft
        for start in range(0, count, LANES):
            # At low temperatures nothing in most rows may flip, whatever is drawn.
            if least(load(s.x, start, ROW) * load(s.field, start, ROW)) > ceiling:
                continue
            for i in range(start, min(start + LANES, count)):
                if _accepted(s, i, thresholds, ceiling, temperature):
                    flip(c, s, i)
                    if tally.soft < least_cost:
                        least_cost = tally.soft
                        remember(s, s.x)
        lowest[t] = least_cost


@local_kernel
def flip_classes(
    c: Couplings, s: Flips, starts: Ints, moved: Ints, thresholds: Noise, temperatures: Floats, lowest: Ints
) -> None:
    """The same with all of a class decided before any flips, as in `heat_bath.sweep_classes`."""
    for t in range(len(temperatures)):
        temperature = temperatures[t]
        ceiling = np.int64(temperature * thresholds[0])
        for k in range(len(starts) - 1):
            count, first, last = 0, starts[k], starts[k + 1]
            for row in range(first // LANES * LANES, last, LANES):
                if least(load(s.x, row, ROW) * load(s.field, row, ROW)) > ceiling:
                    continue
                for i in range(max(row, first), min(row + LANES, last)):
                    if _accepted(s, i, thresholds, ceiling, temperature):
                        moved[count] = i
                        count += 1
            for m in range(count):
                flip(c, s, moved[m])
        remember(s, s.x)
        lowest[t] = s.tally[()].soft

"""Local search on binary variables: what flipping each one costs, and how a flip changes that for its neighbours.

For variables of two values and factors of at most two variables, the whole table of local costs is one number per
variable, its field h: what value 1 costs more than value 0, the others staying. With the step r that a flip makes
(1 at value 0, −1 at value 1) and the coupling

    W_ij = f_ij(1, 1) + f_ij(0, 0) − f_ij(0, 1) − f_ij(1, 0)

flipping i costs Δ_i = r_i h_i and adds r_i W_ij to h_j. Costs are integers, so nothing drifts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.random_stream import draw
from dabp.kernels.local_search.search_arrays import BEST, FEASIBLE, JOURNAL, LANES, ROW, SOFT
from dabp.kernels.simd import least, load

THRESHOLDS = 1 << 15
"""How many exponentially distributed numbers the table of thresholds has."""


class Couplings(NamedTuple):
    """A binary problem; N variables, costs int32 or int64."""

    offsets: NDArray[np.int64]
    """Variable i's couplings are ``offsets[i]:offsets[i + 1]``, [N + 1]."""
    target: NDArray[np.int32]
    """The other variable."""
    weight: NDArray[Any]
    """W."""
    field: NDArray[Any]
    """h with all variables at value 0; `pad` for one that must stay at 0, −`pad` for one that must stay at 1, [N]."""
    pad: int
    """Larger than any change of cost."""


class Flips(NamedTuple):
    """Where a search stands."""

    step: NDArray[Any]
    """r: 1 at value 0, −1 at value 1; padded with 1 to whole rows."""
    field: NDArray[Any]
    """h; padded with `pad` to whole rows."""
    best: NDArray[Any]
    """The best assignment's r, [N]; behind by the journal's flips while `step` is it."""
    journal: NDArray[np.int64]
    """Variables that flipped since `best` and `step` were equal; as long as it overflows, all did, [N]."""
    tally: NDArray[np.int64]
    """Numbers that go with the assignment, see `search_arrays.SOFT`."""
    random: NDArray[np.uint64]
    """The state of the random stream, [1]."""


@local_kernel
def restart_flips(c: Couplings, s: Flips) -> None:
    """Make the fields anew. The best stays, and the assignment is off its journal."""
    for i in range(len(c.field)):
        total = np.int64(c.field[i])
        for e in range(c.offsets[i], c.offsets[i + 1]):
            if s.step[c.target[e]] < 0:
                total += c.weight[e]
        s.field[i] = total
    s.tally[JOURNAL] = len(c.field)


@inlined
def flip(c: Couplings, s: Flips, i: int) -> None:
    """Flip variable i: its value, the cost, and its neighbours' fields."""
    step = s.step[i]
    s.tally[SOFT] += step * s.field[i]
    s.step[i] = -step
    if s.tally[JOURNAL] < len(s.journal):
        s.journal[s.tally[JOURNAL]] = i
        s.tally[JOURNAL] += 1
    for e in range(c.offsets[i], c.offsets[i + 1]):
        s.field[c.target[e]] += step * c.weight[e]


@inlined
def remember_flips(s: Flips) -> None:
    """Keep the assignment if it is the best so far; costs as much as flips were made since it last did."""
    if s.tally[FEASIBLE] and s.tally[SOFT] >= s.tally[BEST]:
        return
    s.tally[BEST] = s.tally[SOFT]
    s.tally[FEASIBLE] = 1
    if s.tally[JOURNAL] < len(s.journal):
        for k in range(s.tally[JOURNAL]):
            s.best[s.journal[k]] = s.step[s.journal[k]]
    else:
        for i in range(len(s.best)):
            s.best[i] = s.step[i]
    s.tally[JOURNAL] = 0


@local_kernel
def remember_flips_now(s: Flips) -> None:
    """`remember_flips`, from Python."""
    remember_flips(s)


@local_kernel
def flip_now(c: Couplings, s: Flips, i: int) -> None:
    """`flip`, from Python."""
    flip(c, s, i)


@local_kernel
def flip_sweep(
    c: Couplings,
    s: Flips,
    thresholds: NDArray[np.float32],
    temperatures: NDArray[np.float64],
    lowest: NDArray[np.int64],
) -> None:
    """Offer every variable a flip once per temperature; `lowest` gets each sweep's least cost.

    A flip that costs Δ is made with probability min(1, exp(−Δ / T)) (Metropolis), that is if Δ < T · E with E
    exponentially distributed; E comes from a random place of a table, which begins with its largest.
    """
    count = len(s.best)
    for t in range(len(temperatures)):
        temperature = temperatures[t]
        ceiling = np.int64(temperature * thresholds[0])
        least_cost = s.tally[SOFT]
        for start in range(0, count, LANES):
            # At low temperatures nothing in most rows may flip, whatever is drawn.
            if least(load(s.step, start, ROW) * load(s.field, start, ROW)) > ceiling:
                continue
            for i in range(start, min(start + LANES, count)):
                change = s.step[i] * s.field[i]
                if change > 0:
                    if change > ceiling:
                        continue
                    place = np.int64(draw(s.random) >> np.uint64(32)) & (THRESHOLDS - 1)
                    if change >= temperature * thresholds[place]:
                        continue
                flip(c, s, i)
                if s.tally[SOFT] < least_cost:
                    least_cost = s.tally[SOFT]
                    remember_flips(s)
        lowest[t] = least_cost

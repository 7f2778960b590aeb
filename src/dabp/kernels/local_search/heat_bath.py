"""Heat-bath sweeps over a table of local costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.moves import move, remember
from dabp.kernels.local_search.random_stream import draw
from dabp.kernels.local_search.search_arrays import LANES, NOTHING, ROW, SOFT, VIOLATIONS, Costs, State
from dabp.kernels.simd import any_below, as_float32, first_equal, full_like, item, least, load

NOISE = 1 << 15
"""How many Gumbel numbers the table of noise has, the padding for one row not counted."""


@inlined
def resample(c: Costs, s: State, i: int, bits: Any, noise: NDArray[np.float32], temperature: Any) -> Any:
    """A value for variable i from P(a) ∝ exp(−L[i, a] / T), made of 64 random bits.

    The minimiser of L[i, a] − T · g_a with independent Gumbel numbers g_a has exactly that distribution, and needs no
    exponentials; they come from a random place of a table.
    """
    number = np.int64(bits >> np.uint64(32)) & (NOISE - 1)
    if c.rows.uniform == LANES:
        return _least_noisy(s, i, i * LANES, LANES, noise, number, temperature)
    if c.rows.uniform == 2 * LANES:
        return _least_noisy(s, i, i * (2 * LANES), 2 * LANES, noise, number, temperature)
    return _least_noisy(s, i, c.rows.start[i], c.rows.width[i], noise, number, temperature)


@inlined
def _least_noisy(
    s: State, i: int, row: int, width: int, noise: NDArray[np.float32], start: Any, temperature: Any
) -> Any:
    """The value that `resample` takes, of a row so wide: where that is written as a constant, no loop is left of it."""
    value = item(s.x, i)
    origin = item(s.local, row + value)
    lowest = -temperature * item(noise, start + value)
    better = False
    for k in range(0, width, LANES):
        better |= any_below(_noisy(s.local, row + k, origin, noise, start + k, temperature), lowest)
    if better:  # mostly not: the comparison alone takes half as long as finding the least
        for k in range(0, width, LANES):
            noisy = _noisy(s.local, row + k, origin, noise, start + k, temperature)
            here = least(noisy)
            if here < lowest:
                lowest, value = here, k + first_equal(noisy, here)
    return value


@inlined
def _noisy(
    local: NDArray[Any], place: Any, origin: Any, noise: NDArray[np.float32], number: Any, temperature: Any
) -> Any:
    """What some values cost more than the present one, less Gumbel numbers times the temperature."""
    costs, numbers = load(local, place, ROW), load(noise, number, ROW)
    return as_float32(costs - full_like(origin, costs)) - full_like(temperature, numbers) * numbers


@inlined
def least_feasible(s: State, least_cost: Any) -> Any:
    """The least feasible cost of a sweep so far; the present assignment is remembered if its cost is that."""
    if s.tally[VIOLATIONS] == 0 and s.tally[SOFT] < least_cost:
        least_cost = s.tally[SOFT]
        remember(s)
    return least_cost


@local_kernel
def sweep(
    c: Costs, s: State, noise: NDArray[np.float32], temperatures: NDArray[np.float64], lowest: NDArray[np.int64]
) -> int:
    """Resample every variable once per temperature; `lowest` gets each sweep's least feasible cost. How many moved."""
    moved = 0
    for t in range(len(temperatures)):
        temperature = np.float32(temperatures[t])
        least_cost = np.int64(NOTHING)
        for i in range(len(s.x)):
            value = resample(c, s, i, draw(s.random), noise, temperature)
            if value != s.x[i]:
                move(c, s, i, value)
                moved += 1
                least_cost = least_feasible(s, least_cost)
        lowest[t] = least_feasible(s, least_cost)
    return moved


@local_kernel
def resample_now(c: Costs, s: State, i: int, noise: NDArray[np.float32], temperature: float) -> int:
    """`resample`, from Python."""
    return int(resample(c, s, i, draw(s.random), noise, np.float32(temperature)))

"""Heat-bath sweeps over a table of local costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.exchange import Sets, exchange_change, exchanged_values, partner
from dabp.kernels.local_search.moves import move, move_now, remember
from dabp.kernels.local_search.random_stream import draw, uniform
from dabp.kernels.local_search.search_arrays import LANES, NOTHING, ROW, Costs, Floats, Ints, Noise, State
from dabp.kernels.simd import any_below, as_float32, first_equal, full_like, item, least, load

NOISE = 1 << 15
"""Gumbel numbers in the table of noise, without the padding for one row."""


@inlined
def resample(c: Costs, s: State, i: int, bits: Any, noise: Noise, temperature: Any) -> Any:
    """A value for variable i from P(a) ∝ exp(−L[i, a] / T), made of 64 random bits.

    The minimiser of L[i, a] − T · g_a with independent Gumbel numbers g_a has exactly that distribution, and needs no
    exponentials. The numbers are read from a random place of a table.
    """
    number = np.int64(bits >> np.uint64(32)) & (NOISE - 1)
    if c.rows.uniform == LANES:
        return _least_noisy(s, i, i * LANES, LANES, noise, number, temperature)
    if c.rows.uniform == 2 * LANES:
        return _least_noisy(s, i, i * (2 * LANES), 2 * LANES, noise, number, temperature)
    return _least_noisy(s, i, c.rows.start[i], c.rows.width[i], noise, number, temperature)


@inlined
def _least_noisy(s: State, i: int, row: int, width: int, noise: Noise, start: Any, temperature: Any) -> Any:
    """The value that `resample` takes; the loops over a constant width disappear."""
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
def _noisy(local: NDArray[Any], place: Any, origin: Any, noise: Noise, number: Any, temperature: Any) -> Any:
    """What some values cost more than the present one, less Gumbel numbers times the temperature."""
    costs, numbers = load(local, place, ROW), load(noise, number, ROW)
    return as_float32(costs - full_like(origin, costs)) - full_like(temperature, numbers) * numbers


@inlined
def _least_feasible(s: State, least_cost: Any) -> Any:
    tally = s.tally[()]
    if tally.violations == 0 and tally.soft < least_cost:
        least_cost = tally.soft
        remember(s, s.x)
    return least_cost


@local_kernel
def sweep(c: Costs, s: State, sets: Sets | None, noise: Noise, temperatures: Floats, lowest: Ints) -> int:
    """Resample every variable once per temperature; `lowest` gets each sweep's least feasible cost. How many moved.

    With `sets` each member that keeps its value is offered an exchange, made with probability min(1, exp(−Δ / T)).
    """
    moved = 0
    for t in range(len(temperatures)):
        temperature = temperatures[t]
        least_cost = np.int64(NOTHING)
        for i in range(len(s.x)):
            value = s.x[i]
            if sets is None or not sets.only[i]:
                value = resample(c, s, i, draw(s.random), noise, np.float32(temperature))
            if sets is not None and sets.of[i] >= 0 and value == s.x[i]:
                j = partner(sets, i, s.random)
                mine, theirs = exchanged_values(c, s, sets, i, j)
                if mine >= 0 and theirs >= 0:
                    change = exchange_change(c, s, i, j, mine, theirs)
                    if change <= 0 or uniform(s.random) * np.exp(np.float64(change) / temperature) < 1.0:
                        value = mine
                        move_now(c, s, j, theirs)
            if value != s.x[i]:
                move(c, s, i, value)
                moved += 1
                least_cost = _least_feasible(s, least_cost)
        lowest[t] = _least_feasible(s, least_cost)
    return moved


@local_kernel
def sweep_classes(
    c: Costs, s: State, starts: Ints, moved: Ints, new: Ints, noise: Noise, temperatures: Floats, lowest: Ints
) -> None:
    """The same where the variables of a class, ``starts[k]:starts[k + 1]``, share no factor.

    All of a class are resampled before any of them moves (chromatic Gibbs sampling, Gonzalez et al. 2011): the result
    is the same, and no row is read just after it was written, which is up to twice as fast. `lowest` gets the cost
    after each sweep if that is feasible. `moved` and `new` are memory for a class.
    """
    tally = s.tally[()]
    for t in range(len(temperatures)):
        temperature = np.float32(temperatures[t])
        for k in range(len(starts) - 1):
            count = 0
            for i in range(starts[k], starts[k + 1]):
                value = resample(c, s, i, draw(s.random), noise, temperature)
                if value != item(s.x, i):
                    moved[count], new[count] = i, value
                    count += 1
            for m in range(count):
                move(c, s, moved[m], new[m])
        remember(s, s.x)
        lowest[t] = np.int64(NOTHING) if tally.violations > 0 else tally.soft

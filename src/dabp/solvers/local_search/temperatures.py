"""Temperatures for annealing, found from the local costs around an assignment."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment
from dabp.solvers.local_search.local_costs import LocalCosts


def uphill_temperature(
    local: LocalCosts, table: NDArray[np.int64], x: Assignment, fraction: float, rng: np.random.Generator
) -> float:
    """The temperature at which this fraction of the variables, resampled from where they are, would go uphill.

    Of variables that have anywhere to go uphill, a sample if there are many; found by bisection, since
    P(uphill) = Σ_{a: L[a] > L[x]} exp(−L[a]/T) / Σ_a exp(−L[a]/T) rises with T.
    """
    rows = local.costs.rows
    owner = np.repeat(np.arange(len(x)), rows.width)
    rise = (table - np.repeat(table[rows.start + x], rows.width)).astype(np.float64)
    uphill = local.allowed & (rise > 0)
    open_to = np.unique(owner[uphill])
    if len(open_to) == 0:
        return 1.0
    chosen = np.zeros(len(x), dtype=bool)
    chosen[rng.choice(open_to, min(len(open_to), 2000), replace=False)] = True
    keep = chosen[owner] & local.allowed
    owner, rise, uphill = np.unique(owner[keep], return_inverse=True)[1], rise[keep], uphill[keep]
    rise -= np.minimum.reduceat(rise, np.flatnonzero(np.diff(owner, prepend=-1)))[owner]
    low, high = math.log(rise[rise > 0].min() / 50), math.log(rise.max() * 50)
    for _ in range(30):
        middle = (low + high) / 2
        share = np.exp(-rise / math.exp(middle))
        rate = (np.bincount(owner, share * uphill) / np.bincount(owner, share)).mean()
        low, high = (middle, high) if rate < fraction else (low, middle)
    return math.exp(high)

"""Cost tables of every awkward kind: what the numbers are, apart from where they stand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Table]
"""So many costs, from a generator."""


def integers(rng: np.random.Generator, cells: int) -> Table:
    """Small and whole."""
    return rng.integers(0, 101, cells).astype(float)


def negative(rng: np.random.Generator, cells: int) -> Table:
    """Mostly below zero."""
    return rng.integers(-100, 11, cells).astype(float)


def few(rng: np.random.Generator, cells: int) -> Table:
    """Many ties."""
    return rng.integers(0, 3, cells).astype(float)


def decimals(rng: np.random.Generator, cells: int) -> Table:
    """Up to six digits after the point, as people write them."""
    return np.round(rng.uniform(-50, 50, cells), int(rng.integers(1, 7)))


def reals(rng: np.random.Generator, cells: int) -> Table:
    """Every bit used."""
    return rng.normal(0, 10, cells)


def mixed(rng: np.random.Generator, cells: int) -> Table:
    """From 1e-9 to 1e12 in one table."""
    return rng.choice([-1.0, 1.0, 1.0], cells) * 10.0 ** rng.uniform(-9, 12, cells)


def one_magnitude(rng: np.random.Generator, cells: int) -> Table:
    """A magnitude to each table, from 1e-9 to 1e12."""
    return rng.uniform(0, 1, cells) * 10.0 ** rng.uniform(-9, 12)


def near_ties(rng: np.random.Generator, cells: int) -> Table:
    """Equal but for a few units in the last place, or for 1e-9 of the cost."""
    base = float(rng.choice([1.0, 3.7, 1000.25, 1e6]))
    step = float(rng.choice([np.spacing(base), 1e-9 * base, 1e-7 * base]))
    return base + step * rng.integers(-2, 3, cells)


def equal(rng: np.random.Generator, cells: int) -> Table:
    """One cost for all combinations."""
    return np.full(cells, float(rng.choice([0.0, 7.0, -2.5, 0.1])))


def zero(rng: np.random.Generator, cells: int) -> Table:
    """Nothing costs anything."""
    return np.zeros(cells)


def tiny(rng: np.random.Generator, cells: int) -> Table:
    """So small that their products and quotients are nothing."""
    return rng.integers(0, 50, cells) * 10.0 ** float(rng.integers(-320, -290))


def huge(rng: np.random.Generator, cells: int) -> Table:
    """Whole, with sums around 2⁵³: some are refused, the others have no bit to spare."""
    return np.rint(rng.uniform(0.2, 1.0, cells) * 2.0 ** float(rng.integers(48, 53)))


def by_difference(rng: np.random.Generator, cells: int) -> Table:
    """Costs of a square table that x − y decides: at least, between, apart, or out of it; else small and whole."""
    size = round(cells**0.5)
    if size < 3 or size * size != cells:
        return rng.integers(0, 30, cells).astype(float)
    x, y = np.indices((size, size))
    gap, other = (int(rng.integers(-size // 3, size // 3)) for _ in range(2))
    missing = np.maximum(y + gap - x, 0).astype(float)
    delta = int(rng.integers(0, 2) * rng.integers(0, size))
    band = (x - y >= min(gap, other)) & (x - y <= max(gap, other))
    out = (x == size - 1) | (y == size - 1)
    tables = (
        np.where(missing <= delta, missing, np.inf),
        np.where(band, 0.0, np.inf),
        np.where(band, float(rng.integers(1, 30)), 0.0),
        np.where(band & ~out, np.inf, np.where(x == size - 1, 3.0, 0.0) + np.where(y == size - 1, 4.0, 0.0)),
    )
    table = tables[int(rng.integers(len(tables)))].ravel()
    if rng.random() < 0.3:  # what only looks like one
        table[rng.integers(cells)] = 1.0
    return table

"""Values instead of places in memory: kernels compute what Python computes, and let go of what they allocate."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from dabp.kernels.decorators import array_kernel, kernel


class Pair(NamedTuple):
    """Two arrays of different kinds."""

    numbers: np.ndarray
    places: np.ndarray


@array_kernel
def branching(pair: Pair, limit: float) -> float:
    """Uses what is assigned once on some paths only, and in later rounds of loops."""
    start = limit * 2.0
    total = 0.0
    last = -1.0
    for i in range(pair.places.size):
        value = pair.numbers[pair.places[i]]
        if value > limit:
            excess = value - limit
            while excess > start:
                excess -= start
            total += excess
            if total > 100.0:
                break
        elif value < 0.0:
            continue
        else:
            for _ in range(3):
                half = value / 2.0
                if half > 1.0:
                    total += half
        last = value
    return total + last


@kernel
def allocating(pair: Pair, rounds: int) -> np.ndarray:
    """Arrays that are counted: made in a loop, kept on some paths, thrown away on others."""
    kept = np.zeros(3)
    for i in range(rounds):
        fresh = np.empty(3)
        for j in range(3):
            fresh[j] = i + j + pair.numbers[j]
        if i % 3 == 0:
            kept = fresh
        elif i % 3 == 1:
            other = fresh
            kept[0] += other[1]
    return kept


@pytest.mark.parametrize("seed", range(20))
def test_a_kernel_computes_what_python_computes(seed: int) -> None:
    """With loops that are left early, continued, and entered not at all."""
    rng = np.random.default_rng(seed)
    pair = Pair(rng.normal(2.0, 4.0, 9), rng.integers(0, 9, seed))
    plain: Any = branching
    assert branching(pair, 1.5) == plain.py_func(pair, 1.5)


def test_what_a_kernel_allocates_is_let_go() -> None:
    """Whichever path it took: Numba counts as many arrays freed as made."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    pair = Pair(np.arange(3.0), np.arange(3))
    plain: Any = allocating
    assert allocating(pair, 10).tolist() == plain.py_func(pair, 10).tolist()
    held = [sys.getrefcount(field) for field in pair]
    before = rtsys.get_allocation_stats()
    for rounds in range(30):
        allocating(pair, rounds)
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc > 30
    assert after.alloc - before.alloc == after.free - before.free
    assert [sys.getrefcount(field) for field in pair] == held

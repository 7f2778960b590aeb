"""A stream of random numbers inside a kernel (splitmix64): one 64-bit word of state, changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined

STEP = 0x9E3779B97F4A7C15
"""What the state grows by with each number."""


@inlined
def draw(random: NDArray[np.uint64]) -> Any:
    """The next 64 bits of a stream."""
    random[0] += np.uint64(STEP)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def below(random: NDArray[np.uint64], bound: int) -> Any:
    """A random integer in 0..bound−1, for bounds up to 2^32."""
    return np.int64(((draw(random) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@inlined
def uniform(random: NDArray[np.uint64]) -> Any:
    """A random number in [0, 1)."""
    return (draw(random) >> np.uint64(11)) * (1.0 / 9007199254740992.0)

"""The random stream of the kernels."""

from __future__ import annotations

import numpy as np

from dabp.kernels.decorators import kernel
from dabp.kernels.local_search.random_stream import below, draw, uniform


@kernel(cache=False)
def three(random: np.ndarray) -> tuple[int, int, int]:
    """The first numbers of a stream."""
    return draw(random), draw(random), draw(random)


@kernel(cache=False)
def fill(random: np.ndarray, integers: np.ndarray, reals: np.ndarray, bound: int) -> None:
    """Many bounded and real numbers."""
    for k in range(len(integers)):
        integers[k] = below(random, bound)
        reals[k] = uniform(random)


def test_the_stream_is_splitmix64() -> None:
    """The published first outputs of the generator seeded with 0, in order."""
    published = (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F)
    assert three(np.zeros(1, dtype=np.uint64)) == published


def test_bounded_numbers_are_uniform() -> None:
    """Every integer below the bound as often as any other, reals evenly in [0, 1)."""
    integers, reals = np.empty(70_000, dtype=np.int64), np.empty(70_000)
    fill(np.array([5], dtype=np.uint64), integers, reals, 7)
    counts = np.bincount(integers)
    assert len(counts) == 7
    np.testing.assert_allclose(counts, 10_000, rtol=0.05)
    assert 0.0 <= reals.min() <= reals.max() < 1.0
    np.testing.assert_allclose(np.histogram(reals, 10, (0, 1))[0], 7_000, rtol=0.06)

"""How long cycles of annealing are."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dabp.solvers.local_search.cycle_lengths import FACTOR, CycleLengths


def _spent(result: Callable[[float, np.random.Generator], float], total: float) -> dict[int, float]:
    """The part of all sweeps that cycles of each scale have, of those whose length the scale decides."""
    rng, lengths, left = np.random.default_rng(1), CycleLengths(100), total
    spent: dict[int, float] = {}
    while left > 1:
        length = lengths.choose(left, rng)
        lengths.record(result(length, rng))
        spent[lengths.scale] = spent.get(lengths.scale, 0.0) + length / total
        left -= length
    return spent


def test_where_all_cycles_find_the_same_the_shortest_have_most() -> None:
    """Nothing is gained by waiting."""
    spent = _spent(lambda length, rng: 7.0, 100 * 1000)
    assert max(spent, key=lambda scale: spent[scale]) <= 1


def test_where_cycles_of_one_length_hardly_differ_one_slow_one_has_most() -> None:
    """A large problem: each tripling gains far more than luck does."""
    spent = _spent(lambda length, rng: -math.log(length) + 1e-3 * rng.normal(), 100 * 1000)
    assert sum(part for scale, part in spent.items() if FACTOR**scale >= 100) > 0.6


def test_in_between_the_length_with_the_lowest_best_is_found() -> None:
    """Cycles gain until they are of scale 3 and nothing after: most sweeps are then near it."""
    spent = _spent(lambda length, rng: 10 * max(0.0, 3 - math.log(length / 100, FACTOR)) + rng.normal(), 100 * 3000)
    assert spent[3] + spent.get(2, 0.0) + spent.get(4, 0.0) > 0.5


def test_cycles_that_find_nothing_get_longer() -> None:
    """Where short cycles end with violations, longer ones are tried."""
    spent = _spent(lambda length, rng: 1.0 if length > 2000 else math.inf, 100 * 3000)
    assert max(spent) >= 3


@pytest.mark.parametrize("left", [1.0, 50.0, 250.0, math.inf])
def test_never_longer_than_what_is_left(left: float) -> None:
    """The last cycle takes what there is; without a limit lengths are numbers."""
    rng, lengths = np.random.default_rng(2), CycleLengths(100)
    for k in range(40):
        length = lengths.choose(left, rng)
        assert 1.0 <= length <= left
        assert math.isfinite(length)
        lengths.record(float(k % 3))

"""Families of training problems: what their names say, the same for the same seed, none of them held out."""

import numpy as np
import pytest

from dabp.lab.policies.families import FAMILIES, HELD_OUT


@pytest.mark.parametrize("name", FAMILIES)
def test_a_seed_decides_everything(name):
    """Two problems of one seed are equal, of two seeds are not; forbidden combinations where the name says so."""
    first, again, other = (FAMILIES[name](seed) for seed in (7, 7, 8))
    assert np.array_equal(first.pool, again.pool)
    assert not np.array_equal(first.pool, other.pool)
    assert np.isinf(first.pool).any() == (name.split()[0] in ("frequencies", "forbidden"))


def test_held_out_kinds_are_not_trained_on():
    """By name."""
    assert not [name for name in FAMILIES if name.split()[0] in HELD_OUT]

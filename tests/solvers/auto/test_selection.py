"""Who is left out of a portfolio, and why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dabp.solvers.auto.features import Features, features_of
from dabp.solvers.auto.plan import (
    FEWEST_ITERATIONS,
    SHARES,
    iteration_seconds,
    layout_bytes,
    layout_room,
    setup_seconds,
    too_few_iterations,
)
from dabp.solvers.auto.selection import affordable, priors
from tests.solvers.auto.shapes import from_pairs

MEMBERS = ["annealing", "tabu", "bp-reinforced", "descent", "dual"]


@pytest.fixture
def features() -> Features:
    """Of a small problem, where nobody is left out for long."""
    rng = np.random.default_rng(0)
    return features_of(from_pairs(10, 4, lambda: rng.integers(0, 9, (4, 4)).astype(float)))


def test_descent_is_for_problems_that_others_do_not_start_on_in_time(features: Features) -> None:
    """With time for all, descent is left out without a word; on a vast problem it is what others are left out for."""
    names, notes = affordable(MEMBERS, "small", features, 10.0)
    assert names == [name for name in MEMBERS if name != "descent"]
    assert notes == []
    vast = replace(features, num_edges=10**9)
    names, notes = affordable(MEMBERS, "small", vast, 1.0)
    assert names == ["descent"]
    assert setup_seconds("descent", vast) == min(setup_seconds(name, vast) for name in MEMBERS)
    assert "too much of the time" in notes[0]


def test_a_run_that_would_be_cut_off_at_once_is_not_begun(features: Features) -> None:
    """Belief propagation needs some iterations after its start; with time for fewer it is left to descent."""
    large = replace(features, num_edges=4_000_000, num_cells=50_000_000)
    start, iterations = setup_seconds("bp-reinforced", large), FEWEST_ITERATIONS * iteration_seconds(large)
    for seconds, begins in ((start + 0.5 * iterations, False), (2 * start + 2 * iterations, True)):
        assert too_few_iterations("bp-reinforced", large, seconds) is not begins
        assert ("bp-reinforced" in affordable(MEMBERS, "large", large, seconds)[0]) is begins
    assert not too_few_iterations("tabu", large, start)


def test_tables_find_room(features: Features) -> None:
    """Beyond the room there is only the member of most weight stays, and those that move on its tables."""
    bulky = replace(features, num_cells=10**9, num_different_cells=10**9)
    assert layout_bytes("dual", bulky) > layout_room(bulky)
    names, notes = affordable(["tabu", "annealing", "dual", "bp-reinforced"], "small", bulky, 1e6)
    assert names == ["tabu", "annealing"]
    assert "too much memory: dual, bp-reinforced" in notes[0] or "too much memory: bp-reinforced, dual" in notes[0]
    assert affordable(["dual", "expansion"], "image", bulky, 1e6)[0] == ["dual", "expansion"]


def test_one_thread_has_one_annealing() -> None:
    """It has the time of both."""
    names = ["annealing", "annealing 2", "tabu"]
    both = priors(names, "medium", 2)
    alone = priors(names, "medium", 1)
    assert list(both) == names
    assert list(alone) == ["annealing", "tabu"]
    assert alone["annealing"] == both["annealing"] + both["annealing 2"]
    assert alone["tabu"] == both["tabu"] == SHARES["tabu"].weights["medium"]

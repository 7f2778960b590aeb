"""Temperatures from local costs."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.local_search.local_costs import LocalCosts
from dabp.solvers.local_search.temperatures import uphill_temperature


def test_temperature_for_a_fraction_uphill() -> None:
    """With two values a distance apart, P(uphill) = 1 / (1 + exp(d / T)) is solved for T."""
    local = LocalCosts(Problem([2], [0], [0, 1], [0.0, 5.0], [0, 2]))
    state = local.state(0)
    local.put(state, np.array([0]))
    found = uphill_temperature(local, state.local, state.x, 0.25, np.random.default_rng(0))
    assert found == pytest.approx(5.0 / np.log(3.0), rel=1e-4)

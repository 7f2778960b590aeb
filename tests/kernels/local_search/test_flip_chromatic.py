"""Sweeps of flips in classes."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.local_costs.binary_costs import BinaryCosts
from dabp.solvers.local_costs.colouring import coloured
from tests.kernels.local_search.test_chromatic import boltzmann, frequencies


@pytest.mark.parametrize("threads", [1, 2])
def test_sweeps_sample_from_boltzmann(threads: int) -> None:
    """Of a ring of four, two classes: flips of one class at once are as if in turns."""
    rng = np.random.default_rng(2)
    scopes = [(0, 1), (1, 2), (2, 3), (3, 0), (0,)]
    problem = Problem.from_tables([2] * 4, [(s, rng.integers(0, 5, [2] * len(s)) + 0.5) for s in scopes])
    seen = frequencies(BinaryCosts(problem, classes=coloured(problem)), problem, 3.0, threads)
    for values, expected in boltzmann(problem, 3.0).items():
        assert seen[values] == pytest.approx(expected, abs=0.015)

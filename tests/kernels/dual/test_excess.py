"""Where the gap between an assignment and the dual's bound is."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.solvers.dual.pairs import PairPasses
from tests.solvers.dual.test_branching import drawn_grid


def test_it_adds_up_to_the_gap_and_is_never_negative() -> None:
    """After any number of passes, for any assignment and any kind of table."""
    rng = np.random.default_rng(5)
    for seed in range(60):
        problem = drawn_grid(seed, hard=0.0)
        passes = PairPasses(problem)
        for turn in range(seed % 7):
            passes.run(turn % 2 == 0)
        values = rng.integers(0, problem.domain_sizes)
        excess = passes.excess(values)
        assert (excess >= -1e-9 * problem.facts.magnitude).all()
        gap = problem.cost(values) - passes.constant - passes.certified()
        assert excess.sum() == pytest.approx(gap, abs=1e-8 * problem.facts.magnitude)

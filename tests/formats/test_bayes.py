"""A problem is a Bayesian network or it is none."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.formats.bayes import costs_of, distributions
from tests.formats.networks import random_network


@pytest.mark.parametrize("seed", range(10))
def test_each_variable_has_its_distribution(seed: int) -> None:
    """The factor of each variable is the one that has it last."""
    problem = random_network(seed)
    found = distributions(problem)
    assert [int(problem.scope(f)[-1]) for f in found] == list(range(problem.num_variables))


def test_costs() -> None:
    """A certain event costs 0, not -0, and an impossible one is forbidden."""
    costs = costs_of(np.array([1.0, 0.0, 0.5]))
    assert costs.tolist() == [0, np.inf, np.log(2)]
    assert not np.signbit(costs).any()

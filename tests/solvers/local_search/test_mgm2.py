"""Maximum gain messages with pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.solvers.local_search.mgm2 import Mgm2
from dabp.solvers.status import Status

PROBLEM = dabp.generate("scale-free", variables=20, domain=4, seed=4)


@pytest.mark.parametrize("seed", range(5))
def test_ends_where_no_two_neighbours_help(seed: int) -> None:
    """The cost never rises, and no change of one or of any two variables of a factor lowers the last one."""
    result = dabp.solve(PROBLEM, "mgm2", seed=seed, max_iterations=100_000)
    assert result.status is Status.CONVERGED
    assert (np.diff(result.trace.iteration_costs) <= 0).all()
    for factor in PROBLEM.factors:
        for values in itertools.product(range(4), repeat=2):
            other = result.assignment.copy()
            other[list(factor.scope)] = values
            assert PROBLEM.cost(other) >= result.cost


def test_better_than_alone() -> None:
    """From the same start its answers are better on average than those of MGM, which is stuck sooner."""
    starts = np.random.default_rng(0).integers(0, 4, (10, 20))
    alone, paired = (
        np.mean([dabp.solve(PROBLEM, name, initial=x, seed=1, max_iterations=10_000).cost for x in starts])
        for name in ("mgm", "mgm2")
    )
    assert paired < alone


@pytest.mark.parametrize("params", [{"threshold": 0}, {"threshold": 1.0}, {"favor": "both"}])
def test_parameters_are_checked(params: dict[str, object]) -> None:
    """A threshold of 0 never makes an offer, one of 1 never takes one."""
    with pytest.raises(ParameterError, match=f"{next(iter(params))} is "):
        Mgm2(**params)

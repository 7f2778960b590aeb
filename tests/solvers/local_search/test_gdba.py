"""Distributed breakout."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.solvers.local_search.gdba import Gdba
from dabp.solvers.status import Status

PROBLEM = dabp.generate("scale-free", variables=20, domain=4, seed=4)


@pytest.mark.parametrize(("modifier", "mode"), [("A", "E"), ("A", "C"), ("M", "T")])
def test_breaks_out(modifier: str, mode: str) -> None:
    """From where no single change helps, which MGM ends at, it goes on and finds better."""
    stuck = dabp.solve(PROBLEM, "mgm", seed=2)
    params = {"modifier": modifier, "increase_mode": mode}
    result = dabp.solve(PROBLEM, "gdba", params=params, initial=stuck.assignment, seed=2, max_iterations=500)
    assert result.status is Status.LIMIT
    assert result.cost < stuck.cost


def test_ends_where_nothing_is_violated() -> None:
    """A colouring without conflicts is reached and is the end of it."""
    ring = [((i, (i + 1) % 12), np.eye(3) * (i + 1)) for i in range(12)]
    problem = Problem.from_tables([3] * 12, ring).replace(constant=0.5)
    result = dabp.solve(problem, "gdba", seed=1, max_iterations=10_000)
    assert result.status in (Status.CONVERGED, Status.OPTIMAL)
    assert result.cost == 0.5


def test_forbidden_values_stay_forbidden() -> None:
    """However heavy a cost has become, a value that is forbidden by itself is not taken to avoid it."""
    problem = Problem.from_tables([2, 2], [((0,), [0, np.inf]), ((1,), [0, np.inf]), ((0, 1), [[5, 1], [1, 0]])])
    for modifier in ("A", "M"):
        result = dabp.solve(problem, "gdba", params={"modifier": modifier}, max_iterations=2000)
        assert result.cost == 5
        assert np.isfinite(result.trace.iteration_costs).all()


@pytest.mark.parametrize("params", [{"modifier": "X"}, {"violation": "X"}, {"increase_mode": "X"}])
def test_parameters_are_checked(params: dict[str, str]) -> None:
    """Only the published variants."""
    with pytest.raises(ParameterError, match=f"{next(iter(params))} is "):
        Gdba(**params)

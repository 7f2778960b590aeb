"""Tabu search."""

from __future__ import annotations

import pytest

import dabp
from dabp.errors import ParameterError
from dabp.solvers.local_search.tabu import Tabu

PROBLEM = dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=4)


@pytest.mark.parametrize("wrong", [{"tenure": 0}, {"tenure": 2**31}, {"patience": 0}, {"elites": 0}])
def test_refuses_wrong_parameters(wrong: dict[str, int]) -> None:
    """A parameter outside its range is an error on construction."""
    with pytest.raises(ParameterError):
        Tabu(**wrong)

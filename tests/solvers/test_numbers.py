"""The debug switch that looks through every block for NaN and infinity."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import dabp
from dabp.errors import SolverError
from dabp.solvers.base import Search, Step
from dabp.solvers.numbers import SWITCH, checked_step


class Broken(Search):
    """Says what it is told to say."""

    def __init__(self, step: Step, array: np.ndarray):
        self._step, self._array = step, array

    def step(self) -> Step:
        return self._step

    def numbers(self) -> Mapping[str, np.ndarray]:
        return {"messages": self._array}


@pytest.mark.parametrize(
    ("step", "array", "words"),
    [
        (Step(np.array([1.0, np.nan])), np.zeros(2), "a cost"),
        (Step(np.array([1.0]), best_cost=np.nan), np.zeros(2), "the best cost"),
        (Step(bound=np.nan), np.zeros(2), "the bound"),
        (Step(), np.array([0.0, np.nan, 1.0]), "1 of 3 numbers of messages"),
        (Step(), np.array([[np.inf, -np.inf]]), "2 of 2 numbers of messages"),
    ],
)
def test_tells_what_is_not_finite(step: Step, array: np.ndarray, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the switch on each is an error that names it; with it off nothing is looked at."""
    search = Broken(step, array)
    monkeypatch.setenv(SWITCH, "1")
    with pytest.raises(SolverError, match=words):
        checked_step(search)
    monkeypatch.setenv(SWITCH, "0")
    assert checked_step(search) is step


def test_infeasible_costs_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An infinite cost is that of an infeasible candidate, and no defect."""
    monkeypatch.setenv(SWITCH, "1")
    checked_step(Broken(Step(np.array([np.inf, 2.0])), np.zeros(0)))


def test_the_driver_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs scaled near the largest float32 overflow in messages: a solve with the switch on says so."""
    problem = dabp.generate("random-cop", variables=8, domain=4, density=0.9, seed=3)
    monkeypatch.setenv(SWITCH, "1")
    with pytest.raises(SolverError, match="finite"):
        dabp.solve(problem, "dabp", params={"cost_scale": 1e-36}, max_iterations=40)

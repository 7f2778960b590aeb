"""The debug switch that looks through every block for NaN and infinity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

import dabp
from dabp.errors import SolverError
from dabp.problem import Assignment, Problem
from dabp.solvers import SOLVERS, make_solver
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.finite_numbers import SWITCH, check_numbers, checked_step


class Broken(Search):
    """Gives the steps that it was made with."""

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


ELSEWHERE = {
    "auto": "its members are looked at, each by itself",
    "linear": "HiGHS calculates, in a process of its own, and its bound is computed anew",
    "toulbar2": "it calculates with integers, in a process of its own",
    "semidefinite": "its bound counts once a factorisation of its own has proved it",
    "assignment": "it calculates with integers",
    "robust": "it calculates with integers",
    "icm": "its costs are checked",
    "dsa": "it calculates with integers",
    "mgm": "it calculates with integers",
    "tabu": "it calculates with integers",
    "mgm2": "it calculates with integers",
}
"""Solvers without numbers of their own that could be NaN."""


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_shows_what_it_calculates_with(name: str) -> None:
    """After a few blocks on a problem with cycles and forbidden cells all of it is finite, and NaN in it is told."""
    if name.split("-")[0] in ELSEWHERE:
        return
    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.6, seed=3)
    problem = problem.replace(pool=np.where(problem.pool > 97, np.inf, problem.pool))
    search = make_solver(name).start(problem, seed=1, budget=Budget(max_iterations=60))
    try:
        shown: dict[str, np.ndarray] = {}
        for _ in range(200):
            step = search.step()
            check_numbers(search, step)
            shown.update(search.numbers())
            if step.finished is not None or shown:
                break
        assert shown
        poisoned = next(array for array in shown.values() if array.size)
        poisoned.reshape(-1)[0] = np.nan
        if np.isnan(next(array for array in search.numbers().values() if array.size)).any():
            with pytest.raises(SolverError, match="not finite"):
                check_numbers(search, Step())
    finally:
        search.close()


@dataclass(frozen=True, kw_only=True)
class Breaking(Solver):
    """Starts a search whose messages are NaN."""

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        return Broken(Step(np.array([1.0])), np.array([np.nan]))


def test_the_driver_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solve with the switch on says so."""
    problem = dabp.generate("random-cop", variables=8, domain=4, density=0.9, seed=3)
    monkeypatch.setenv(SWITCH, "1")
    with pytest.raises(SolverError, match="1 of 1 numbers of messages are not finite"):
        dabp.solve(problem, Breaking(), max_iterations=40)

"""The contract of solvers: what a search need not do has a sensible answer."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.solvers.base import Budget, Search, Solver, Step
from tests.sampling import Sampling


class Least(Search):
    """Does what it must and no more."""

    def step(self) -> Step:
        return Step()


def test_a_search_that_cannot_be_saved_says_so() -> None:
    """With its own name, when it is asked."""
    for ask in (Least().state_dict, lambda: Least().load_state_dict({})):
        with pytest.raises(ParameterError, match="Least cannot be"):
            ask()


def test_what_is_optional_does_nothing() -> None:
    """Offers are ignored, nothing is pending, nothing is to be reported or closed."""
    search = Least()
    search.offer(np.zeros(1, dtype=np.int64), 1.0)
    search.close()
    assert (search.at_boundary, search.pending(), tuple(search.summary())) == (True, None, ())


def test_a_step_of_nothing_is_no_iteration() -> None:
    """No costs, no candidate, no bound, not finished."""
    step = Step()
    assert (len(step.costs), step.best, step.best_cost, step.bound, step.finished) == (0, None, np.inf, None, None)


def test_solvers_are_frozen_and_equal_by_their_parameters() -> None:
    """A checkpoint knows its solver by them."""
    assert Sampling(block=3) == Sampling(block=3) != Sampling(block=4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sampling().block = 5  # type: ignore[misc]
    with pytest.raises(TypeError, match="abstract"):
        Solver()  # type: ignore[abstract]


def test_a_solver_starts_on_a_problem() -> None:
    """With a seed and a budget; the default budget is no limit at all."""
    budget = Budget()
    assert (budget.time_limit, budget.max_iterations, budget.memory_limit, budget.threads) == (None, None, None, 1)
    step = Sampling(block=4).start(Problem([2, 2]), seed=1, budget=budget).step()
    assert len(step.costs) == 4

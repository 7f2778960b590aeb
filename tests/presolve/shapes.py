"""Problems of one shape for the tests of presolve, and the check of a presolved problem by enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dabp.presolve import Presolved, presolve
from dabp.problem import Problem
from tests.problems import exhaustive


def checked(problem: Problem, **options: Any) -> Presolved:
    """The presolved problem, after a check that its optimum, lifted, is the original's."""
    optimum, _ = exhaustive(problem)
    reduced = presolve(problem, **options)
    if reduced.infeasible:
        assert optimum == np.inf
        return reduced
    least, best = exhaustive(reduced.problem)
    assert least == pytest.approx(optimum)
    lifted = reduced.lift(best)
    assert problem.cost(lifted) == pytest.approx(optimum)
    projected = reduced.project(lifted)
    assert ((projected >= 0) & (projected < reduced.problem.domain_sizes)).all()
    return reduced


def shared_pairs(scopes: np.ndarray, table: np.ndarray) -> Problem:
    """Binary factors that all use one square table."""
    count = len(scopes)
    sizes = np.full(int(scopes.max()) + 1, len(table))
    offsets = np.arange(0, 2 * count + 1, 2)
    return Problem(sizes, scopes.ravel(), offsets, table.ravel(), [0, table.size], np.zeros(count, dtype=np.int64))


def ring(count: int, size: int) -> Problem:
    """A cycle with one shared table of random integers."""
    table = np.random.default_rng(0).integers(0, 1000, (size, size)).astype(float)
    return shared_pairs(np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1), table)


def ascending(count: int, size: int) -> Problem:
    """A chain of variables, each less than the next, the factors in an order that suits nobody."""
    less = np.where(np.arange(size)[:, None] < np.arange(size), 0.0, np.inf)
    order = np.random.default_rng(0).permutation(count - 1)
    return shared_pairs(np.stack([order, order + 1], axis=1), less)

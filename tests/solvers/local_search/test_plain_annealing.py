"""Annealing in NumPy: finds optima that exhaustive search proves, on every kind of problem, without compiled code."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.solvers.local_search.plain_annealing import PlainAnnealing

WITHOUT_NUMBA = """
import sys
import dabp
from dabp.solvers.base import Budget
from dabp.solvers.local_search.plain_annealing import PlainAnnealing
problem = dabp.generate("random-cop", variables=10, domain=3, density=0.5, seed=1)
search = PlainAnnealing().start(problem, seed=0, budget=Budget())
assert search.step().best is not None
assert "numba" not in sys.modules, "numba was imported"
"""


def _problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 8)
    tables = []
    for _ in range(16):
        scope = tuple(rng.choice(8, rng.integers(1, 4), replace=False).tolist())
        table = rng.integers(0, 20, [sizes[v] for v in scope]) * 10.0 ** rng.integers(-3, 3)
        if seed % 2:
            table[rng.random(table.shape) < 0.1] = np.inf
        tables.append((scope, table))
    return Problem.from_tables(sizes.tolist(), tables)


@pytest.mark.parametrize("seed", range(12))
def test_small_problems_are_solved(seed: int) -> None:
    """As elimination proves: mixed domains and arities, costs of six orders of magnitude, forbidden combinations."""
    problem = _problem(seed)
    best = dabp.solve(problem, "mbe", presolve=False)
    found = dabp.solve(problem, PlainAnnealing(), max_iterations=12)
    assert best.status is not None
    assert found.cost == (pytest.approx(best.cost) if best.cost is not None else None)


def test_nothing_is_compiled() -> None:
    """A search runs without Numba being imported at all."""
    subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True)


def test_replicas_are_checked() -> None:
    """At least one."""
    with pytest.raises(ParameterError, match="at least 1 replica"):
        PlainAnnealing(replicas=0)

"""Belief propagation in NumPy: the same iterations as the compiled one, and free of compiled code."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import dabp
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.plain import FIRST_LENGTH, PlainBeliefPropagation

WITHOUT_NUMBA = """
import sys
import dabp
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.plain import PlainBeliefPropagation
problem = dabp.generate("random-cop", variables=10, domain=3, density=0.5, seed=1)
search = PlainBeliefPropagation().start(problem, seed=0, budget=Budget())
assert search.step().best is not None
assert "numba" not in sys.modules, "numba was imported"
"""


def test_iterations_are_those_of_the_compiled_solver() -> None:
    """The same costs, iteration by iteration, as long as rounding (the kernels' is single precision) plays no part."""
    for seed in range(5):
        problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=seed)
        chosen = {"damping": 0.3, "reinforcement": 1 / FIRST_LENGTH, "restarts": 1}
        compiled = dabp.solve(problem, "bp-reinforced", params=chosen, max_iterations=100, seed=seed).trace
        plain = dabp.solve(problem, "bp-plain", max_iterations=100, seed=seed).trace
        count = min(25, compiled.iterations)
        assert count > 5
        assert plain.iteration_costs[:count].tolist() == compiled.iteration_costs[:count].tolist()


def test_near_the_compiled_solver() -> None:
    """Within 4 % of reinforced BP's answer for as many iterations."""
    for family in ("random-cop", "scale-free"):
        problem = dabp.generate(family, variables=40, seed=3)
        compiled = dabp.solve(problem, "bp-reinforced", max_iterations=1500).cost
        plain = dabp.solve(problem, "bp-plain", max_iterations=1500).cost
        assert plain <= 1.04 * compiled


def test_nothing_is_compiled() -> None:
    """A search runs without Numba being imported at all."""
    subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True)


def test_blocks_do_not_change_the_run(monkeypatch) -> None:
    """Where the clock cuts blocks changes no iteration."""
    problem = dabp.generate("random-cop", variables=10, domain=3, density=0.5, seed=1)
    costs = []
    for seconds in (0.0, 0.05):
        monkeypatch.setattr("dabp.solvers.belief_propagation.plain.BLOCK_SECONDS", seconds)
        search = PlainBeliefPropagation().start(problem, seed=4, budget=Budget())
        told = np.zeros(0)
        while len(told) < 300:
            told = np.concatenate([told, search.step().costs])
        costs.append(told[:300])
    assert np.array_equal(*costs)

"""Heat-bath updates."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.local_search.heat_bath import NOISE, resample
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.colouring import coloured, in_classes
from dabp.solvers.local_costs.local_costs import LocalCosts
from dabp.solvers.local_costs.shared_tables import table_of
from tests.kernels.alone import alone
from tests.problems import random_problem
from tests.search_states import sound

value = alone(resample)


def test_resampling_is_boltzmann() -> None:
    """Values are drawn from P(a) ∝ exp(−L[a] / T)."""
    costs = np.array([0.0, 3.0, 1.0, 7.0, 2.0, 2.0, 9.0, 4.0, 5.0, 1.0])
    local = LocalCosts(Problem([10], [0], [0, 1], costs, [0, 10]))
    state = local.state(11)
    local.put(state, np.array([3]))
    noise = np.random.default_rng(0).gumbel(size=NOISE + 16).astype(np.float32)
    bits = np.random.default_rng(1).integers(2**64, size=20_000, dtype=np.uint64)
    drawn = [value(local.costs, state, 0, each, noise, np.float32(2.0)) for each in bits]
    expected = np.exp(-costs / 2.0)
    np.testing.assert_allclose(np.bincount(drawn, minlength=10) / 20_000, expected / expected.sum(), atol=0.015)


@pytest.mark.parametrize("domain", [2, None], ids=["flips", "rows"])
@pytest.mark.parametrize("seed", range(15))
def test_a_class_moves_at_once_as_if_in_turn(seed: int, domain: int | None) -> None:
    """The same values after every sweep as with variable after variable in the order of the classes."""
    problem = random_problem(seed, max_variables=12)
    if domain == 2:
        rng = np.random.default_rng(seed)
        scopes = [tuple(rng.permutation(40)[:2].tolist()) for _ in range(60)]
        problem = Problem.from_tables([2] * 40, [(scope, rng.integers(-9, 9, (2, 2)) * 1.0) for scope in scopes])
    classes = coloured(problem)
    tables = [table_of(problem, Guard(), classes), table_of(in_classes(problem, classes), Guard(), None)]
    states = [table.state(seed) for table in tables]
    tables[1].sets = None  # exchanges are not made in classes
    for table, state in zip(tables, states, strict=True):
        table.put(state, np.zeros(problem.num_variables, dtype=np.int64))
    for temperature in (50.0, 5.0, 0.0):
        for table, state in zip(tables, states, strict=True):
            table.sweep(state, table.noise(np.random.default_rng(0)), np.full(3, temperature), np.zeros(3, np.int64))
        np.testing.assert_array_equal(states[0].x, states[1].x)
        sound(tables[0], states[0])

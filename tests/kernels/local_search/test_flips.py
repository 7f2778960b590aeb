"""Flips of binary variables."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.local_search.flips import flip
from dabp.problem import Problem
from dabp.solvers.local_costs.binary_costs import BinaryCosts
from tests.binary_problems import binary_problem
from tests.kernels.alone import alone
from tests.problems import all_assignments
from tests.search_states import sound

flip_alone = alone(flip)


@pytest.mark.parametrize("seed", range(40))
def test_flips_keep_the_fields_right(seed: int) -> None:
    """After flips everything equals what is made anew, and a flip costs what the problem says; the best is kept."""
    problem = binary_problem(seed)
    binary = BinaryCosts(problem)
    if binary.infeasible:
        return
    rng = np.random.default_rng(seed)
    state = binary.state(0)
    binary.put(state, binary.random_assignment(rng))
    binary.remember(state)
    count, pad = problem.num_variables, binary.units.pad
    movable = np.flatnonzero(np.abs(state.field[:count]) < pad // 2)
    best = np.inf
    for _ in range(30 if len(movable) else 0):
        flip_alone(binary.couplings, state, int(rng.choice(movable)))
        binary.remember(state)
        sound(binary, state)
        cost = float(problem.cost(binary.decoded(state.x)))
        best = min(best, cost, float(problem.cost(binary.best(state))))
        assert binary.units.cost(state.tally["soft"]) == pytest.approx(cost, abs=1e-9)
        assert binary.units.cost(state.tally["best"]) == pytest.approx(best, abs=1e-9)
        assert problem.cost(binary.best(state)) == pytest.approx(best, abs=1e-9)


def test_sweeps_sample_from_boltzmann() -> None:
    """At a constant temperature assignments come as often as P(x) ∝ exp(−cost / T)."""
    rng = np.random.default_rng(3)
    scopes = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]])
    problem = Problem(
        [2] * 4, scopes.ravel(), np.arange(0, 11, 2), rng.integers(-4, 5, 20).astype(float), 4 * np.arange(6)
    )
    binary = BinaryCosts(problem)
    state = binary.state(9)
    binary.put(state, np.zeros(4, dtype=np.int64))
    noise, lowest, temperature = binary.noise(rng), np.zeros(1, dtype=np.int64), 3.0
    counts = np.zeros(16)
    for _ in range(60_000):
        binary.sweep(state, noise, np.array([temperature]), lowest)
        counts[int((state.x[:4] < 0) @ [8, 4, 2, 1])] += 1
    expected = np.exp(-problem.cost(all_assignments(problem)) / temperature)
    np.testing.assert_allclose(counts / counts.sum(), expected / expected.sum(), atol=0.012)


def test_sweeps_at_zero_only_descend() -> None:
    """Without heat no sweep ends above the one before, and the last is a local minimum."""
    problem = binary_problem(5, variables=40, integral=True)
    binary = BinaryCosts(problem)
    state, rng = binary.state(1), np.random.default_rng(0)
    binary.put(state, binary.random_assignment(rng))
    costs = []
    for _ in range(50):
        binary.sweep(state, binary.noise(rng), np.zeros(1), np.zeros(1, dtype=np.int64))
        costs.append(int(state.tally["soft"]))
    assert (np.diff(costs) <= 0).all()
    assert (state.x.astype(np.int64) * state.field >= 0).all()

"""Heat-bath sweeps in classes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.colouring import coloured
from dabp.solvers.local_costs.shared_tables import table_of
from tests.search_states import sound


def _frequencies(problem: Problem, temperature: float, threads: int) -> dict[tuple[int, ...], float]:
    """How often sweeps end with each assignment."""
    table = table_of(problem, Guard(), coloured(problem))
    sweepers, state, rounds = table.sweepers(threads), table.state(5), 20_000
    assert sweepers is not None
    table.put(state, np.zeros(problem.num_variables, dtype=np.int64))
    noise, seen = table.noise(np.random.default_rng(0)), dict.fromkeys(_all(problem), 0.0)
    for _ in range(rounds):
        table.sweep(state, noise, np.array([temperature * table.units.scale]), np.zeros(1, dtype=np.int64), sweepers)
        seen[tuple(table.decoded(state.x).tolist())] += 1 / rounds
    sweepers.close()
    sound(table, state)
    return seen


def _boltzmann(problem: Problem, temperature: float) -> dict[tuple[int, ...], float]:
    """P(x) ∝ exp(−cost / T)."""
    odds = {values: np.exp(-problem.cost(list(values)) / temperature) for values in _all(problem)}
    return {values: odd / sum(odds.values()) for values, odd in odds.items()}


def _all(problem: Problem) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, problem.domain_sizes.tolist())))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "scopes"),
    [([2, 3, 2, 2], [(0, 1), (1, 2), (1, 2, 3), (3,)]), ([2] * 4, [(0, 1), (1, 2), (2, 3), (3, 0), (0,)])],
    ids=["rows", "flips"],
)
def test_sweeps_sample_from_boltzmann(sizes: list[int], scopes: list[tuple[int, ...]], threads: int) -> None:
    """Variables of one class change at once as if in turns: with a factor of three variables, and on a binary ring."""
    rng = np.random.default_rng(1)
    problem = Problem.from_tables(sizes, [(s, rng.integers(0, 6, [sizes[v] for v in s]) + 0.5) for s in scopes])
    seen = _frequencies(problem, 2.5, threads)
    for values, expected in _boltzmann(problem, 2.5).items():
        assert seen[values] == pytest.approx(expected, abs=0.015)

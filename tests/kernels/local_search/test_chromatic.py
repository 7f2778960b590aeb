"""Heat-bath sweeps in classes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.local_costs.colouring import coloured
from dabp.solvers.local_costs.local_costs import LocalCosts
from dabp.solvers.local_costs.search_table import Table


def frequencies(table: Table, problem: Problem, temperature: float, threads: int) -> dict[tuple[int, ...], float]:
    """How often sweeps end with each assignment."""
    sweepers, state, rounds = table.sweepers(threads), table.state(5), 20_000
    assert sweepers is not None
    table.put(state, np.zeros(problem.num_variables, dtype=np.int64))
    noise, seen = table.noise(np.random.default_rng(0)), dict.fromkeys(_all(problem), 0.0)
    for _ in range(rounds):
        table.sweep(state, noise, np.array([temperature * table.units.scale]), np.zeros(1, dtype=np.int64), sweepers)
        values = state.x if hasattr(state, "x") else (1 - state.step[: problem.num_variables]) // 2
        seen[tuple(table.outside(np.asarray(values)).tolist())] += 1 / rounds
    sweepers.close()
    table.check(state)
    return seen


def boltzmann(problem: Problem, temperature: float) -> dict[tuple[int, ...], float]:
    """P(x) ∝ exp(−cost / T)."""
    odds = {values: np.exp(-problem.cost(list(values)) / temperature) for values in _all(problem)}
    return {values: odd / sum(odds.values()) for values, odd in odds.items()}


def _all(problem: Problem) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, problem.domain_sizes.tolist())))


@pytest.mark.parametrize("threads", [1, 2])
def test_sweeps_sample_from_boltzmann(threads: int) -> None:
    """Of a chain with a factor of three variables, whose ends are in one class: chosen at once, as if in turns."""
    rng = np.random.default_rng(1)
    scopes = [(0, 1), (1, 2), (1, 2, 3), (3,)]
    sizes = [2, 3, 2, 2]
    problem = Problem.from_tables(sizes, [(s, rng.integers(0, 6, [sizes[v] for v in s]) * 1.0) for s in scopes])
    seen = frequencies(LocalCosts(problem, classes=coloured(problem)), problem, 2.0, threads)
    for values, expected in boltzmann(problem, 2.0).items():
        assert seen[values] == pytest.approx(expected, abs=0.015)

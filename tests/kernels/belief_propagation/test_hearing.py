"""What variables hear does not depend on whether tables are kept as bytes or as numbers, bit for bit."""

from typing import Any

import numpy as np
import pytest

from dabp.graph import FactorGraph, message_layout
from dabp.kernels.belief_propagation.memory import Rules
from dabp.problem import Problem
from dabp.solvers.belief_propagation import engine
from dabp.solvers.belief_propagation.engine import MinSum


def _random(seed: int, smallest: int, largest: int, highest: int = 255, variables: int = 60) -> Problem:
    """A random graph with domains and whole costs in these ranges, some tables shared, some variables alone."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(smallest, largest + 1, size=variables)
    factors: list[Any] = [((i,), rng.integers(0, 1000, size=sizes[i])) for i in range(0, variables, 3)]
    for _ in range(3 * variables):
        i, j = sorted(rng.choice(variables - 5, size=2, replace=False).tolist(), reverse=bool(rng.integers(2)))
        factors.append(((i, j), rng.integers(0, highest + 1, size=(sizes[i], sizes[j]))))
    return Problem.from_tables(sizes.tolist(), [(scope, table.astype(float)) for scope, table in factors])


def _run(problem: Problem, split: float | None, threads: int, rate: float) -> tuple[MinSum, Any]:
    runner = MinSum(problem, FactorGraph.from_problem(problem, split_ratio=split), threads)
    runner.reset(0.3)
    trace = runner.run(31, Rules(rate=rate))[0]
    runner.close()
    return runner, (trace, runner.memory.v2f, runner.memory.assignment, runner.memory.best, runner.prices())


@pytest.mark.parametrize("domains", [(1, 1), (2, 2), (1, 6), (5, 5), (7, 8), (3, 8), (9, 16), (16, 16)])
@pytest.mark.parametrize("split", [None, 0.95])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bytes_and_numbers_give_the_same(
    monkeypatch: pytest.MonkeyPatch, domains: tuple[int, int], split: float | None, threads: int
) -> None:
    """Messages, values and costs, with any number of threads, reinforced or not."""
    monkeypatch.setattr(engine, "WORTH_THREADS", 0)
    for seed, rate, highest in ((1, 0.0, 255), (2, 1e-2, 100), (3, 0.0, 1)):
        problem = _random(seed, *domains, highest)
        outcomes = []
        for worth, count in ((-1, threads), (2**40, 1)):
            monkeypatch.setattr(message_layout, "WORTH_BYTES", worth)
            runner, outcome = _run(problem, split, count, rate)
            outcomes.append(outcome)
            assert (len(runner.layout.bytes.cells) > 0) == (len(runner.layout.tables) == 0) == (worth < 0)
        assert all(np.array_equal(one, other) for one, other in zip(*outcomes, strict=True))
        costs = outcomes[0][0]
        assert costs[-1] == pytest.approx(problem.cost(outcomes[0][2]))


@pytest.mark.parametrize("change", [lambda t: t + 0.5, lambda t: t - 300, lambda t: 2 * t, lambda t: t / 3])
def test_other_costs_stay_numbers(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Fractions, negative and larger costs, forbidden ones, and domains of several vectors."""
    monkeypatch.setattr(message_layout, "WORTH_BYTES", -1)
    table = np.arange(25.0).reshape(5, 5)
    table[0, 0] = 255.0
    problem = Problem.from_tables([5, 5], [((0, 1), change(table))])
    assert len(_run(problem, None, 1, 0.0)[0].layout.bytes.cells) == 0
    table[1, 1] = np.inf
    problem = Problem.from_tables([5, 5], [((0, 1), table)])
    assert len(_run(problem, None, 1, 0.0)[0].layout.bytes.cells) == 0
    assert len(_run(_random(4, 17, 20, variables=12), None, 1, 0.0)[0].layout.bytes.cells) == 0

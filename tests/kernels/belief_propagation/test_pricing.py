"""Costs found while variables are updated are those of the problem's own tables."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import Rules
from dabp.kernels.belief_propagation.pricing import LARGEST
from dabp.problem import Problem
from dabp.solvers.belief_propagation import engine as engines
from dabp.solvers.belief_propagation.engine import MinSum


def drawn(seed: int, largest: int, low: int = -99, high: int = 100) -> Problem:
    """Pairs in both orders and twice, costs of single variables, a factor of none, domains of many sizes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, size=30)
    scopes = [tuple(map(int, rng.choice(30, size=2, replace=False))) for _ in range(70)] + [(int(i),) for i in range(9)]
    tables = [(scope, rng.integers(low, high, size=sizes[list(scope)])) for scope in scopes]
    return Problem.from_tables(sizes.tolist(), [*tables, ((), np.array(7)), tables[0]], constant=3)


@pytest.mark.parametrize("ratio", [None, 0.95])
@pytest.mark.parametrize("largest", [3, 8, 14, 40])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_costs_are_the_problems(
    monkeypatch: pytest.MonkeyPatch, threads: int, largest: int, ratio: float | None
) -> None:
    """After every iteration, whatever domains, copies and threads."""
    monkeypatch.setattr(engines, "WORTH_THREADS", 0)
    for seed in range(3):
        problem = drawn(seed, largest)
        engine = MinSum(problem, FactorGraph.from_problem(problem, split_ratio=ratio), threads)
        assert engine.layout.exact.unit > 0
        engine.reset(0.3)
        pricing = set()
        for _ in range(30):
            costs, _ = engine.run(2, Rules())
            assert costs[-1] == problem.cost(engine.memory.assignment)
            assert np.array_equal(engine.prices(), problem.factor_costs(engine.memory.assignment))
            pricing.add(bool(engine.memory.progress["pricing"][0]))
        engine.close()
        assert True in pricing


def test_large_whole_numbers_are_told_apart() -> None:
    """Up to the largest that is allowed, beside small ones that set the scale."""
    problem = drawn(5, 6)
    tables = [(f.scope, f.table * 1.0) for f in problem.factors]
    for number, sign in ((3, 1), (4, -1)):
        scope, table = tables[number]
        tables[number] = scope, sign * (np.arange(table.size).reshape(table.shape) % 2 * (LARGEST - 1.0) - table % 7)
    problem = Problem.from_tables(problem.domain_sizes.tolist(), tables)
    engine = MinSum(problem, FactorGraph.from_problem(problem))
    assert engine.layout.exact.unit > 0
    engine.reset(0.0)
    for _ in range(20):
        costs, _ = engine.run(1, Rules())
        assert costs[-1] == problem.cost(engine.memory.assignment)


@pytest.mark.parametrize("kind", ["real", "huge", "forbidden", "ternary", "shifted"])
def test_other_costs_are_looked_up(kind: str) -> None:
    """Where single precision cannot tell the costs they are those of the problem's own tables all the same."""
    rng = np.random.default_rng(0)
    tables = [(f.scope, f.table * 1.0) for f in drawn(1, 5, low=0).factors]
    odd = {"real": 0.1, "huge": 2 * LARGEST, "forbidden": np.inf, "ternary": 1.0, "shifted": 1.0}[kind]
    tables[0][1].flat[0] = odd
    sizes = drawn(1, 5).domain_sizes.tolist()
    if kind == "shifted":
        tables[1] = tables[1][0], np.arange(tables[1][1].size).reshape(tables[1][1].shape) + 1e5
    if kind == "ternary":
        tables.append(((0, 1, 2), rng.integers(0, 9, size=sizes[:3]) * 1.0))
    problem = Problem.from_tables(sizes, tables)
    engine = MinSum(problem, FactorGraph.from_problem(problem))
    assert engine.layout.exact.unit == 0
    engine.reset(0.0)
    for _ in range(20):
        costs, _ = engine.run(1, Rules())
        assert costs[-1] == pytest.approx(problem.cost(engine.memory.assignment), rel=1e-12)

"""The compiled message passing computes the equations, for any arity, domain size, splitting and reinforcement."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import Rules
from dabp.solvers.belief_propagation import engine as min_sum_engine
from dabp.solvers.belief_propagation.engine import MinSum
from tests.kernels.belief_propagation.equations import mixed_problem, slow_run, v2f_of


@pytest.mark.parametrize(
    ("largest", "split", "rate", "forbidden"),
    [(5, None, 0.0, 0.0), (5, 0.95, 0.0, 0.2), (15, 0.8, 0.0, 0.0), (15, None, 0.01, 0.0), (11, 0.9, 0.02, 0.1)],
)
def test_iterations_follow_the_equations(largest, split, rate, forbidden):
    """Costs of ten iterations and the messages after them equal those of a slow, obvious program."""
    problem = mixed_problem(
        largest, largest, arities=(1, 2, 2, 3) if largest > 5 else (1, 2, 3, 4), forbidden=forbidden
    )
    graph = FactorGraph.from_problem(problem, split_ratio=split, dtype=np.float64, perturbation=1e-3)
    damping = np.random.default_rng(1).uniform(0, 0.9, size=graph.num_edges)
    engine = MinSum(problem, graph)
    engine.reset(damping)
    costs, _ = engine.run(10, Rules(rate=rate))
    gains = [1 - (1 - rate) ** t if rate else -1.0 for t in range(1, 11)]
    expected, messages = slow_run(problem, graph, damping, gains)
    np.testing.assert_allclose(costs, expected)
    scale = max(1.0, np.abs(messages[-1]).max())
    np.testing.assert_allclose(v2f_of(engine) / scale, messages[-1] / scale, atol=1e-12)
    assert engine.best_cost == expected.min()


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_padding_never_shows(lanes, monkeypatch):
    """Vectors of 2 to 16 lanes give the same messages."""
    problem = mixed_problem(2, 12, arities=(1, 2, 3))
    graph = FactorGraph.from_problem(problem, dtype=np.float32, perturbation=1e-3)
    monkeypatch.setattr(min_sum_engine, "lane_count", lambda graph: lanes)
    engine = MinSum(problem, graph)
    engine.reset(0.3)
    costs, _ = engine.run(8, Rules())
    expected, messages = slow_run(problem, graph, 0.3, [-1.0] * 8)
    np.testing.assert_allclose(costs, expected)
    np.testing.assert_allclose(v2f_of(engine), messages[-1], atol=1e-4)


def test_single_precision_decodes_alike():
    """float32, the default, gives the costs of float64 in the first iterations."""
    problem = mixed_problem(0, 7)
    traces = []
    for dtype in (np.float32, np.float64):
        graph = FactorGraph.from_problem(problem, split_ratio=0.95, dtype=dtype, perturbation=1e-3)
        engine = MinSum(problem, graph)
        engine.reset(0.5)
        traces.append(engine.run(5, Rules())[0])
    np.testing.assert_array_equal(*traces)

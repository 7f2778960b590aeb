"""The engine: the same bits with any number of threads and after any number of resets, and warm starts."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import Rules
from dabp.problem import Problem
from dabp.solvers.belief_propagation import engine as min_sum_engine
from dabp.solvers.belief_propagation.engine import MinSum
from tests.kernels.belief_propagation.equations import mixed_problem, v2f_of


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One and three threads give the same bits."""
    monkeypatch.setattr(min_sum_engine, "WORTH_THREADS", 0)
    problem = mixed_problem(5, 6)
    graph = FactorGraph.from_problem(problem, split_ratio=0.95)
    outcomes = []
    for threads in (1, 3):
        engine = MinSum(problem, graph, threads)
        engine.reset(0.5)
        costs, why = engine.run(40, Rules(tolerance=1e-4))
        outcomes.append((costs.tolist(), why, engine.memory.v2f.tobytes(), engine.memory.best.tolist()))
        engine.close()
    assert outcomes[0] == outcomes[1]


def test_large_problems_with_one_table_are_worth_threads() -> None:
    """What counts is what an iteration looks at, however few different tables there are."""
    links = [(i, i + 1) for i in range(20_000)]
    problem = Problem.from_tables([4] * 20_001, [(link, np.arange(16.0).reshape(4, 4)) for link in links])
    graph = FactorGraph.from_problem(problem)
    engines = [MinSum(problem, graph, threads) for threads in (1, 2)]
    for engine in engines:
        engine.reset(0.1)
        engine.run(3, Rules())
        engine.close()
    assert [engine.threads for engine in engines] == [1, 2]
    assert engines[0].memory.v2f.tobytes() == engines[1].memory.v2f.tobytes()


def test_a_reset_forgets_the_start_before() -> None:
    """Damping, field, extra unary costs and messages of one start leave no trace in the next."""
    problem = mixed_problem(4, 6)
    graph = FactorGraph.from_problem(problem)
    fresh, used = MinSum(problem, graph), MinSum(problem, graph)
    used.reset(0.1, np.random.default_rng(0).uniform(0, 5, len(graph.unary)))
    used.run(20, Rules(rate=0.05))
    for engine in (fresh, used):
        engine.reset(0.5)
    assert np.array_equal(fresh.run(30, Rules())[0], used.run(30, Rules())[0])
    assert np.array_equal(v2f_of(fresh), v2f_of(used))


def test_a_reset_takes_other_unary_costs_back() -> None:
    """After a start with costs on top the next one has the graph's own, padding included."""
    for problem in (mixed_problem(1, 9), Problem.from_tables([3] * 4, [((0, 1), np.eye(3)), ((2,), np.arange(3.0))])):
        graph = FactorGraph.from_problem(problem)
        engine, other = MinSum(problem, graph), MinSum(problem, graph)
        engine.reset(0.1, np.arange(len(graph.unary), dtype=np.float64))
        assert not np.array_equal(engine.layout.variables.unary, other.layout.variables.unary)
        engine.run(3, Rules())
        engine.reset(0.1)
        other.reset(0.1)
        assert np.array_equal(engine.layout.variables.unary, other.layout.variables.unary)
        for name in ("v2f", "f2v", "field", "damping", "assignment"):
            assert np.array_equal(getattr(engine.memory, name), getattr(other.memory, name))


def test_an_inclination_charges_every_other_value() -> None:
    """The first v2f messages are 0 at the assignment's values and the charge elsewhere."""
    problem = mixed_problem(6, 5)
    graph = FactorGraph.from_problem(problem, dtype=np.float64)
    engine = MinSum(problem, graph)
    engine.reset(0.0)
    assignment = np.arange(problem.num_variables) % problem.domain_sizes
    engine.incline(assignment, 2.5)
    messages = v2f_of(engine)
    for edge, variable in enumerate(graph.edge_variable):
        expected = np.full(graph.domain_sizes[variable], 2.5)
        expected[assignment[variable]] = 0.0
        assert np.array_equal(messages[graph.edge_offsets[edge] : graph.edge_offsets[edge + 1]], expected)
    assert np.count_nonzero(engine.memory.v2f) == np.count_nonzero(messages)  # none in padding

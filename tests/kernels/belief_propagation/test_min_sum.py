"""The compiled message passing computes the equations, for any arity, domain size, splitting and reinforcement."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.message_layout import make_layout
from dabp.problem import Problem
from dabp.solvers.belief_propagation import engine as min_sum_engine
from dabp.solvers.belief_propagation.engine import MinSum, Rules


def random_problem(seed: int, largest_domain: int, arities=(1, 2, 2, 2, 3, 4), forbidden: float = 0.0) -> Problem:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest_domain + 1, size=9)
    scopes = [rng.choice(9, size=k, replace=False) for k in rng.choice(arities, size=16)]
    scopes += [np.array([i, (i + 1) % 9]) for i in range(9)]
    pools = [rng.integers(-3, 30, size=int(np.prod(sizes[s]))).astype(float) for s in scopes]
    for pool in pools:
        pool[rng.random(len(pool)) < forbidden] = np.inf
    return Problem(
        sizes,
        np.concatenate(scopes),
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate(pools),
        np.cumsum([0, *map(len, pools)]),
        constant=5.0,
    )


def slow_run(problem: Problem, graph: FactorGraph, damping: np.ndarray, iterations: int, rate: float):
    """Eq. 2-5 in plain Python, one message at a time: cost and v2f messages of each iteration."""
    v2f = [np.zeros(graph.domain_sizes[v]) for v in graph.edge_variable]
    f2v = [message.copy() for message in v2f]
    field = [np.zeros(d) for d in graph.domain_sizes]
    costs, messages = [], []
    for t in range(1, iterations + 1):
        for group in graph.groups:
            for g in range(group.num_factors):
                for c, scale in enumerate(graph.scales):
                    first = group.first + (g * len(graph.scales) + c) * group.arity
                    total = scale * group.tables[group.table_index[g]].astype(float)
                    for p in range(group.arity):
                        others = total.copy()
                        for q in range(group.arity):
                            if q != p:
                                shape = [-1 if axis == q else 1 for axis in range(group.arity)]
                                others = others + v2f[first + q].reshape(shape)
                        f2v[first + p] = others.min(axis=tuple(q for q in range(group.arity) if q != p))
        assignment = np.zeros(graph.num_variables, dtype=np.int64)
        for i in range(graph.num_variables):
            edges = graph.variable_edges[graph.variable_edge_offsets[i] : graph.variable_edge_offsets[i + 1]]
            unary = graph.unary[graph.variable_offsets[i] : graph.variable_offsets[i + 1]].astype(float)
            belief = unary + field[i] + sum(f2v[e] for e in edges)
            assignment[i] = belief.argmin()
            if rate:
                field[i] = (1 - (1 - rate) ** t) * (belief - belief.min())
            for e in edges:
                new = damping[e] * v2f[e] + (1 - damping[e]) * (belief - f2v[e])
                v2f[e] = new - new.min()
        costs.append(problem.cost(assignment))
        messages.append(np.concatenate(v2f))
    return np.array(costs), messages


def v2f_of(engine: MinSum) -> np.ndarray:
    """The engine's v2f messages in the graph's order, without padding and in the graph's units."""
    graph, layout = engine.graph, engine.layout
    result = np.zeros(graph.num_messages)
    for i in range(graph.num_variables):
        width = layout.unary_start[i + 1] - layout.unary_start[i]
        for k, place in enumerate(range(graph.variable_edge_offsets[i], graph.variable_edge_offsets[i + 1])):
            edge, start = graph.variable_edges[place], layout.message_start[i] + k * width
            message = engine.memory.v2f[start : start + graph.domain_sizes[i]]
            result[graph.edge_offsets[edge] : graph.edge_offsets[edge + 1]] = message * layout.edge_scale[place]
    return result


@pytest.mark.parametrize(
    ("largest", "split", "rate", "forbidden"),
    [(5, None, 0.0, 0.0), (5, 0.95, 0.0, 0.2), (15, 0.8, 0.0, 0.0), (15, None, 0.01, 0.0), (11, 0.9, 0.02, 0.1)],
)
def test_iterations_follow_the_equations(largest, split, rate, forbidden):
    """Costs of ten iterations and the messages after them equal those of a slow, obvious program."""
    problem = random_problem(
        largest, largest, arities=(1, 2, 2, 3) if largest > 5 else (1, 2, 3, 4), forbidden=forbidden
    )
    graph = FactorGraph.from_problem(problem, split_ratio=split, dtype=np.float64, perturbation=1e-3)
    damping = np.random.default_rng(1).uniform(0, 0.9, size=graph.num_edges)
    engine = MinSum(problem, graph)
    engine.reset(damping)
    costs, _ = engine.run(10, Rules(rate=rate))
    expected, messages = slow_run(problem, graph, damping, 10, rate)
    np.testing.assert_allclose(costs, expected)
    scale = max(1.0, np.abs(messages[-1]).max())
    np.testing.assert_allclose(v2f_of(engine) / scale, messages[-1] / scale, atol=1e-12)
    assert engine.memory.costs[1] == expected.min()


def test_single_precision_decodes_alike():
    """float32, the default, gives the costs of float64 in the first iterations."""
    problem = random_problem(0, 7)
    traces = []
    for dtype in (np.float32, np.float64):
        graph = FactorGraph.from_problem(problem, split_ratio=0.95, dtype=dtype, perturbation=1e-3)
        engine = MinSum(problem, graph)
        engine.reset(0.5)
        traces.append(engine.run(5, Rules())[0])
    np.testing.assert_array_equal(*traces)


@pytest.mark.parametrize("lanes", [8, 16])
def test_padding_never_shows(lanes, monkeypatch):
    """Vectors of 8 and of 16 lanes give the same messages."""
    problem = random_problem(2, 12, arities=(1, 2, 3))
    graph = FactorGraph.from_problem(problem, dtype=np.float32, perturbation=1e-3)
    monkeypatch.setattr(min_sum_engine, "lane_count", lambda graph: lanes)
    engine = MinSum(problem, graph)
    assert len(make_layout(problem, graph, lanes).unary) % lanes == 0
    engine.reset(0.3)
    costs, _ = engine.run(8, Rules())
    expected, messages = slow_run(problem, graph, np.full(graph.num_edges, 0.3), 8, 0.0)
    np.testing.assert_allclose(costs, expected)
    np.testing.assert_allclose(v2f_of(engine), messages[-1], atol=1e-4)


def test_threads_change_nothing(monkeypatch):
    """One and three threads give the same bits."""
    monkeypatch.setattr(min_sum_engine, "WORTH_THREADS", 0)
    problem = random_problem(5, 6)
    graph = FactorGraph.from_problem(problem, split_ratio=0.95)
    outcomes = []
    for threads in (1, 3):
        engine = MinSum(problem, graph, threads)
        engine.reset(0.5)
        costs, why = engine.run(40, Rules(tolerance=1e-4))
        outcomes.append((costs.tolist(), why, engine.memory.v2f.tobytes(), engine.memory.best.tolist()))
        engine.close()
    assert outcomes[0] == outcomes[1]


def test_convergence_is_noticed():
    """Damped messages on a small problem stop changing, and the run says so."""
    problem = random_problem(7, 4, arities=(1, 1, 2))
    engine = MinSum(problem, FactorGraph.from_problem(problem))
    engine.reset(0.5)
    costs, why = engine.run(2000, Rules(tolerance=1e-4))
    assert why == min_sum_engine.CONVERGED
    assert len(costs) < 2000

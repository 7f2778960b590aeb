"""Eq. 2-5 in plain Python, one message at a time, and problems to compare the compiled programs on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.belief_propagation.engine import MinSum


def mixed_problem(
    seed: int, largest_domain: int, arities: tuple[int, ...] = (1, 2, 2, 2, 3, 4), forbidden: float = 0.0
) -> Problem:
    """Nine variables in a cycle, factors of mixed arity beside it, a constant."""
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


def slow_run(
    problem: Problem,
    graph: FactorGraph,
    damping: np.ndarray | float,
    gains: Sequence[float],
    betas: Sequence[float] | None = None,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Eq. 2-5 in plain Python, one message at a time: cost and v2f messages after each iteration.

    A negative gain of reinforcement leaves the field as it is. With `betas` messages are sums of exponentials instead
    of minima, in which forbidden cells have no share.
    """
    v2f = [np.zeros(graph.domain_sizes[v]) for v in graph.edge_variable]
    f2v = [message.copy() for message in v2f]
    field = [np.zeros(d) for d in graph.domain_sizes]
    damping = np.broadcast_to(damping, graph.num_edges)
    costs, messages = [], []
    for t, gain in enumerate(gains):
        for group in graph.groups:
            for g, (c, scale) in itertools.product(range(group.num_factors), enumerate(graph.scales)):
                first = group.first + (g * len(graph.scales) + c) * group.arity
                total = scale * group.tables[group.table_index[g]].astype(float)
                if betas is not None:
                    total = np.where(np.isfinite(problem.table(group.factors[g])), total, np.inf)
                for p in range(group.arity):
                    others = total.copy()
                    rest = tuple(q for q in range(group.arity) if q != p)
                    for q in rest:
                        others = others + v2f[first + q].reshape(
                            [-1 if axis == q else 1 for axis in range(group.arity)]
                        )
                    if betas is None:
                        f2v[first + p] = others.min(axis=rest)
                    else:
                        f2v[first + p] = -logsumexp(-betas[t] * others, axis=rest) / betas[t]
        assignment = np.zeros(graph.num_variables, dtype=np.int64)
        for i in range(graph.num_variables):
            edges = graph.variable_edges[graph.variable_edge_offsets[i] : graph.variable_edge_offsets[i + 1]]
            unary = graph.unary[graph.variable_offsets[i] : graph.variable_offsets[i + 1]].astype(float)
            belief = unary + field[i] + sum(f2v[e] for e in edges)
            assignment[i] = belief.argmin()
            if gain >= 0:
                field[i] = gain * (belief - belief.min())
            for e in edges:
                new = damping[e] * v2f[e] + (1 - damping[e]) * (belief - f2v[e])
                v2f[e] = new - new.min()
        costs.append(problem.cost(assignment))
        messages.append(np.concatenate(v2f))
    return np.array(costs), messages


def v2f_of(engine: MinSum) -> np.ndarray:
    """The engine's v2f messages in the graph's order, without padding and in the graph's units."""
    graph, layout = engine.graph, engine.layout.variables
    result = np.zeros(graph.num_messages)
    for i in range(graph.num_variables):
        width = layout.unary_start[i + 1] - layout.unary_start[i]
        for k, place in enumerate(range(graph.variable_edge_offsets[i], graph.variable_edge_offsets[i + 1])):
            edge, start = graph.variable_edges[place], layout.message_start[i] + k * width
            message = engine.memory.v2f[start : start + graph.domain_sizes[i]]
            result[graph.edge_offsets[edge] : graph.edge_offsets[edge + 1]] = message * layout.scales[place % 2]
    return result

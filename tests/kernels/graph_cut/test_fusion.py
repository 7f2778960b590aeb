"""A fusion is the best mixture of two assignments where tables allow it, and never worse than the first."""

from __future__ import annotations

import itertools

import numpy as np

from dabp.kernels.graph_cut.fusion import set_up, take
from dabp.kernels.graph_cut.max_flow import advance, begin
from dabp.problem import Problem
from dabp.solvers.graph_cut.expansion import columns


def drawn(rng: np.random.Generator, submodular: bool) -> Problem:
    """Up to eight variables of mixed domains; if asked for, tables of |a − b|^p, for which all expansions are exact."""
    n = int(rng.integers(2, 8))
    sizes = rng.integers(2, 5, n)
    tables: list[tuple[tuple[int, ...], np.ndarray]] = [((i,), rng.integers(0, 30, sizes[i]) * 1.0) for i in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        if rng.random() < 0.6:
            scope = (i, j) if rng.random() < 0.5 else (j, i)
            shape = tuple(sizes[list(scope)])
            apart = np.abs(np.subtract.outer(np.arange(shape[0]), np.arange(shape[1])))
            table = rng.integers(0, 9) * np.minimum(apart, 2.0) if submodular else rng.integers(-9, 20, shape) * 1.0
            tables.append((scope, table))
    return Problem.from_tables(sizes.tolist(), tables)


def fused(problem: Problem, values: np.ndarray, proposal: np.ndarray) -> np.ndarray:
    """By the kernels."""
    factors, net = columns(problem)
    result = values.copy()
    if set_up(factors, net, values, proposal):
        begin(net)
        assert advance(net, 10**9)
        take(net, result, proposal)
    return result


def mixtures(values: np.ndarray, proposal: np.ndarray) -> np.ndarray:
    """All of them, a row each."""
    choices = np.array(list(itertools.product((False, True), repeat=len(values))))
    return np.where(choices, proposal, values)


def test_expansions_of_metric_tables_are_exact() -> None:
    """Against all mixtures."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        problem = drawn(rng, submodular=True)
        values = rng.integers(0, problem.domain_sizes)
        alpha = int(rng.integers(0, 4))
        proposal = np.where(alpha < problem.domain_sizes, alpha, values)
        best = problem.cost(mixtures(values, proposal)).min()
        assert problem.cost(fused(problem, values, proposal)) == best


def test_fusions_of_any_tables_are_never_worse() -> None:
    """Than the assignment they start from, whatever the other is."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        problem = drawn(rng, submodular=False)
        values, proposal = rng.integers(0, problem.domain_sizes, (2, problem.num_variables))
        assert problem.cost(fused(problem, values, proposal)) <= problem.cost(values)

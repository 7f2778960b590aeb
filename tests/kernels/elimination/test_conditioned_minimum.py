"""Sets of bounded width and the exact minimum over them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.kernels.elimination.conditioned_minimum import minimise, tables_for
from dabp.kernels.elimination.free_set import Columns, FreeSet, free_set, grow_region, grow_strip
from dabp.problem import Problem
from dabp.problem.incidence import Incidence
from tests.problems import random_problem


def columns(problem: Problem, cells: int) -> Columns:
    """Columns of a problem, forbidden cells at a price, with memory for tables."""
    whole = Incidence(problem)
    pool = np.concatenate([np.where(np.isinf(whole.pool), 1e4, whole.pool), np.zeros(cells)])
    return Columns(
        sizes=whole.sizes,
        unary=np.where(np.isinf(whole.unary), 1e4, whole.unary),
        unary_start=whole.unary_start,
        variable=whole.variable,
        stride=whole.stride,
        factor=whole.factor,
        scope_start=whole.scope_start,
        table_start=whole.table_start,
        pool=pool,
        incident=whole.incident,
        incident_start=whole.incident_start,
    )


def grow(problem: Columns, free: FreeSet, seed: int, cells: float, random: np.ndarray) -> float:
    """A set of one of the three shapes."""
    kind = seed % 3
    start = seed % len(problem.sizes)
    if kind == 2:
        return grow_strip(problem, free, start, 2, cells, 1e5, random)
    return grow_region(problem, free, start, len(problem.sizes), kind == 1, cells, 1e5, random)


@pytest.mark.parametrize("cells", [1.0, 12.0, 1000.0])
def test_the_minimum_is_that_of_enumeration(cells: float) -> None:
    """Any arity, mixed domains and forbidden cells: free variables take a best combination, others stay."""
    narrow = 0
    for seed in range(150):
        problem = random_problem(seed, maximize=False)
        problem = problem.replace(pool=np.where(np.isinf(problem.pool), 1e4, problem.pool))
        rng = np.random.default_rng(seed)
        whole, random = columns(problem, 100_000), np.array([seed + 1], dtype=np.uint64)
        free = free_set(problem.num_variables)
        values = rng.integers(0, problem.domain_sizes)
        total = grow(whole, free, seed, cells, random)
        chosen = free.order[: free.size[0]].tolist()
        assert total == free.cells[: len(chosen)].sum()
        assert len(set(chosen)) == len(chosen)
        assert free.cells[: len(chosen)].max(initial=0) <= cells
        narrow += len(chosen) < problem.num_variables
        before = values.copy()
        change = minimise(whole, free, tables_for(whole, len(free.order)), len(problem.pool), values, random)
        assert problem.cost(values) - problem.cost(before) == pytest.approx(change, abs=1e-6)
        kept = np.setdiff1d(np.arange(problem.num_variables), chosen)
        assert np.array_equal(values[kept], before[kept])
        rows = np.repeat(before[None], int(np.prod(problem.domain_sizes[chosen])), axis=0)
        rows[:, chosen] = list(itertools.product(*(range(int(problem.domain_sizes[v])) for v in chosen)))
        assert problem.cost(values) == pytest.approx(problem.cost(rows).min(), abs=1e-6)
    assert narrow or cells > 100


def test_wide_tables_have_inputs_of_every_kind() -> None:
    """Tables of many blocks: a complete graph of binary variables, with a hub of many leaves."""
    rng = np.random.default_rng(0)
    pairs = [*itertools.combinations(range(9), 2), *((0, 9 + k) for k in range(70)), *((1, 9 + k) for k in range(70))]
    problem = Problem.from_tables([2] * 79, [(pair, rng.random((2, 2))) for pair in pairs])
    whole, random = columns(problem, 10_000), np.array([1], dtype=np.uint64)
    free, values = free_set(79), rng.integers(0, 2, 79)
    grow_region(whole, free, 0, 79, False, 2.0**9, 1e4, random)
    assert free.size[0] == 79
    before = problem.cost(values)
    change = minimise(whole, free, tables_for(whole, 79), len(problem.pool), values, random)
    least = np.inf
    for core in itertools.product((0, 1), repeat=9):
        cost = sum(problem.table(f)[core[a], core[b]] for f, (a, b) in enumerate(pairs[:36]))
        for k in range(70):
            cost += (problem.table(36 + k)[core[0]] + problem.table(106 + k)[core[1]]).min()
        least = min(least, cost)
    assert before + change == pytest.approx(least)

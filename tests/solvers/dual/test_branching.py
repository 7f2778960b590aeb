"""Branching on the dual: what it proves holds, and it proves what the relaxation alone does not."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.dual import branching
from dabp.solvers.dual.branching import BranchingDual
from dabp.solvers.dual.message_passing import Dual
from dabp.solvers.dual.pair_passes import PairPasses
from dabp.solvers.status import Status
from tests.problems import all_assignments, exhaustive
from tests.solvers.dual.test_message_passing import run


def drawn_grid(seed: int, hard: float = 0.15, sizes: tuple[int, int] = (1, 4)) -> Problem:
    """Up to 2 × 5 or 3 × 3 variables: Potts, truncated linear or general tables, mixed domains, any kind of costs."""
    rng = np.random.default_rng(seed)
    height, width = [(2, 5), (3, 3), (1, 4), (3, 2)][seed % 4]
    number = np.arange(height * width).reshape(height, width)
    across, down = np.stack([number[:, :-1], number[:, 1:]], -1), np.stack([number[:-1], number[1:]], -1)
    edges = np.concatenate([across.reshape(-1, 2), down.reshape(-1, 2)])
    mixed = seed % 3 == 0
    domain = rng.integers(*sizes, number.size, endpoint=True) if mixed else np.full(number.size, max(2, sizes[1] - 1))
    scale = float(rng.choice([1.0, 1.0, 1e-6, 1e9]))
    tables = [rng.integers(-5, 6, size).astype(float) for size in domain]
    for first, second in domain[edges].tolist():
        apart = np.abs(np.subtract.outer(np.arange(first), np.arange(second)))
        kind = rng.integers(4)
        table = [6.0 * (apart > 0), np.minimum(3.0 * apart, 5.0), 7.0 * (apart == 0)][kind] if kind < 3 else None
        table = rng.integers(-4, 9, (first, second)).astype(float) if table is None else table
        table += 0.0 if seed % 5 else rng.random(table.shape)
        table[rng.random(table.shape) < hard] = np.inf
        tables.append(table.ravel())
    scopes = [[i] for i in range(number.size)] + edges.tolist()
    return Problem(
        domain,
        np.concatenate(scopes),
        np.cumsum([0, *map(len, scopes)]),
        scale * np.concatenate(tables),
        np.cumsum([0, *map(len, tables)]),
        constant=float(rng.integers(-5, 5)),
    )


@pytest.mark.parametrize("sizes", [(1, 4), (2, 4), (9, 10)])
def test_what_it_proves_holds(sizes: tuple[int, int]) -> None:
    """Forbidden combinations, mixed domains, tiny and huge costs; cases by each value, and by one and the rest."""
    ended = 0
    for seed in range(80 if sizes[1] < 9 else 12):
        if sizes[1] == 10:
            seed = 4 * seed + 2  # a chain of four variables is few enough to enumerate
        problem = drawn_grid(seed, hard=0.15 * (seed % 2), sizes=sizes)
        best, bound, status = run(BranchingDual().start(problem, seed=0, budget=Budget()), problem, 20)
        optimum, _ = exhaustive(problem)
        if status is Status.INFEASIBLE:
            assert optimum == np.inf
            continue
        assert bound <= optimum + problem.facts.rounding(optimum) if np.isfinite(optimum) else True
        if status is Status.OPTIMAL:
            assert best == pytest.approx(optimum, abs=problem.facts.rounding(optimum))
            ended += 1
    assert ended > 0


def test_it_closes_the_gap_of_frustrated_cycles() -> None:
    """Grids whose relaxation is not tight, which the dual alone leaves open."""
    open_before = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        grid = drawn_grid(4 * seed + 1, hard=0.0, sizes=(3, 3))
        problem = grid.replace(pool=rng.integers(0, 20, len(grid.pool)).astype(float))
        status = run(Dual().start(problem, seed=0, budget=Budget()), problem)[2]
        best, bound, ended = run(BranchingDual().start(problem, seed=0, budget=Budget()), problem)
        assert ended is Status.OPTIMAL
        assert best == bound == exhaustive(problem)[0]
        open_before += status is not Status.OPTIMAL
    assert open_before


def test_a_restriction_bounds_what_keeps_to_it_and_goes_without_trace() -> None:
    """Whatever the price of other values."""
    for seed in range(30):
        problem = drawn_grid(seed, hard=0.0)
        passes, plain = PairPasses(problem), PairPasses(problem)
        variable = int(np.argmax(problem.domain_sizes))
        allowed = np.arange(problem.domain_sizes[variable]) == 1
        if not allowed.any():
            continue
        rows = all_assignments(problem)
        least = problem.cost(rows[rows[:, variable] == 1]).min()
        for price in (0.0, 3.0 * problem.facts.magnitude):
            passes.restrict({variable: allowed}, price)
            for turn in range(30):
                passes.run(turn % 2 == 0)
            slack = 1e-9 * max(1.0, problem.facts.magnitude)
            assert passes.certified() + passes.constant <= least + slack
        passes.restrict({}, 0.0)
        passes.messages[:] = 0.0
        assert passes.run(True) == plain.run(True)


def test_an_incumbent_from_elsewhere_ends_cases_but_never_makes_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the optimum offered from the beginning the bound is the same in the end."""
    monkeypatch.setattr(branching, "MATURE", 20)
    for seed in range(10):
        problem = drawn_grid(4 * seed + 1, hard=0.0, sizes=(3, 3))
        optimum, assignment = exhaustive(problem)
        search = BranchingDual().start(problem, seed=0, budget=Budget())
        search.offer(assignment, optimum)
        _, bound, status = run(search, problem)
        assert status is Status.OPTIMAL if problem.facts.integral else status is not None
        assert bound <= optimum + problem.facts.rounding(optimum)
        assert bound == pytest.approx(optimum, abs=1e-4 * problem.facts.magnitude)

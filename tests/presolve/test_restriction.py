"""Values taken away, and the way back."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from dabp.presolve import presolve
from dabp.presolve.consistency import unsupported_values
from dabp.presolve.dominance import dominated_values, undominated_values
from dabp.presolve.restriction import Restricted, sharing
from dabp.presolve.rule import Rule
from dabp.problem import Problem
from tests.problems import all_assignments, random_problem


def test_restricting_keeps_every_cost() -> None:
    """Whatever values go, the cost of those that stay is the same, also where tables of other shapes are shared."""
    for seed in range(150):
        problem = random_problem(seed, maximize=False)
        rng = np.random.default_rng(seed)
        kept = rng.random(problem.domain_sizes.sum()) < 0.6
        kept[np.cumsum(problem.domain_sizes) - 1] = True
        reduced = Restricted(problem, kept)
        assert sharing(problem, kept).cells == len(reduced.problem.pool)
        for row in all_assignments(reduced.problem)[:50]:
            assert reduced.problem.cost(row) == pytest.approx(problem.cost(reduced.lift(row)))


def test_one_pool_of_cells_read_in_two_shapes_is_cut_twice() -> None:
    """A table used as 2×3 and as 3×2 is two different tables once the first value of every variable is gone."""
    problem = Problem([2, 3, 3, 2], [0, 1, 2, 3], [0, 2, 4], np.arange(6.0), [0, 6], [0, 0])
    reduced = Restricted(problem, np.array([0, 1, 0, 1, 1, 0, 1, 1, 0, 1], dtype=bool)).problem
    assert np.sort(reduced.pool).tolist() == [3.0, 4.0, 5.0, 5.0]


def potts_grid(side: int, size: int, dear: np.ndarray) -> Problem:
    """A grid whose pairs share one table (equal neighbours cost 1), each variable with one dear value."""
    cells = np.arange(side * side).reshape(side, side)
    across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    pairs = np.concatenate([across, down])
    unary = np.tile(np.arange(size) * 0.01, (side * side, 1))
    unary[np.arange(side * side), dear] += 10.0
    return Problem(
        np.full(side * side, size),
        np.concatenate([pairs.ravel(), cells.ravel()]),
        np.concatenate([np.arange(0, 2 * len(pairs), 2), 2 * len(pairs) + np.arange(side * side + 1)]),
        np.concatenate([np.eye(size).ravel(), unary.ravel()]),
        np.concatenate([[0], size * size + size * np.arange(side * side + 1)]),
        np.concatenate([np.zeros(len(pairs), dtype=np.int64), 1 + np.arange(side * side)]),
    )


def test_factors_that_lose_the_same_values_share_what_is_left() -> None:
    """On a Potts grid where each variable loses one of 8 values there are at most 64 pairs of losses."""
    problem = potts_grid(30, 8, np.random.default_rng(0).integers(0, 8, 900))
    kept, replacement = undominated_values(problem)
    assert (~kept).sum() >= 900
    reduced = Restricted(problem, kept, replacement).problem
    pairs = reduced.factor_table[reduced.arities == 2]
    assert len(np.unique(pairs)) <= 64
    assert len(presolve(problem, solve_small=False).problem.pool) < 20_000


def test_dominated_values_stay_if_their_loss_would_cost_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dear values are kept when taking them away would make many tables of one; impossible values go all the same."""
    monkeypatch.setattr("dabp.presolve.restriction.MAX_UNSHARING", 0)
    rules = (
        Rule("unsupported_values", unsupported_values),
        Rule("dominated_values", partial(dominated_values, max_cells=1000)),
    )
    dear = np.random.default_rng(0).integers(0, 8, 100)
    problem = potts_grid(10, 8, dear)
    assert presolve(problem, solve_small=False, rules=rules).facts.dominated_values == 0
    impossible = np.where(problem.pool >= 10.0, np.inf, problem.pool)
    reduced = presolve(problem.replace(pool=impossible), solve_small=False, rules=rules)
    assert reduced.facts.unsupported_values == 100

"""Presolve keeps shared tables shared: problems that fit in memory because of that still do after it."""

from __future__ import annotations

import numpy as np
import pytest

import dabp.presolve.pipeline
from dabp.presolve import presolve
from dabp.presolve.dominance import undominated_values
from dabp.presolve.restriction import Restricted
from dabp.problem import Problem


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
    monkeypatch.setattr(dabp.presolve.pipeline, "DOMINATED_CELLS", 1000)
    monkeypatch.setattr(dabp.presolve.pipeline, "MAX_UNSHARING", 0)
    dear = np.random.default_rng(0).integers(0, 8, 100)
    problem = potts_grid(10, 8, dear)
    assert presolve(problem, solve_small=False).facts.dominated_values == 0
    impossible = np.where(problem.pool >= 10.0, np.inf, problem.pool)
    assert presolve(problem.replace(pool=impossible), solve_small=False).facts.unsupported_values == 100

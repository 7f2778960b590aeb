"""Grids cost what their pixels and pairs cost."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import ProblemError
from dabp.problem import Problem

APART = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
PAIRWISE = {
    "potts": (APART > 0) * 1.0,
    "truncated-linear": np.minimum(APART, 2),
    "truncated-quadratic": np.minimum(APART**2, 2),
    "own": np.arange(16.0).reshape(4, 4),
}


def by_hand(unary: np.ndarray, table: np.ndarray, weights: list[np.ndarray], values: np.ndarray, steps: list) -> float:
    """The cost of a labelling [height, width], pair by pair."""
    height, width, _ = unary.shape
    total = sum(unary[r, c, values[r, c]] for r in range(height) for c in range(width))
    for (down, right), weight in zip(steps, weights, strict=True):
        for r in range(height - down):
            for c in range(max(0, -right), width - max(0, right)):
                pair = table[values[r, c], values[r + down, c + right]]
                total += weight[r, c - max(0, -right)] * pair
    return float(total)


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize("pairwise", PAIRWISE)
def test_costs(pairwise: str, neighbours: int) -> None:
    """Of random labellings, with a weight for each pair, counted pair by pair."""
    rng = np.random.default_rng(neighbours)
    height, width = 4, 5
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)][: neighbours // 2]
    unary = rng.integers(0, 9, (height, width, 4)) * 1.0
    weights = [rng.integers(1, 4, (height - down, width - abs(right))) * 1.0 for down, right in steps]
    chosen = PAIRWISE["own"] if pairwise == "own" else pairwise
    problem = Problem.grid(unary, chosen, weights=weights, cap=2, neighbours=neighbours)
    for _ in range(20):
        values = rng.integers(0, 4, (height, width))
        assert problem.cost(values.ravel()) == by_hand(unary, PAIRWISE[pairwise], weights, values, steps)


def test_tables_are_shared() -> None:
    """As many pairwise tables as different weights, as many unary ones as different pixels."""
    problem = Problem.grid(np.zeros((20, 30, 3)), weights=2.0)
    assert len(problem.pool) == 3 + 9
    assert problem.num_factors == 600 + 20 * 29 + 19 * 30


@pytest.mark.parametrize(
    ("unary", "options", "words"),
    [
        (np.zeros((3, 3)), {}, "height, width, labels"),
        (np.zeros((2, 2, 2)), {"neighbours": 6}, "4 or 8"),
        (np.zeros((2, 2, 2)), {"pairwise": "pots"}, "no pairwise cost"),
        (np.zeros((2, 2, 2)), {"pairwise": np.zeros((3, 3))}, "2×2"),
        (np.zeros((2, 2, 2)), {"weights": [np.zeros((2, 2)), np.zeros((2, 2))]}, "each direction"),
        (np.zeros((2, 2, 2)), {"weights": 0.0, "pairwise": np.full((2, 2), np.inf)}, "not a number"),
    ],
)
def test_mistakes_are_told(unary: np.ndarray, options: dict, words: str) -> None:
    """In one sentence each."""
    with pytest.raises(ProblemError, match=words):
        Problem.grid(unary, **options)


def test_a_single_pixel() -> None:
    """Has no pairs."""
    assert Problem.grid([[[3.0, 1.0]]]).cost([1]) == 1.0

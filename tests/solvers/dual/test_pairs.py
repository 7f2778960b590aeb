"""Passes in threads: the same numbers as in one."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.dual import pairs
from dabp.solvers.dual.pairs import PairPasses


def grid(side: int, labels: int, kind: str) -> Problem:
    """A square of variables with tables of a kind."""
    rng = np.random.default_rng(0)
    number = np.arange(side * side).reshape(side, side)
    edges = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    edges += [*zip(number[:-1].ravel(), number[1:].ravel(), strict=True)]
    apart = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
    some = {
        "potts": np.minimum(apart, 1),
        "truncated": np.minimum(apart, 2),
        "general": rng.integers(0, 9, apart.shape),
    }
    tables = [((i,), rng.random(labels) * 20) for i in range(side * side)]
    tables += [((int(i), int(j)), some[kind] * float(rng.integers(1, 9))) for i, j in edges]
    return Problem.from_tables([labels] * side**2, tables)


@pytest.mark.parametrize("kind", ["potts", "truncated", "general"])
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds, costs, values and messages, bit by bit, pass by pass."""
    monkeypatch.setattr(pairs, "WORTH_THREADS", 0)
    monkeypatch.setattr(pairs, "WIDE_LEVELS", 1)
    problem = grid(12, 5, kind)
    alone, together = PairPasses(problem), PairPasses(problem, threads=threads)
    try:
        for number in range(8):
            assert alone.run(number % 2 == 0) == together.run(number % 2 == 0)
            assert alone.cost == together.cost == pytest.approx(problem.cost(alone.decoded()))
            assert np.array_equal(alone.decoded(), together.decoded())
            assert np.array_equal(alone.messages, together.messages)
    finally:
        together.close()

"""Passes in threads: the same numbers as in one."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.dual import pair_passes
from dabp.solvers.dual.pair_passes import PairPasses
from dabp.solvers.trials import Trials


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
@pytest.mark.parametrize("threads", [2, 3, 20])
def test_threads_change_nothing(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds, costs, values and messages, bit by bit, pass by pass."""
    monkeypatch.setattr(pair_passes, "WORTH_THREADS", 0)
    monkeypatch.setattr(pair_passes, "WIDE_LEVELS", 1)
    monkeypatch.setattr(Trials, "turn", lambda self: contextlib.nullcontext(True))
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


def test_strips_change_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each variable's costs and value are those of passes level by level; only sums over all differ, by rounding."""
    rng = np.random.default_rng(0)
    edges = np.unique(np.sort(rng.integers(0, 300, (900, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    sizes = rng.integers(1, 12, 300)
    tables = [((int(i), int(j)), rng.normal(size=(sizes[i], sizes[j]))) for i, j in edges]
    problem = Problem.from_tables(sizes.tolist(), tables)
    level_by_level = PairPasses(problem)
    monkeypatch.setattr(pair_passes, "WORTH_THREADS", 0)
    monkeypatch.setattr(pair_passes, "WIDE_LEVELS", 1)
    monkeypatch.setattr(Trials, "turn", lambda self: contextlib.nullcontext(True))
    monkeypatch.setattr(pair_passes, "COARSE_TABLES", 0)
    in_strips = PairPasses(problem, threads=2)
    try:
        for number in range(6):
            bounds = [passes.run(number % 2 == 0) for passes in (level_by_level, in_strips)]
            assert bounds[0] == pytest.approx(bounds[1], rel=1e-12)
            assert np.array_equal(level_by_level.decoded(), in_strips.decoded())
    finally:
        in_strips.close()


def test_interrupted_pass_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that is interrupted leaves no other waiting for what it had to do."""
    monkeypatch.setattr(pair_passes, "WORTH_THREADS", 0)
    monkeypatch.setattr(pair_passes, "WIDE_LEVELS", 1)
    monkeypatch.setattr(Trials, "turn", lambda self: contextlib.nullcontext(True))
    passes = PairPasses(grid(12, 5, "potts"), threads=2)
    part = passes._part

    def interrupted(forward: bool, thread: int, threads: int, progress: np.ndarray) -> None:
        if thread == 0:
            raise KeyboardInterrupt
        part(forward, thread, threads, progress)

    monkeypatch.setattr(passes, "_part", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            passes.run(True)
    finally:
        passes.close()

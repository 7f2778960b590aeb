"""Passes over pairs are the general passes: same messages, same bound, whatever the kind of table."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.dual.pairs import copy_tables
from dabp.problem import Problem
from dabp.solvers.dual.pair_passes import PairPasses


def table(rng: np.random.Generator, kind: str, shape: tuple[int, int]) -> np.ndarray:
    """Of a kind; costs are any reals."""
    apart = np.abs(np.subtract.outer(np.arange(shape[0]), np.arange(shape[1]))).astype(float)
    weight, base = rng.uniform(0.1, 9), rng.normal()
    if kind == "potts":
        return base + weight * (apart > 0)
    if kind == "repulsive":
        return base - weight * (apart > 0)
    if kind == "truncated":
        return np.minimum(base + weight * apart, base + weight * rng.uniform(0.5, max(shape)))
    return rng.normal(size=shape) * 5


def drawn(rng: np.random.Generator, kind: str, mixed: bool) -> Problem:
    """A connected problem of up to 20 values each (vectors have 8), some factors named from the larger variable."""
    n = int(rng.integers(2, 8))
    sizes = rng.integers(1, 20, n) if mixed else np.full(n, rng.integers(2, 20))
    pairs = [(i, int(rng.integers(0, i))) for i in range(1, n)] + [
        tuple(rng.permutation(n)[:2].tolist()) for _ in range(n)
    ]
    tables = [((i,), rng.normal(size=sizes[i]) * 5) for i in range(n)]
    tables += [(pair, table(rng, kind, (int(sizes[pair[0]]), int(sizes[pair[1]])))) for pair in pairs]
    return Problem.from_tables(sizes.tolist(), tables)


def bound_by_hand(problem: Problem, passes: int) -> list[tuple[float, np.ndarray]]:
    """The bound and the decoded values after each pass, with dense arrays; independent of the kernels."""
    unary = [np.zeros(d) for d in problem.domain_sizes]
    edges = []
    for factor in problem.factors:
        if factor.arity == 1:
            unary[factor.scope[0]] = unary[factor.scope[0]] + factor.table
        elif factor.arity == 2:
            edges.append((*factor.scope, factor.table, [np.zeros(s) for s in factor.table.shape]))
    values = np.zeros(problem.num_variables, dtype=np.int64)
    told = []
    for number in range(passes):
        order = range(problem.num_variables) if number % 2 == 0 else range(problem.num_variables - 1, -1, -1)
        seen: set[int] = set()
        bound = 0.0
        for i in order:
            mine = [(e, side) for e in edges for side in (0, 1) if e[side] == i]
            behind = [(e, side) for e, side in mine if e[1 - side] in seen]
            ahead = [(e, side) for e, side in mine if e[1 - side] not in seen]
            score = unary[i] + sum((e[3][side] for e, side in ahead), np.zeros(len(unary[i])))
            for e, side in behind:
                score = score + np.moveaxis(e[2], side, 0)[:, values[e[1 - side]]]
                e[3][side] = (np.moveaxis(e[2], side, 0) - e[3][1 - side]).min(axis=1)
            values[i] = int(np.argmin(score))
            theta = unary[i] + sum((e[3][side] for e, side in mine), np.zeros(len(unary[i])))
            share = 1.0 / max(1, len(ahead), len(behind))
            bound += theta.min() * (1 - share * len(ahead))
            for e, side in ahead:
                e[3][side] = e[3][side] - share * theta
            seen.add(i)
        told.append((bound, values.copy()))
    return told


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("kind", ["potts", "repulsive", "truncated", "general"])
def test_bounds_and_values(kind: str, mixed: bool) -> None:
    """Pass by pass against a plain calculation; bounds never exceed the optimum and never fall."""
    for seed in range(25):
        rng = np.random.default_rng([seed, mixed])
        problem = drawn(rng, kind, mixed)
        passes = PairPasses(problem)
        before = -np.inf
        for number, (wanted, decoded) in enumerate(bound_by_hand(problem, 6)):
            bound, values = passes.run(number % 2 == 0), passes.decoded()
            assert bound == pytest.approx(wanted, abs=1e-9)
            assert bound >= before - 1e-9
            assert problem.cost(values) == pytest.approx(problem.cost(decoded))
            assert passes.cost == pytest.approx(problem.cost(values))
            before = bound


def test_copies_are_turned_and_padded() -> None:
    """Against transposition, with the last entry of each row repeated to its end."""
    rng = np.random.default_rng(0)
    for rows, columns in ((2, 5), (5, 2), (3, 3), (1, 4)):
        pool = rng.random(7 * rows * columns)
        pool.flags.writeable = False
        begin = rows * columns * rng.permutation(7)[:4]
        tables = pool.reshape(7, rows, columns)[begin // (rows * columns)]
        for side, lanes, others in ((0, rows, columns), (1, columns, rows)):
            ends = 2 * rng.permutation(4) + side
            padded = np.empty((4, others, 8))
            copy_tables(pool, begin, ends, lanes, padded)
            wanted = tables[ends // 2].transpose(0, 2, 1) if side == 0 else tables[ends // 2]
            assert np.array_equal(padded[:, :, :lanes], wanted)
            assert (padded[:, :, lanes:] == wanted[:, :, -1:]).all()

"""Certified bounds: below what exact fractions give for the same messages, and hardly below it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.dual.general_passes import Passes
from dabp.solvers.dual.pair_passes import PairPasses
from tests.problems import drawn_problem, exhaustive
from tests.solvers.dual.test_branching import drawn_grid


def exact_bound(passes: Passes) -> Fraction:
    """Σ_i min θ_i + Σ_α min θ_α of the messages as they are, in fractions."""
    r = passes._relaxation
    total = Fraction(0)
    for i, size in enumerate(r.sizes.tolist()):
        entries = r.incident[r.incident_start[i] : r.incident_start[i + 1]].tolist()
        total += min(
            Fraction(float(r.unary[r.unary_start[i] + a]))
            + sum(Fraction(float(r.messages[r.message_start[e] + a])) for e in entries)
            for a in range(size)
        )
    for f in range(len(r.table_start)):
        entries = range(r.scope_start[f], r.scope_start[f + 1])
        sizes = [int(r.sizes[r.variable[e]]) for e in entries]
        cells = []
        for values in itertools.product(*map(range, sizes)):
            place = r.table_start[f] + sum(int(r.stride[e]) * v for e, v in zip(entries, values, strict=True))
            if np.isfinite(r.pool[place]):
                moved = (r.messages[r.message_start[e] + v] for e, v in zip(entries, values, strict=True))
                cells.append(Fraction(float(r.pool[place])) - sum(Fraction(float(m)) for m in moved))
        total += min(cells)
    return total


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e12])
def test_it_is_just_below_the_exact_bound(scale: float) -> None:
    """After some passes, on any arity: never above, and below by rounding only."""
    for seed in range(40):
        problem = drawn_problem(np.random.default_rng(seed), integral=False, hard=0.0, dense=seed % 2 == 0)
        problem = problem.replace(pool=problem.pool * scale, constant=0.0)
        passes = Passes(problem)
        for turn in range(5):
            passes.run(turn % 2 == 0)
        certified, exact = Fraction(passes.certified()), exact_bound(passes)
        assert certified <= exact
        assert exact - certified <= Fraction(1e-12 * problem.facts.magnitude)


def test_pairs_of_every_kind_of_table_have_it_too() -> None:
    """Potts, truncated linear and other tables: never above the optimum, and that of the general passes."""
    rng = np.random.default_rng(0)
    apart = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    kinds = [1.3 * (apart > 0), np.minimum(0.7 * apart, 1.9), rng.random((4, 4))]
    pairs = list(itertools.combinations(range(5), 2))
    for seed in range(30):
        rng = np.random.default_rng(seed)
        chosen = rng.integers(0, 3, len(pairs))
        unary = rng.random((5, 4)) * 3
        pool = np.concatenate([*(kinds[k].ravel() for k in range(3)), unary.ravel()])
        problem = Problem(
            [4] * 5,
            [*itertools.chain(*pairs), *range(5)],
            [*range(0, 21, 2), *range(21, 26)],
            pool,
            [0, 16, 32, 48, *range(52, 69, 4)],
            [*chosen, *range(3, 8)],
        )
        fast, plain = PairPasses(problem), Passes(problem)
        for turn in range(12):
            fast.run(turn % 2 == 0)
            plain.run(turn % 2 == 0)
        assert fast.certified() <= exhaustive(problem)[0]
        assert fast.certified() == pytest.approx(plain.certified(), abs=1e-9)


def test_excess_adds_up_to_the_gap_and_is_never_negative() -> None:
    """After any number of passes, for any assignment and any kind of table."""
    rng = np.random.default_rng(5)
    for seed in range(60):
        problem = drawn_grid(seed, hard=0.0)
        passes = PairPasses(problem)
        for turn in range(seed % 7):
            passes.run(turn % 2 == 0)
        values = rng.integers(0, problem.domain_sizes)
        excess = passes.excess(values)
        assert (excess >= -1e-9 * problem.facts.magnitude).all()
        gap = problem.cost(values) - passes.constant - passes.certified()
        assert excess.sum() == pytest.approx(gap, abs=1e-8 * problem.facts.magnitude)

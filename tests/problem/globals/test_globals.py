"""Each global function: evaluation, decomposition, rows and posting, against a definition in the tests."""

from __future__ import annotations

import itertools
import math
import os

import numpy as np
import pytest

from dabp.problem import Problem, sums
from dabp.problem.blocks import Blocks, Building
from dabp.problem.globals import Posted
from dabp.problem.globals.posting import onto
from tests.problem.globals.definitions import KINDS, Drawn

CASES = int(os.environ.get("GLOBALS_CASES", "40"))


def posted(drawn: Drawn, *, maximize: bool = False) -> Problem:
    """A problem of the function alone, on variables in another order than its arguments."""
    shape = [len(own) for own in drawn.symbols]
    scope = tuple(reversed(range(len(shape))))
    blocks = Blocks()
    build = Building(blocks, "it", 10**7, maximize)
    drawn.function.decompose(build, scope, drawn.symbols)
    one = Posted(drawn.function, scope, tuple(drawn.symbols), tuple(range(blocks.num_factors)), "it")
    return onto(Problem(shape[::-1], maximize=maximize), blocks, [one])


@pytest.mark.parametrize("kind", KINDS)
def test_functions_cost_what_they_say(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every assignment: the evaluation and the decomposition, small and large forms of it, cost as defined."""
    for case in range(CASES):
        rng = np.random.default_rng(case)
        drawn = KINDS[kind](rng)
        if case == CASES // 2:  # from here on, what would be one table falls apart
            for module in (sums, __import__("dabp.problem.globals.base", fromlist=["base"])):
                monkeypatch.setattr(module, "SMALL_CELLS", 0)
        maximize = bool(rng.random() < 0.5)
        problem = posted(drawn, maximize=maximize)
        values = np.array(list(itertools.product(*(range(len(own)) for own in drawn.symbols))), dtype=np.int64)
        values = values.reshape(-1, len(drawn.symbols))
        rows = np.stack([own[column] for own, column in zip(drawn.symbols, values.T, strict=True)], axis=1)
        off = np.array([drawn.violation(row) for row in rows.tolist()], dtype=np.float64)
        assert np.allclose(drawn.function.violation(rows), off), (case, drawn.function)
        price = drawn.function.price
        worth = np.array([0.0 if not one or not price else price * one for one in off])
        worth = np.where(np.isnan(worth), np.inf, worth)
        assert np.allclose(drawn.function.costs(rows), worth), (case, drawn.function)
        found = problem.cost(problem.auxiliaries.completed(values[:, ::-1]))
        assert np.allclose(found, -worth if maximize else worth), (case, drawn.function)
        if problem.auxiliaries.statements:
            assert np.allclose(problem.auxiliaries.statements[0].costs(values[:, ::-1]), worth)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_hold_and_price_from_below(kind: str) -> None:
    """A hard function's rows hold exactly where it does not forbid; the others cost no more than the function."""
    for case in range(CASES):
        drawn = KINDS[kind](np.random.default_rng(case))
        rows = drawn.function.rows(drawn.symbols)
        for values in itertools.product(*(range(len(own)) for own in drawn.symbols)):
            symbols = [int(own[value]) for own, value in zip(drawn.symbols, values, strict=True)]
            cost, total = float(drawn.function.costs(np.array([symbols]))[0]), 0.0
            for row in rows:
                at = sum(float(c[value]) for c, value in zip(row.coefficients, values, strict=True))
                off = max(row.low - at, at - row.high, 0.0)
                total += off * row.price if off > 1e-9 else 0.0
            assert not rows or total <= cost + 1e-9, (case, drawn.function, values)
            if rows and drawn.function.hard and math.isinf(cost):
                assert math.isinf(total), (case, drawn.function, values)

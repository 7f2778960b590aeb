"""Preparations of large problems are loops of NumPy and of kernels: none of Python over variables, factors or costs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.presolve import presolve
from dabp.problem import Problem
from dabp.problem.columns import cheapest_values
from dabp.problem.guard import Guard
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.incumbent import Incumbent, least_of_tables
from dabp.solvers.belief_propagation.engine import MinSum
from dabp.solvers.descent import descended
from dabp.solvers.local_costs.binary_costs import BinaryCosts
from dabp.solvers.local_costs.local_costs import LocalCosts

FEW, MANY = 1_000, 5_000


def _columns(count: int, *, domain: int = 3, arity: int = 2, shared: int = 0, forbidden: bool = False) -> Problem:
    """A ring of windows, each variable with costs of its own, and pairs far apart."""
    rng = np.random.default_rng(count)
    first = np.arange(count)
    windows = (first[:, None] + np.arange(arity)) % count
    pairs = np.stack([first, (first + count // 3) % count], axis=1)
    scopes = [first[:, None], windows, pairs]
    cells = [domain ** rows.shape[1] for rows in scopes]
    tables = [rng.integers(0, 9, (shared or count) * size) * 1.0 for size in cells]
    if forbidden:
        tables[1][:: cells[1]] = np.inf
    lengths = np.concatenate([np.full(shared or count, size) for size in cells])
    arities = np.concatenate([np.full(count, rows.shape[1]) for rows in scopes])
    which = np.concatenate([k * (shared or count) + first % (shared or count) for k in range(3)])
    return Problem(
        np.full(count, domain),
        np.concatenate([rows.ravel() for rows in scopes]),
        np.concatenate([[0], np.cumsum(arities)]),
        np.concatenate(tables),
        np.concatenate([[0], np.cumsum(lengths)]),
        which,
    )


def _prepare(problem: Problem) -> None:
    """What stands before the first iteration of `auto`'s members, and of a user who only looks."""
    copy = problem.replace(name="again")
    copy.cost(np.zeros(problem.num_variables, dtype=np.int64))
    reduced = presolve(problem).problem
    features_of(reduced)
    start = descended(reduced, cheapest_values(reduced), Guard())
    Incumbent(reduced).offer(start, "descent", 0.0)
    least_of_tables(reduced)
    MinSum(reduced, FactorGraph.from_problem(reduced)).reset(0.2)
    local: Any = BinaryCosts(reduced) if BinaryCosts.fits(reduced) else LocalCosts(reduced)
    local.put(local.state(0), start)


def _lines_run(work: Callable[[], object]) -> Counter[tuple[str, int]]:
    """How often Python runs each line of this package meanwhile, and calls each function of others."""
    counts: Counter[tuple[str, int]] = Counter()

    def watch(frame: FrameType, event: str, argument: Any) -> Any:
        ours = "dabp" in frame.f_code.co_filename
        counts[frame.f_code.co_filename, frame.f_lineno if ours else frame.f_code.co_firstlineno] += 1
        return watch if ours else None

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        work()
    finally:
        sys.settrace(before)
    return counts


@pytest.mark.parametrize(
    "kind",
    [
        {"shared": 7},
        {},
        {"domain": 2},
        {"forbidden": True},
        {"arity": 3},
        {"arity": 3, "forbidden": True, "shared": 5},
    ],
)
def test_as_many_lines_whatever_the_size(kind: dict[str, Any]) -> None:
    """Five times as many variables and factors: no line is run a time more for each of them (rounds may be a few)."""
    few, many = _columns(FEW, **kind), _columns(MANY, **kind)
    _prepare(few)  # loads kernels and modules
    grown = _lines_run(lambda: _prepare(many)) - _lines_run(lambda: _prepare(few))
    assert {line: count for line, count in grown.items() if count > (MANY - FEW) // 8} == {}


def test_lines_are_counted() -> None:
    """The measure itself: a loop of this package over variables is seen."""
    problem = _columns(FEW)
    assert max(_lines_run(lambda: [problem.scope(f) for f in range(FEW)]).values()) >= FEW

"""Sweeps in classes, by one thread or several."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.local_costs import colouring
from dabp.solvers.local_costs.crew import Sweepers
from dabp.solvers.trials import Trials
from tests.problems import exhaustive_optimum, random_problem
from tests.search_states import sound


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colouring, "LARGE", 1)
    monkeypatch.setattr(colouring, "FEWEST", 0)
    monkeypatch.setattr(Trials, "turn", lambda self, work: contextlib.nullcontext(True))


def _drawn(seed: int, *, binary: bool, forbidden: float, ternary: bool, real: bool, wide: bool = False) -> Problem:
    """Forty variables, sparse, of one kind."""
    rng = np.random.default_rng(seed)
    count = 40
    sizes = np.full(count, 2) if binary else rng.integers(1, 20 if wide else 7, size=count)
    scopes = [tuple(rng.permutation(count)[:2].tolist()) for _ in range(80)]
    scopes += [tuple(rng.permutation(count)[:3].tolist()) for _ in range(15)] if ternary else []
    scopes += [(i,) for i in range(0, count, 3)]
    tables = []
    for scope in scopes:
        table = rng.integers(-50, 50, size=sizes[list(scope)]).astype(float)
        table += rng.random(table.shape) if real else 0.0
        table[rng.random(table.shape) < forbidden] = np.inf
        table[(0,) * len(scope)] = 9.0
        tables.append((scope, table))
    return Problem.from_tables(sizes, tables)


KINDS = {
    "pairs": _drawn(1, binary=False, forbidden=0.0, ternary=False, real=False),
    "real": _drawn(2, binary=False, forbidden=0.0, ternary=False, real=True),
    "wide": _drawn(3, binary=False, forbidden=0.0, ternary=True, real=False, wide=True),
    "forbidden": _drawn(4, binary=False, forbidden=0.2, ternary=True, real=False),
    "real forbidden": _drawn(5, binary=False, forbidden=0.2, ternary=True, real=True),
    "binary": _drawn(6, binary=True, forbidden=0.0, ternary=False, real=False),
    "real binary": _drawn(7, binary=True, forbidden=0.0, ternary=False, real=True),
    "one row": dabp.generate("random-cop", variables=40, domain=5, density=0.1, seed=8),
    "two rows": dabp.generate("random-cop", variables=40, domain=12, density=0.1, seed=8),
    "three rows": dabp.generate("random-cop", variables=40, domain=20, density=0.1, seed=8),
}


def _started(problem: Problem, threads: int) -> Any:
    budget = Budget(max_iterations=400, threads=threads)
    return make_solver("annealing").start(problem, seed=1, budget=budget)


def _run(search: Any, iterations: int) -> list[float]:
    costs: list[float] = []
    while len(costs) < iterations:
        costs.extend(search.step().costs)
    return costs


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_gives_the_same(kind: str) -> None:
    """All that a search keeps is equal, and what it keeps is true of its assignment."""
    problem = KINDS[kind]
    searches = [_started(problem, threads) for threads in (1, 2, 3)]
    traces = [_run(search, 400)[:400] for search in searches]
    assert traces[0] == traces[1] == traces[2]
    assert np.isfinite(traces[0]).any()
    for search in searches:
        assert search._sweepers is not None
        sound(search.local, search.state)
        assert search.local.units.of(search.local.inside(search.incumbent)) == search._incumbent_units
        assert search.problem.cost(search.incumbent) == pytest.approx(min(traces[0]))
        for one, other in zip(search.state, searches[0].state, strict=True):
            np.testing.assert_array_equal(one, other)
        search.close()


@pytest.mark.parametrize("kind", KINDS)
def test_finds_what_sweeps_in_sequence_find(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In as many sweeps, about as good an answer."""
    problem = KINDS[kind]
    classed = dabp.solve(problem, "annealing", max_iterations=2000, seed=3, threads=2, presolve=False)
    monkeypatch.setattr(colouring, "LARGE", 10**9)
    plain = dabp.solve(problem, "annealing", max_iterations=2000, seed=3, presolve=False)
    assert classed.cost <= plain.cost + 0.02 * abs(plain.cost)


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
@pytest.mark.parametrize("seed", range(30))
def test_finds_the_optimum_of_small_problems(seed: int, solver: str) -> None:
    """Any arity, domain, direction and forbidden combination; tabu search moves on the same table."""
    problem = random_problem(seed)
    optimum = exhaustive_optimum(problem)
    result = dabp.solve(problem, solver, max_iterations=2000, seed=seed, presolve=False)
    if optimum is None:
        assert result.cost is None
    else:
        assert result.cost == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("kind", ["forbidden", "binary"])
def test_resumes_bit_for_bit(kind: str) -> None:
    """With another number of threads, too."""
    first, second = _started(KINDS[kind], 2), _started(KINDS[kind], 1)
    _run(first, 150)
    second.load_state_dict(first.state_dict())
    one, two = (_run(search, 200)[:200] for search in (first, second))
    assert one == two
    for search in (first, second):
        search.close()


def test_starts_from_an_assignment_and_takes_offers() -> None:
    """In the problem's own order; variables that must differ exchange their values one after the other."""
    problem = KINDS["wide"]
    best = dabp.solve(problem, "annealing", max_iterations=1000, seed=0, presolve=False)
    again = dabp.solve(problem, "annealing", max_iterations=1, seed=9, initial=best.assignment, presolve=False)
    assert again.cost == best.cost
    search = _started(problem, 1)
    search.offer(best.assignment, best.cost)
    assert search._incumbent_units == search.local.cost_of(best.assignment)
    size = 6
    apart = np.arange(size * size, dtype=float).reshape(size, size)
    np.fill_diagonal(apart, np.inf)
    order = Problem.from_tables([size] * size, [((i, j), apart) for i in range(size) for j in range(i)])
    exchanging = _started(order, 2)
    assert exchanging._sweepers is None
    _run(exchanging, 50)
    assert order.cost(exchanging.incumbent) == exchanging._incumbent_units


def _without_edges() -> Sweepers:
    """Two threads for two variables."""
    edges = SimpleNamespace(offsets=np.array([0, 0, 0]), target=np.zeros(0, dtype=np.int64))
    return Sweepers(np.array([0, 2]), edges, 0, 2, lambda order: None)


def test_nobody_waits_for_a_thread_that_was_interrupted() -> None:
    """Others come to their end, and the error is told."""
    sweepers = _without_edges()

    def part(crew: Any, edges: None, stage: int, thread: int) -> int:
        if thread == 0:
            raise KeyboardInterrupt
        return 9 if crew.done[0] >= 9 else stage

    with pytest.raises(KeyboardInterrupt):
        sweepers.sweep(part, 3)
    sweepers.close()


def test_one_thread_alone_where_that_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps are in threads or not as `Trials` say."""
    ways = [True, False, True, False, False]
    each = iter(ways)
    monkeypatch.setattr(Trials, "turn", lambda self, work: contextlib.nullcontext(next(each)))
    sweepers = _without_edges()
    calls: list[int] = []

    def part(crew: Any, edges: None, stage: int, thread: int) -> int:
        if thread == 0:
            calls.append(len(crew.reports))
        return 9

    for _ in ways:
        sweepers.sweep(part, 3)
    sweepers.close()
    assert calls == [2 if together else 1 for together in ways]

"""toulbar2 in its own process."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.driver.stopping import Progress
from dabp.errors import ParameterError
from dabp.presolve.exclusion import exclusions
from dabp.problem import Problem
from dabp.solvers.base import Budget, Step
from dabp.solvers.status import Status
from dabp.solvers.toulbar2.toulbar2 import MODES, Toulbar2, Toulbar2Search
from tests.problems import exhaustive_optimum, random_problem
from tests.solvers.toulbar2.processes import children, hard_problem


@pytest.fixture(scope="module")
def hard() -> Problem:
    """A problem that toulbar2 does not finish within a test."""
    return hard_problem()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(200, 206))
def test_modes_find_the_optimum(mode: str, seed: int) -> None:
    """Every mode ends at the optimum of small problems; all but VNS always prove it."""
    problem = random_problem(seed)
    result = dabp.solve(problem, Toulbar2(mode=mode, steps=500))
    optimum = exhaustive_optimum(problem)
    if optimum is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.cost == pytest.approx(optimum, abs=1e-6)
        assert mode == "vns" or result.status is Status.OPTIMAL


def test_incumbents_and_bounds_stream(hard: Problem) -> None:
    """Answers and bounds arrive while it runs, not at its end, and leave no process when the solve ends."""

    def seen(progress: Progress) -> bool:
        return progress.cost is not None and progress.bound is not None

    result = dabp.solve(hard, "toulbar2", time_limit=60, callbacks=[seen])
    assert result.status is Status.INTERRUPTED
    assert result.bound < result.cost == hard.cost(result.assignment)
    assert not children()


@pytest.mark.parametrize("seed", range(6))
def test_cliques_among_forbidden_pairs_keep_the_answer(seed: int) -> None:
    """Cliques posted beside tables of every arity change how fast toulbar2 proves, never what."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, size=6)
    marked = [rng.random(size) < 0.6 for size in sizes]
    model = dabp.Model()
    names = [model.add_variable(f"x{v}", int(size)) for v, size in enumerate(sizes)]
    for x, y in itertools.combinations(range(6), 2):
        costs = rng.integers(0, 9, size=(sizes[x], sizes[y])).astype(float)
        costs[np.ix_(marked[x], marked[y])] = np.inf
        model.add_cost([names[x], names[y]], costs)
    for scope in itertools.islice(itertools.combinations(range(6), 4), seed, None, 5):
        model.add_cost([names[v] for v in scope], rng.integers(0, 9, size=tuple(sizes[list(scope)])).astype(float))
    problem = model.build()
    assert exclusions(problem)
    found = [dabp.solve(problem, "toulbar2", params={"cliques": c}, presolve=False).cost for c in (True, False)]
    assert found == [exhaustive_optimum(problem)] * 2


def test_a_clique_bounds_what_its_pairs_do_not() -> None:
    """Of jobs that overlap one is taken: toulbar2 knows it before it branches."""
    rng = np.random.default_rng(3)
    start = rng.random(60)
    end = start + 0.3 * rng.random(60)
    model = dabp.Model()
    names = model.add_variables([f"x{v}" for v in range(60)], 2)
    for name in names:
        model.add_cost(name, [float(rng.integers(1, 100)), 0.0])
    for x, y in itertools.combinations(range(60), 2):
        if start[x] <= end[y] and start[y] <= end[x]:
            model.add_cost([names[x], names[y]], [[0.0, 0.0], [0.0, np.inf]])

    class Listener(Toulbar2Search):
        """Keeps every bound, also those that arrive together."""

        def _raise_bound(self, integer_bound: float, step: Step) -> None:
            first.setdefault(self._solver.cliques, integer_bound)
            super()._raise_bound(integer_bound, step)

    first: dict[bool, float] = {}
    for cliques in (True, False):
        solver = Toulbar2(cliques=cliques)
        search = Listener(solver, model.build(), seed=0, budget=Budget(), initial=None)
        while (finished := search.step().finished) is None:
            pass
        search.close()
        assert finished is Status.OPTIMAL
    assert first[True] > 1.5 * first[False]


def test_warm_start_is_the_upper_bound() -> None:
    """An optimal warm start is proved, not searched for again; an infeasible one does no harm."""
    problem = random_problem(12)
    best = dabp.solve(problem, "mbe")
    again = dabp.solve(problem, "toulbar2", initial=best.assignment)
    assert again.status is Status.OPTIMAL
    assert again.cost == best.cost
    assert again.iterations == 0
    clash = Problem([2, 2], [0, 1], [0, 2], [np.inf, 3.0, 4.0, np.inf], [0, 4])
    assert dabp.solve(clash, "toulbar2", initial=[0, 0]).cost == 3.0


def test_memory_limit_counts_the_child(hard: Problem) -> None:
    """A limit below what toulbar2 holds ends the solve as a limit."""
    search = Toulbar2().start(hard, seed=0, budget=Budget(memory_limit=1_000_000))
    assert isinstance(search, Toulbar2Search)
    try:
        deadline = time.perf_counter() + 60
        finished = None
        while finished is None and time.perf_counter() < deadline:
            finished = search.step().finished
    finally:
        search.close()
    assert finished is Status.LIMIT


@pytest.mark.parametrize(
    ("file", "optimum"),
    [
        ("4queens.wcsp", 0),
        ("zebra.wcsp", 0),
        ("donald.wcsp", 0),
        ("alarm.cfn.gz", 3.086727),  # 3.157695 to toulbar2, which counts the least cost of its dense 4-ary tables twice
        ("example.wcsp", 27),
        ("warehouse.wcsp", 328),
        ("celar6sub0.wcsp.xz", 159),
        ("GEOM40_6.wcsp.xz", 0),
        ("1aho.cfn.gz", -33.729920),
        ("maximization.cfn", 0.5),
        ("water.uai", 7.958763),
        ("8wqueens_wcsp.xml", 2),
    ],
)
def test_public_instances(shared_instances: Path, file: str, optimum: float) -> None:
    """The optima that toulbar2 proved when it read these files itself."""
    result = dabp.solve(dabp.read(shared_instances / file), "toulbar2", time_limit=120)
    assert result.status is Status.OPTIMAL
    assert result.cost == pytest.approx(optimum, abs=1e-5)


@pytest.mark.parametrize(
    "wrong", [{"mode": "magic"}, {"tries": 0}, {"steps": 0}, {"vac": -1}, {"precision": 0.0}, {"precision": np.inf}]
)
def test_parameters_are_checked(wrong: dict[str, object]) -> None:
    """Impossible parameters are refused."""
    with pytest.raises(ParameterError, match="toulbar2"):
        Toulbar2(**wrong)  # type: ignore[arg-type]


def test_an_iteration_limit_is_not_sure_to_end_it() -> None:
    """Iterations are improvements here, which the driver must know to refuse a run that would not end."""
    assert not Toulbar2.iterations_end


def test_comments_between_the_lines_of_a_solution() -> None:
    """On problems of thousands of variables toulbar2 reports memory after the line that announces a solution."""
    problem = dabp.generate("ising", row_count=80, col_count=80, seed=7)
    assert dabp.solve(problem, "toulbar2", time_limit=3).status.value in ("LIMIT", "OPTIMAL")

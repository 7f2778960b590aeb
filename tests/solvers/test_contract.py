"""The contract of every solver in the registry, on random small problems with optima by exhaustive search.

300 problems (seeds 0..299) of mixed arity and domains, with forbidden combinations, in both directions. Solvers that
take milliseconds see all of them; those in `SHARE`, which start a process or train a network, a share that keeps the
whole suite under a minute. A new solver in `SOLVERS` is picked up here.
"""

from __future__ import annotations

import functools
import signal

import numpy as np
import pytest

import dabp
from dabp.driver.result import Result
from dabp.driver.stopping import Progress
from dabp.problem import Problem
from dabp.solvers import SOLVERS, parameters
from dabp.solvers.finite_numbers import SWITCH
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem

PROBLEMS = 300
SHARE = {
    "linear-relaxation": 15,
    "toulbar2": 4,
    "toulbar2-vns": 15,
    "toulbar2-incop": 15,
    "toulbar2-pils": 15,
    "auto": 15,
    "dabp": 30,
    "dabp-heter": 30,
    "dabp-homo": 30,
    "dabp-static": 30,
    "gat-pcm-lns": 30,
}
"""Solver → n: it sees every n-th problem, each from another one on."""

QUICK = {"steps": 500, "restarts": 2}
"""Parameters, where a solver has them, that keep its own schedule short."""

ITERATIONS = 40
TOLERANCE = 1e-6


@pytest.fixture(autouse=True)
def _numbers_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of every solver is looked through for NaN and infinity."""
    monkeypatch.setenv(SWITCH, "1")


def seeds(name: str, step: int = 1) -> range:
    """The problems that a solver sees; `step` thins them out for the costlier tests."""
    every = max(SHARE.get(name, 1), step)
    return range(list(SOLVERS).index(name) % every, PROBLEMS, every)


@functools.cache
def case(seed: int) -> tuple[Problem, float | None]:
    """A problem and its optimum (None: infeasible)."""
    problem = random_problem(seed)
    return problem, exhaustive_optimum(problem)


def run(name: str, problem: Problem, **options: object) -> Result:
    """A short solve with the solver's quick parameters."""
    known = parameters(name)
    chosen = {key: value for key, value in QUICK.items() if key in known}
    return dabp.solve(problem, name, params=chosen, **{"max_iterations": ITERATIONS, "seed": 3, **options})


def check(problem: Problem, optimum: float | None, result: Result) -> None:
    """Everything a result promises, against the optimum found by exhaustive search."""
    sign = -1.0 if problem.maximize else 1.0
    if result.cost is not None:
        assert optimum is not None, "an answer to an infeasible problem"
        table_costs = [problem.table(f)[tuple(result.assignment[problem.scope(f)])] for f in range(problem.num_factors)]
        assert result.cost == pytest.approx(problem.constant + sum(map(float, table_costs)), abs=TOLERANCE)
        assert sign * result.cost >= sign * optimum - TOLERANCE, "better than the optimum"
        assert result.values == problem.names.labelled(result.assignment)
    if result.bound is not None and optimum is not None:
        assert sign * result.bound <= sign * optimum + TOLERANCE, "the bound is on the wrong side"
    if result.bound is not None and result.cost is not None:
        assert sign * result.bound <= sign * result.cost
    if result.status is Status.OPTIMAL:
        assert result.cost == pytest.approx(optimum, abs=TOLERANCE)
        assert result.gap == pytest.approx(0.0, abs=TOLERANCE)
    if result.status is Status.INFEASIBLE:
        assert optimum is None, "a feasible problem called infeasible"


def same(one: Result, other: Result) -> None:
    """Two runs that must be the same run."""
    assert one.cost == other.cost
    assert one.status is other.status
    assert (one.assignment is None) == (other.assignment is None)
    if one.assignment is not None:
        assert np.array_equal(one.assignment, other.assignment)


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("name", SOLVERS)
def test_answers(name: str, part: int) -> None:
    """Costs are recomputed costs, never better than the optimum; bounds on their side; OPTIMAL only when equal."""
    for seed in seeds(name)[part::2]:
        problem, optimum = case(seed)
        check(problem, optimum, run(name, problem))


@pytest.mark.parametrize("name", SOLVERS)
def test_same_seed_same_answer(name: str) -> None:
    """A run can be repeated."""
    for seed in seeds(name, 100 if name in SHARE else 20):
        problem, _ = case(seed)
        same(run(name, problem), run(name, problem))


@pytest.mark.parametrize("name", SOLVERS)
def test_fixed_variables(name: str) -> None:
    """What is fixed stays fixed, and the answer is checked against the optimum under that condition."""
    for seed in seeds(name, 100 if name in SHARE else 20):
        problem, _ = case(seed)
        variable = seed % problem.num_variables
        value = seed % int(problem.domain_sizes[variable])
        fixed = problem.replace(  # an independent way to fix: a factor that forbids all other values
            scope_variables=[*problem.scope_variables, variable],
            scope_offsets=[*problem.scope_offsets, problem.scope_offsets[-1] + 1],
            pool=[
                *problem.pool,
                *np.where(np.arange(problem.domain_sizes[variable]) == value, 0, problem.facts.forbidden),
            ],
            pool_offsets=[*problem.pool_offsets, problem.pool_offsets[-1] + problem.domain_sizes[variable]],
            factor_table=[*problem.factor_table, len(problem.pool_offsets) - 1],
        )
        label = problem.names.labels(variable)[value]
        result = run(name, problem, fix={problem.names.variable(variable): label})
        check(problem, exhaustive_optimum(fixed), result)
        if result.assignment is not None:
            assert result.assignment[variable] == value


@pytest.mark.parametrize("name", SOLVERS)
def test_warm_start(name: str) -> None:
    """The answer is never worse than the assignment it was started from."""
    for seed in seeds(name, 100 if name in SHARE else 20):
        problem, optimum = case(seed)
        start = np.random.default_rng(seed).integers(0, problem.domain_sizes)
        result = run(name, problem, initial=start)
        check(problem, optimum, result)
        given = float(problem.cost(start))
        if np.isfinite(given):
            assert result.cost is not None
            assert (result.cost >= given) if problem.maximize else (result.cost <= given)


@pytest.fixture(scope="module")
def larger() -> Problem:
    """A problem that takes every solver longer than the limits below."""
    return dabp.generate("random-cop", variables=40, domain=8, density=0.4, seed=5)


@pytest.mark.parametrize("name", SOLVERS)
def test_limits(name: str, larger: Problem) -> None:
    """No block is begun once a limit is reached, whether by iterations or by time."""
    few = dabp.solve(larger, name, max_iterations=1, time_limit=60, seed=1)
    assert few.status in (Status.LIMIT, Status.CONVERGED)
    assert all(iterations < 1 for _, iterations in few.trace.blocks[:-1])
    if not name.startswith("toulbar2"):  # whose iterations are improvements
        assert few.iterations <= 1
        assert dabp.solve(larger, name, max_iterations=7, time_limit=60, seed=1).iterations <= 7
    short = dabp.solve(larger, name, time_limit=0.2, seed=1)
    assert short.status in (Status.LIMIT, Status.CONVERGED)
    assert all(seconds < 0.2 for seconds, _ in short.trace.blocks[:-1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", SOLVERS)
def test_signals(name: str, number: signal.Signals, larger: Problem) -> None:
    """A signal ends the solve before the next step, with an answer no worse than the incumbent it found."""
    before = signal.getsignal(number)
    seen: list[float | None] = []

    def raise_once(progress: Progress) -> None:
        seen.append(progress.cost)
        signal.raise_signal(number)

    result = dabp.solve(larger, name, time_limit=20, seed=1, callbacks=[raise_once])
    assert len(seen) == 1
    assert result.status in (Status.INTERRUPTED, Status.CONVERGED)
    if seen[0] is not None:
        assert result.cost is not None
        assert result.cost <= seen[0]
    assert signal.getsignal(number) == before

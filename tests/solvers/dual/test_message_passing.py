"""The dual solver's bound: on its side of the optimum, monotone, tight where the relaxation is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.solvers.base import Budget, Search
from dabp.solvers.dual.message_passing import Dual
from dabp.solvers.status import Status
from tests.problems import drawn_problem, exhaustive


def run(search: Search, problem: Problem, steps: int = 200) -> tuple[float, float, Status | None]:
    """Best cost, bound and status, checking on the way that costs are right and the bound never falls."""
    best, bound = np.inf, -np.inf
    for _ in range(steps):
        step = search.step()
        if step.best is not None:
            assert problem.cost(step.best) == pytest.approx(step.best_cost)
            best = min(best, step.best_cost)
        if step.bound is not None:
            assert step.bound >= bound
            bound = step.bound
        if step.finished is not None:
            return best, bound, step.finished
    return best, bound, None


def complete(tables: np.ndarray) -> Problem:
    """A problem on a complete graph; `tables` [edges, D, D] in the order of `itertools.combinations`."""
    edges, domain = tables.shape[:2]
    n = round((1 + (1 + 8 * edges) ** 0.5) / 2)
    scopes = np.array(list(itertools.combinations(range(n), 2)))
    cells = domain * domain
    offsets = np.arange(0, cells * edges + 1, cells)
    return Problem([domain] * n, scopes.ravel(), np.arange(0, 2 * edges + 1, 2), tables.ravel(), offsets)


def crowded(seed: int) -> Problem:
    """Seven variables, all pairs, many forbidden combinations; an assignment is kept feasible in two of three."""
    rng = np.random.default_rng(seed)
    tables = rng.integers(0, 20, (21, 3, 3)).astype(float)
    if seed % 2:
        tables += rng.random(tables.shape)
    tables[rng.random(tables.shape) < [0.25, 0.35, 0.45][seed // 2 % 3]] = np.inf
    if seed % 3:
        hidden = rng.integers(0, 3, 7)
        for table, (a, b) in zip(tables, itertools.combinations(hidden, 2), strict=True):
            table[a, b] = rng.integers(0, 20)
    return complete(tables)


@pytest.mark.parametrize("block", range(4))
def test_the_bound_is_never_above_the_optimum(block: int) -> None:
    """1,000 random problems, all kinds of factors: bounds below, proofs right."""
    solver = Dual(patience=20)
    for seed in range(block * 250, block * 250 + 250):
        rng = np.random.default_rng(seed)
        problem = drawn_problem(rng, integral=seed % 2 == 0, hard=[0.2, 0.5][seed % 3 == 0], dense=seed % 4 > 0)
        optimum, _ = exhaustive(problem)
        best, bound, status = run(solver.start(problem, seed=0, budget=Budget()), problem)
        assert bound <= optimum + 1e-9
        if status is Status.INFEASIBLE:
            assert optimum == np.inf
        elif status is Status.OPTIMAL:
            assert best == pytest.approx(optimum)


def test_what_only_cliques_forbid_is_taken_out() -> None:
    """400 problems whose joint tables leave values without support: finite messages, sound bounds, right proofs."""
    solver = Dual(patience=12)
    narrowed = 0
    for seed in range(400):
        problem = crowded(seed)
        optimum, _ = exhaustive(problem)
        search = solver.start(problem, seed=0, budget=Budget())
        best, bound, status = run(search, problem)
        assert best >= optimum - 1e-9
        assert bound <= optimum + 1e-9
        assert (status is Status.INFEASIBLE) <= (optimum == np.inf)
        if status is Status.OPTIMAL:
            assert best == pytest.approx(optimum)
        state = search.state_dict()
        assert np.isfinite(state.get("messages", 0.0)).all()
        narrowed += state.get("stage", 2) > 2 and len(search._steps) > len(search._base_steps)
    assert narrowed > 20


def test_a_path_inconsistency_does_not_stop_the_bound() -> None:
    """x0 = 0 forces x1 = x2 = 0, which is forbidden: arc consistent pair by pair, not as a triangle."""
    tables = np.random.default_rng(0).integers(0, 100, (435, 5, 5)).astype(float)
    tables[0, 0, 1:] = tables[1, 0, 1:] = np.inf  # factors (0, 1) and (0, 2)
    tables[29, 0, 0] = np.inf  # factor (1, 2)
    problem = complete(tables)
    search = Dual(largest_clique=3).start(problem, seed=0, budget=Budget())
    plain = Dual(largest_clique=2).start(problem, seed=0, budget=Budget())
    for _ in range(15):
        search._pass()
        plain._pass()
    assert search._tighten(3)
    for _ in range(15):
        search._pass()
        plain._pass()
    for one in (plain, search):
        one._certify()
    assert plain.bound < search.bound < np.inf
    assert search._lifted()[0] > 0


def test_supports_are_looked_for_again_in_sums() -> None:
    """Two ternary factors become binary on one scope when c and d are forced: only together they forbid a = 0."""
    tables = np.random.default_rng(0).integers(0, 10, (2, 2, 2, 2)).astype(float)
    tables[0, 0, 0] = tables[1, 0, 1] = np.inf  # (a, b) = (0, 0) and (0, 1)
    tables[:, :, :, 0] = np.inf  # c = d = 1
    scopes = [0, 1, 2, 0, 1, 3]
    problem = Problem([2] * 4, scopes, [0, 3, 6], tables.ravel(), [0, 8, 16])
    search = Dual().start(problem, seed=0, budget=Budget())
    assert search._base.num_variables == 1
    best, bound, status = run(search, problem)
    assert status is Status.OPTIMAL
    assert best == bound == exhaustive(problem)[0]


def test_a_clique_with_too_few_colours_is_infeasible() -> None:
    """Four variables that all differ with three values: the joint table has nothing left."""
    tables = np.random.default_rng(0).integers(0, 10, (6, 3, 3)).astype(float)
    tables[:, range(3), range(3)] = np.inf
    problem = complete(tables)
    assert run(Dual().start(problem, seed=0, budget=Budget()), problem)[2] is Status.INFEASIBLE


@pytest.mark.parametrize("result", [np.nan, np.inf, -np.inf])
def test_a_bound_that_is_not_finite_is_not_reported(result: float) -> None:
    """Whatever goes wrong with the messages, no number is made of it, and nothing is proved."""
    problem = complete(np.random.default_rng(0).integers(0, 10, (6, 3, 3)).astype(float))
    search = Dual(patience=5, largest_clique=2).start(problem, seed=0, budget=Budget())
    search._passes.run = lambda forward: result
    step = search.step()
    assert step.bound is None
    assert step.finished is Status.CONVERGED


def test_trees_are_tight() -> None:
    """On a tree the relaxation is exact: the optimum is found and proved."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 8
        parents = [int(rng.integers(0, i)) for i in range(1, n)]
        scopes = np.array([(p, i + 1) for i, p in enumerate(parents)])
        tables = rng.integers(0, 20, (n - 1, 9)).astype(float)
        tables[rng.random(tables.shape) < 0.1] = np.inf
        problem = Problem([3] * n, scopes.ravel(), np.arange(0, 2 * n, 2), tables.ravel(), np.arange(0, 9 * n, 9))
        best, bound, status = run(Dual().start(problem, seed=0, budget=Budget()), problem)
        assert status in (Status.OPTIMAL, Status.INFEASIBLE)
        optimum, _ = exhaustive(problem)
        assert (best == bound == optimum) if status is Status.OPTIMAL else optimum == np.inf


@pytest.mark.parametrize("joined", [False, True])
def test_a_saved_state_continues_bit_for_bit(joined: bool) -> None:
    """Stopped after some passes and resumed, the bound takes the same course, also after values were removed."""
    problem = crowded(13) if joined else drawn_problem(np.random.default_rng(3), dense=True, hard=0.0, integral=False)
    solver = Dual(tolerance=0.0, patience=10_000)
    first, second = (solver.start(problem, seed=0, budget=Budget()) for _ in range(2))
    if joined:
        assert first._tighten(3)
        assert len(first._steps) > len(first._base_steps)
    for _ in range(5):
        first._pass()  # a step's number of passes depends on the clock
    second.load_state_dict(first.state_dict())
    for _ in range(5):
        assert first._pass() == second._pass()
        for one in (first, second):
            one._certify()
        assert first.bound == second.bound > -np.inf
    assert (first._lifted() == second._lifted()).all()


@pytest.mark.parametrize("seed", range(8))
def test_more_passes_never_prove_less(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever passes happen to be in one block, also where factors are joined within it."""
    rng = np.random.default_rng(seed)
    problem = complete(rng.normal(size=(36, 3, 3)))
    bounds = {}
    for seconds in (0.0, 1e9):  # a block is a pass, or all of them
        monkeypatch.setattr("dabp.solvers.dual.message_passing.BLOCK_SECONDS", seconds)
        found = []
        for passes in (1, 5, 15, 40, 80, 120):
            search = Dual().start(problem, seed=0, budget=Budget(max_iterations=passes))
            count, status, bound = 0, None, -np.inf
            while status is None and count < passes:
                step = search.step()
                count += len(step.costs)
                status, bound = step.finished, step.bound
            found.append((count, status, bound))
        assert all(a[2] <= b[2] for a, b in itertools.pairwise(found))
        bounds[seconds] = found
    assert [one[:2] for one in bounds[0.0]] == [one[:2] for one in bounds[1e9]]
    for one, other in zip(bounds[0.0], bounds[1e9], strict=True):
        assert one[2] == pytest.approx(other[2], rel=1e-9)


def test_parameters_are_checked() -> None:
    """Nonsense is refused when the solver is made."""
    with pytest.raises(ParameterError):
        Dual(tolerance=-1.0)
    with pytest.raises(ParameterError):
        Dual(patience=0)

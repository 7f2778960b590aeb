"""`auto`: right answers and proofs, the same result for the same seed, odd problems, and a bandit that learns."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.driver.checkpoint import schedule
from dabp.driver.stopping import Progress
from dabp.errors import ParameterError
from dabp.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.dual import solver as dual
from dabp.solvers.portfolio import Portfolio
from dabp.solvers.portfolio.bandit import Bandit
from dabp.solvers.portfolio.incumbent import Incumbent
from dabp.solvers.portfolio.kinds import kinds_for
from dabp.solvers.portfolio.narrow import exact_search
from dabp.solvers.portfolio.search import PortfolioSearch
from dabp.solvers.status import Status
from tests.problems import drawn_problem, exhaustive

QUICK_MEMBERS = "forest-lns,dual"


def cliques(count: int, size: int, domain: int, seed: int = 0) -> Problem:
    """Separate cliques with random costs."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(size), 2)))
    scopes = (np.arange(count)[:, None, None] * size + pairs).reshape(-1, 2)
    cells = domain * domain
    return Problem(
        np.full(count * size, domain),
        scopes.ravel(),
        np.arange(0, 2 * len(scopes) + 1, 2),
        rng.integers(0, 100, len(scopes) * cells).astype(float),
        np.arange(0, cells * len(scopes) + 1, cells),
    )


def beside(first: Problem, second: Problem, constant: float = 0.0) -> Problem:
    """Two problems as one that has them as components; each factor with a table of its own."""
    return Problem(
        np.concatenate([first.domain_sizes, second.domain_sizes]),
        np.concatenate([first.scope_variables, second.scope_variables + first.num_variables]),
        np.concatenate([first.scope_offsets, first.scope_offsets[-1] + second.scope_offsets[1:]]),
        np.concatenate([first.pool, second.pool]),
        np.concatenate([first.pool_offsets, first.pool_offsets[-1] + second.pool_offsets[1:]]),
        constant=constant,
    )


def test_small_problems_are_solved_and_proved() -> None:
    """Every small problem ends by itself with its optimum, or with the proof that there is none."""
    for seed in range(120):
        problem = drawn_problem(np.random.default_rng(seed), integral=seed % 2 == 0, dense=seed % 3 > 0)
        optimum, _ = exhaustive(problem)
        result = dabp.solve(problem, "auto", time_limit=20)
        if optimum == np.inf:
            assert result.status is Status.INFEASIBLE
        else:
            assert result.status is Status.OPTIMAL
            assert result.cost == pytest.approx(optimum)


@pytest.mark.parametrize(
    "problem",
    [Problem([]), Problem([], constant=2.0), Problem([3]), Problem([1, 1]), Problem([4, 2]), Problem([2] * 50)],
)
def test_odd_problems(problem: Problem) -> None:
    """No variables, one variable, no factors, domains of one value."""
    result = dabp.solve(problem, "auto", time_limit=5)
    assert result.status is Status.OPTIMAL
    assert result.cost == problem.constant


def test_many_components_are_solved_apart() -> None:
    """Two thousand cliques are eliminated, however many assignments they have together."""
    problem = cliques(2000, 4, 3)
    result = dabp.solve(problem, "auto", time_limit=20)
    assert result.status is Status.OPTIMAL
    for first in range(0, 40, 4):
        rows = np.array(list(itertools.product(range(3), repeat=4)))
        whole = np.tile(result.assignment, (len(rows), 1))
        whole[:, first : first + 4] = rows
        assert problem.cost(whole).min() == result.cost


def test_narrow_components_beside_a_wide_one() -> None:
    """What elimination solves and what is searched are put together into one assignment at the right cost."""
    wide = cliques(1, 30, 6)
    narrow = cliques(3, 5, 3, seed=1)
    whole = beside(narrow, wide, constant=5.0)
    solver = Portfolio(members=QUICK_MEMBERS, prove=False)
    result = dabp.solve(whole, solver, time_limit=1.0, presolve=False)
    best = dabp.solve(narrow, "auto", time_limit=5)
    assert result.cost == whole.cost(result.assignment)
    assert narrow.cost(result.assignment[: narrow.num_variables]) == best.cost
    assert any("elimination" in note for note in result.notes)


def test_same_seed_same_result_when_limited_by_iterations() -> None:
    """Members take turns, and no clock decides anything."""
    problem = cliques(1, 16, 4)
    results = [dabp.solve(problem, "auto", max_iterations=700, seed=5) for _ in range(2)]
    assert results[0].cost == results[1].cost
    assert (results[0].assignment == results[1].assignment).all()
    assert np.array_equal(results[0].trace.iteration_costs, results[1].trace.iteration_costs)
    assert results[0].iterations == 700


@pytest.mark.parametrize("components", [1, 2])
def test_turns_resume_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, components: int) -> None:
    """Limited by iterations, a run that is stopped and resumed again and again equals the undisturbed one."""
    monkeypatch.setattr(schedule, "CAPTURE_SECONDS", 0.0)
    problem = cliques(1, 30, 6)
    if components == 2:  # the smaller one is eliminated first
        problem = beside(cliques(1, 5, 3, seed=1), problem)
    limits: dict[str, Any] = {"max_iterations": 4000, "seed": 3, "presolve": False}
    whole = dabp.solve(problem, "auto", **limits)
    path = tmp_path / "c"

    def stopping_after(blocks: int) -> Callable[[Progress], bool]:
        left = itertools.count(blocks, -1)
        return lambda progress: next(left) == 0

    for run in range(3):
        stops = [stopping_after(12)] if run < 2 else []
        part = dabp.solve(problem, "auto", checkpoint=path, resume=run > 0, callbacks=stops, **limits)
    assert np.array_equal(part.trace.iteration_costs, whole.trace.iteration_costs)
    assert [row[1:] for row in part.trace.improvements] == [row[1:] for row in whole.trace.improvements]
    assert part.bound == whole.bound
    assert np.array_equal(part.assignment, whole.assignment)


def test_a_resumed_portfolio_starts_from_what_was_known(tmp_path: Path) -> None:
    """Limited by time, neither the answer nor the bound is lost, and the members have the answer to work on."""
    problem = generate("random-cop", variables=60, domain=10, density=0.25, seed=1)
    path = tmp_path / "c"
    first = dabp.solve(problem, "auto", time_limit=2.0, checkpoint=path)
    seen: list[float | None] = []
    second = dabp.solve(
        problem,
        "auto",
        time_limit=1.0,
        checkpoint=path,
        resume=True,
        callbacks=[lambda progress: seen.append(progress.cost)],
    )
    assert first.cost is not None
    assert first.bound is not None
    assert seen[0] is not None
    assert seen[0] <= first.cost
    assert second.bound is not None
    assert second.bound >= first.bound
    assert second.runtime > first.runtime
    search = PortfolioSearch(problem, [], seed=0, budget=Budget(), initial=None, horizon=1.0, prove=False)
    search.load_state_dict({"assignment": first.assignment, "bound": first.bound, "bound_by": "dual", "finds": []})
    step = search.step()
    search.close()
    assert step.best_cost == first.cost
    assert step.bound == first.bound


@pytest.mark.parametrize("threads", [1, 2])
def test_toulbar2_proves_beside_the_members(threads: int) -> None:
    """A problem too wide for elimination ends with a proof, also when everything shares one core."""
    problem = cliques(1, 12, 4)
    search = PortfolioSearch(
        problem,
        kinds_for(problem, 30.0, names=frozenset(QUICK_MEMBERS.split(","))),
        seed=0,
        budget=Budget(threads=threads),
        initial=None,
        horizon=30.0,
        prove=True,
    )
    cost, status = np.inf, None
    try:
        while status is None:
            step = search.step()
            cost, status = min(cost, step.best_cost), step.finished
    finally:
        search.close()
    assert status is Status.OPTIMAL
    assert cost == dabp.solve(problem, "toulbar2").cost
    assert any("proved" in line for line in search.summary())


def test_answers_come_with_notes_records_and_a_bound() -> None:
    """What was done is told: who found it, whose bound it is, and members live in the records."""
    problem = generate("random-cop", variables=40, domain=10, density=0.3, seed=1)
    result = dabp.solve(problem, Portfolio(members=QUICK_MEMBERS, prove=False), time_limit=1.0, threads=2)
    assert result.bound is not None
    assert result.bound <= result.cost
    assert any("found the answer" in note for note in result.notes)
    assert {record["member"] for record in result.trace.records} <= set(QUICK_MEMBERS.split(","))


def test_the_incumbent_takes_the_better_part_of_each_candidate() -> None:
    """Two candidates, each good on another component, make a better one together."""
    problem = cliques(2, 3, 2)
    rows = np.array(list(itertools.product(range(2), repeat=6)))
    costs = problem.cost(rows)
    best = rows[costs.argmin()]
    incumbent = Incumbent(problem)
    incumbent.offer(np.concatenate([best[:3], rows[costs.argmax()][3:]]), "a", 0.0)
    incumbent.offer(np.concatenate([rows[costs.argmax()][:3], best[3:]]), "b", 0.0)
    assert incumbent.cost == costs.min()


def test_the_bandit_follows_gains_and_comes_back() -> None:
    """Who improves gets most of the time, and the others are still tried."""
    bandit = Bandit([1.0] * 3, [False] * 3, [False] * 3, memory=5.0)
    chosen = np.zeros(3)
    for _ in range(300):
        index = bandit.choose(range(3), 100.0, 0.0)
        assert index is not None
        chosen[index] += 1
        bandit.reward(index, 0.1, 1.0 if index == 1 else 0.0, 100.0 if index == 1 else 120.0)
    assert chosen[1] > 150
    assert chosen.min() > 5


def test_parameters_are_checked() -> None:
    """A member that does not exist is refused with a suggestion."""
    with pytest.raises(ParameterError, match="tabu"):
        Portfolio(members="tabbu")


def test_a_proof_never_comes_with_an_older_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a member finds and proves the optimum while a step is being told, the proof waits for the next step."""
    problem = cliques(1, 6, 3)
    optimum, best = exhaustive(problem)
    search = PortfolioSearch(problem, [], seed=0, budget=Budget(), initial=None, horizon=1.0, prove=False)
    incumbent = search._incumbent
    told = incumbent.best

    def told_then_proved() -> Any:
        before = told()
        incumbent.offer(best, "a member", 0.0)
        incumbent.raise_bound(optimum, "a member")
        return before

    monkeypatch.setattr(incumbent, "best", told_then_proved)
    steps = [search.step(), search.step()]
    search.close()
    assert steps[0].finished is not Status.OPTIMAL or steps[0].best_cost == optimum
    assert steps[1].finished is Status.OPTIMAL
    assert steps[1].best_cost == optimum


def test_a_member_that_breaks_costs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in one member is told, and the others answer."""

    def broken(self: Any) -> Any:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(dual.DualSearch, "step", broken)
    with pytest.warns(UserWarning, match="dual failed"):
        result = dabp.solve(
            cliques(1, 30, 6), "auto", params={"prove": False}, time_limit=0.7, threads=2, presolve=False
        )
    assert result.cost is not None
    assert any("dual gave up: ZeroDivisionError" in note for note in result.notes)


def test_without_an_answer_time_goes_to_the_search_for_one() -> None:
    """No incumbent is no small gap, and no bound no proof at hand."""
    bandit = Bandit([1.0, 1.0], [False, True], [False, True], 1.0)
    for index in (0, 1):
        bandit.reward(index, 0.1, 0.0, np.inf)
    for cost, bound in ((np.inf, -np.inf), (np.inf, 3.0), (5.0, -np.inf)):
        searching, bounding = bandit.weights(cost, bound)
        assert bounding < 20 * searching


@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 1e9])
def test_proofs_hold_whatever_the_unit(scale: float) -> None:
    """Costs in another unit: the same optimum is found and proved, by the portfolio and by toulbar2."""
    whole = cliques(1, 9, 4, seed=3)
    optimum, _ = exhaustive(whole)
    problem = whole.replace(pool=whole.pool * scale)
    for solver in ("auto", "toulbar2"):
        result = dabp.solve(problem, solver, time_limit=20, presolve=False)
        assert result.status is Status.OPTIMAL
        assert result.cost == pytest.approx(optimum * scale, rel=1e-6, abs=0)
        assert result.bound == pytest.approx(optimum * scale, rel=1e-6, abs=0)


def test_large_costs_that_cancel_are_no_contradiction() -> None:
    """Presolve adds up in another order; what that changes in the last places is not called a wrong bound."""
    rng = np.random.default_rng(0)
    for size in (1e10, 1e13):
        problem = cliques(1, 6, 2)
        shifts = np.repeat(np.where(np.arange(problem.num_factors) % 2 == 0, size, -size), 4)[: len(problem.pool)]
        problem = problem.replace(pool=rng.random(len(problem.pool)) + shifts, constant=-shifts[::4].sum())
        result = dabp.solve(problem, "auto", time_limit=10)
        assert result.status is Status.OPTIMAL
        assert result.cost == problem.cost(result.assignment)


@pytest.mark.parametrize("first", [{"time_limit": 0.3}, {"max_iterations": 2000, "time_limit": 70.0}])
def test_a_checkpoint_serves_a_solve_with_other_limits(tmp_path: Path, first: dict[str, Any]) -> None:
    """What was known is taken up, whatever limits and members there are now."""
    problem, path = cliques(1, 30, 6), tmp_path / "c"
    before = dabp.solve(problem, "auto", checkpoint=path, presolve=False, **first)
    for limits in ({"max_iterations": 1500}, {"time_limit": 0.3}):
        after = dabp.solve(problem, "auto", checkpoint=path, resume=True, presolve=False, **limits)
        assert before.cost is not None
        assert after.cost is not None
        assert after.cost <= before.cost


def test_a_long_elimination_is_left_to_the_search() -> None:
    """Messages that fit the memory can still take long to compute; then members search instead."""
    band = [(i, j) for i in range(40) for j in range(i + 1, min(i + 4, 40))]
    scopes = np.array(band)
    domain, cells = 40, 1600
    problem = Problem(
        np.full(40, domain),
        scopes.ravel(),
        np.arange(0, 2 * len(band) + 1, 2),
        np.random.default_rng(0).integers(0, 100, len(band) * cells).astype(float),
        np.arange(0, cells * len(band) + 1, cells),
    )
    assert exact_search(problem) is not None
    assert exact_search(problem, 1e7) is None
    result = dabp.solve(problem, "auto", time_limit=0.3)
    assert result.cost is not None
    assert result.runtime < 3.0


@pytest.mark.parametrize("narrow", [False, True])
def test_a_turn_that_is_stopped_tells_what_it_has_found(narrow: bool) -> None:
    """Stopped after any step, a run that is limited by iterations has the best of its trace to show."""
    problem = generate("random-cop", variables=60, seed=0)
    if narrow:  # a component of one more variable, which is eliminated first
        problem = problem.replace(
            domain_sizes=[*problem.domain_sizes, 2],
            scope_variables=[*problem.scope_variables, 60],
            scope_offsets=[*problem.scope_offsets, len(problem.scope_variables) + 1],
            pool=[*problem.pool, 7.0, 5.0],
            pool_offsets=[*problem.pool_offsets, len(problem.pool) + 2],
            factor_table=[*problem.factor_table, problem.num_factors],
            variable_names=None,
            factor_names=None,
        )
    for steps in (1, 2, 5):
        told = itertools.count(1)
        stop = [lambda p: p.iterations > 0 and next(told) >= steps]  # noqa: B023
        result = dabp.solve(problem, "auto", max_iterations=100_000, callbacks=stop, presolve=False)
        assert result.status is Status.INTERRUPTED
        assert result.cost == result.trace.iteration_costs.min()
        assert any("found the answer" in note for note in result.notes)


def test_members_that_suit_nothing_are_refused() -> None:
    """Members are for problems of some size; if none is left, that is said."""
    problem = generate("random-cop", variables=30, seed=0)
    with pytest.raises(ParameterError, match="none of the members 'bp-reinforced 2' suits"):
        dabp.solve(problem, "auto", max_iterations=100, params={"members": "bp-reinforced 2"})


def test_a_contradiction_without_variables_is_seen_without_presolve() -> None:
    """A factor that forbids everything proves infeasibility, beside narrow and wide components."""
    wide = generate("random-cop", variables=40, seed=0)
    count = wide.num_factors
    problem = wide.replace(
        domain_sizes=[*wide.domain_sizes, 2],
        scope_variables=[*wide.scope_variables, 40],
        scope_offsets=[0, *wide.scope_offsets, wide.scope_offsets[-1] + 1],
        pool=[*wide.pool, np.inf, 1.0, 2.0],
        pool_offsets=[*wide.pool_offsets, wide.pool_offsets[-1] + 1, wide.pool_offsets[-1] + 3],
        factor_table=[count, *wide.factor_table, count + 1],
        variable_names=None,
        factor_names=None,
    )
    for presolve in (False, True):
        assert dabp.solve(problem, "auto", time_limit=5, presolve=presolve).status is Status.INFEASIBLE


def test_a_checkpoint_of_another_kind_of_search_is_no_trouble(tmp_path: Path) -> None:
    """How much time there is decides whether a narrow problem is eliminated; a resumed one may go another way."""
    problem, path = generate("random-cop", variables=14, domain=5, density=0.6, seed=0), tmp_path / "c"
    stop: list[Callable[[Progress], object]] = [lambda progress: True]
    quick: dict[str, Any] = {"params": {"prove": False}, "checkpoint": path}
    dabp.solve(problem, "auto", time_limit=10, callbacks=stop, **quick)
    assert dabp.solve(problem, "auto", time_limit=0.02, resume=True, **quick).cost is not None
    assert dabp.solve(problem, "auto", time_limit=10, resume=True, **quick).status is Status.OPTIMAL


def test_turns_can_be_stopped_in_the_midst() -> None:
    """A turn may be long; the time limit and callbacks do not wait for its end."""
    problem = cliques(1, 60, 10)
    lengths: list[int] = []
    result = dabp.solve(
        problem,
        "auto",
        max_iterations=10**9,
        time_limit=0.5,
        presolve=False,
        callbacks=[lambda progress: lengths.append(progress.iterations)],
    )
    assert result.status is Status.LIMIT
    assert len(lengths) > len(result.trace.records)

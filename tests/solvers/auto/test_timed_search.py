"""Limited by time: proofs beside the members, notes, resuming, members that break."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.lab.generators import generate
from dabp.problem.columns import cheapest_values
from dabp.solvers.auto import Auto
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.kinds import LineUp, line_up
from dabp.solvers.auto.timed_search import TimedSearch
from dabp.solvers.base import Budget
from dabp.solvers.dual.message_passing import DualSearch
from dabp.solvers.local_search.icm import IcmSearch
from dabp.solvers.status import Status
from tests.problems import exhaustive
from tests.solvers.auto.shapes import QUICK_MEMBERS, cliques


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
    search = TimedSearch(problem, LineUp([], []), seed=0, budget=Budget(), initial=None, horizon=1.0, prove=False)
    search.load_state_dict({"assignment": first.assignment, "bound": first.bound, "bound_by": "dual", "finds": []})
    step = search.step()
    search.close()
    assert step.best_cost == first.cost
    assert step.bound == first.bound


@pytest.mark.parametrize("threads", [1, 2])
def test_toulbar2_proves_beside_the_members(threads: int) -> None:
    """A problem too wide for elimination ends with a proof, also when everything shares one core."""
    problem = cliques(1, 12, 4)
    search = TimedSearch(
        problem,
        line_up(features_of(problem), 30.0, names=frozenset(QUICK_MEMBERS.split(","))),
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
    result = dabp.solve(problem, Auto(members=QUICK_MEMBERS, prove=False), time_limit=1.0, threads=2)
    assert result.bound is not None
    assert result.bound <= result.cost
    assert any("found the answer" in note for note in result.notes)
    assert {record["member"] for record in result.trace.records} <= set(QUICK_MEMBERS.split(","))


def test_a_proof_never_comes_with_an_older_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a member finds and proves the optimum while a step is being told, the proof waits for the next step."""
    problem = cliques(1, 6, 3)
    optimum, best = exhaustive(problem)
    search = TimedSearch(problem, LineUp([], []), seed=0, budget=Budget(), initial=None, horizon=1.0, prove=False)
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

    monkeypatch.setattr(DualSearch, "step", broken)
    with pytest.warns(UserWarning, match="dual failed"):
        result = dabp.solve(
            cliques(1, 30, 6),
            "auto",
            params={"prove": False, "members": "tabu,dual"},
            time_limit=0.7,
            threads=2,
            presolve=False,
        )
    assert result.cost is not None
    assert any("dual gave up: ZeroDivisionError" in note for note in result.notes)


def test_what_was_found_since_the_last_step_is_not_lost() -> None:
    """Ended between two steps, the search still has its best answer to give."""
    problem = cliques(1, 6, 3)
    _, best = exhaustive(problem)
    search = TimedSearch(
        problem, LineUp([], []), seed=0, budget=Budget(), initial=np.zeros(6, dtype=np.int64), horizon=1.0, prove=False
    )
    search.step()
    assert search.pending() is None
    search._incumbent.offer(best, "a member", 0.0)
    found = search.pending()
    search.close()
    assert found is not None
    assert found.tolist() == best.tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_descent_begins_before_the_others_are_prepared(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where that would take a while; the others take part afterwards, and it ends when they are set up."""
    monkeypatch.setattr("dabp.solvers.auto.solver.prepared_beside", lambda problem, horizon: True)
    problem = generate("random-cop", variables=120, domain=5, density=0.1, seed=1)
    answer = dabp.solve(problem, "auto", time_limit=2.0, threads=threads, presolve=False)
    guess = problem.cost(cheapest_values(problem))
    assert "descent began at once; the others were prepared beside it" in answer.notes
    assert answer.cost is not None
    assert answer.cost < guess
    assert {record["member"] for record in answer.trace.records} > {"descent"}


def test_what_descent_has_not_told_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that is stopped gives it, and it costs no more than the start."""
    problem = generate("random-cop", variables=120, domain=5, density=0.1, seed=1)
    search = IcmSearch(problem, cheapest_values(problem))
    assert search.pending() is None
    monkeypatch.setattr(search, "_pricing_seconds", 1e9)
    monkeypatch.setattr(search._descent, "chunk", 7)
    monkeypatch.setattr("dabp.solvers.local_search.icm.BLOCK_SECONDS", 0.0)
    search.step()
    pending = search.pending()
    assert pending is not None
    assert problem.cost(pending) <= problem.cost(cheapest_values(problem))

"""Limited by time: proofs beside the members, notes, resuming, members that break."""

from __future__ import annotations

import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.lab.generators import generate
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.solvers import make_solver
from dabp.solvers.auto import Auto
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.line_up import Place, line_up
from dabp.solvers.auto.member import Run, Situation
from dabp.solvers.auto.timed_search import TimedSearch
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.dual.message_passing import DualSearch
from dabp.solvers.local_search.icm import IcmSearch
from dabp.solvers.status import Status
from tests.problems import exhaustive
from tests.solvers.auto.shapes import QUICK_MEMBERS, cliques, line_of, placed


def timed(problem: Problem, *places: Place, threads: int = 1, horizon: float = 60.0, **more: Any) -> TimedSearch:
    """A search by these members without toulbar2."""
    options = {"initial": None, "prove": False, **more}
    budget = Budget(threads=threads)
    return TimedSearch(problem, line_of(problem, *places), seed=0, budget=budget, horizon=horizon, **options)


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
    search = timed(problem, horizon=1.0)
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
        line_up(features_of(problem), 30.0, names=frozenset(QUICK_MEMBERS.split(",")), threads=threads),
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
    """Notes name the member that found the answer, the result has a bound, and records name their members."""
    problem = generate("random-cop", variables=40, domain=10, density=0.3, seed=1)
    result = dabp.solve(problem, Auto(members=QUICK_MEMBERS, prove=False), time_limit=1.0, threads=2)
    assert result.bound is not None
    assert result.bound <= result.cost
    assert any("found the answer" in note for note in result.notes)
    assert {record["member"] for record in result.trace.records} <= set(QUICK_MEMBERS.split(","))


def test_a_proof_never_comes_with_an_older_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a member finds and proves the optimum while a step is put together, the proof waits for the next step."""
    problem = cliques(1, 6, 3)
    optimum, best = exhaustive(problem)
    search = timed(problem, horizon=1.0)
    incumbent = search.incumbent
    given = incumbent.best

    def given_then_proved() -> Any:
        before = given()
        incumbent.offer(best, "a member", 0.0)
        incumbent.raise_bound(optimum, "a member")
        return before

    monkeypatch.setattr(incumbent, "best", given_then_proved)
    steps = [search.step(), search.step()]
    search.close()
    assert steps[0].finished is not Status.OPTIMAL or steps[0].best_cost == optimum
    assert steps[1].finished is Status.OPTIMAL
    assert steps[1].best_cost == optimum


def test_a_member_that_breaks_costs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in one member is noted, and the others answer."""

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
    search = timed(problem, initial=np.zeros(6, dtype=np.int64), horizon=1.0)
    search.step()
    assert search.pending() is None
    search.incumbent.offer(best, "a member", 0.0)
    found = search.pending()
    search.close()
    assert found is not None
    assert found.tolist() == best.tolist()


def test_what_icm_has_not_reported_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
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


# ---- threads --------------------------------------------------------------------------------------------------------


def broken(situation: Situation) -> Run:
    raise ZeroDivisionError("on purpose")


@pytest.mark.parametrize("threads", [1, 3])
def test_all_members_run_and_report(threads: int) -> None:
    """Members that end once and one that breaks: records of all, the right answer, and then the end."""
    problem = cliques(1, 9, 4)
    once = {name: (lambda _, name=name: Run(make_solver(name, PARAMETERS[name]), last=True)) for name in PARAMETERS}
    places = [placed("tabu", broken), *(placed(name, plan) for name, plan in once.items())]
    search, seen, status = timed(problem, *places, threads=threads), set(), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        while status is None:
            step = search.step()
            seen |= {record["member"] for record in step.records}
            status = step.finished
    search.close()
    assert ["tabu failed" in str(each.message) for each in caught] == [True]
    assert status is Status.CONVERGED
    assert seen == {"tabu", *PARAMETERS}


PARAMETERS: dict[str, dict[str, int]] = {"dual": {"patience": 5}, "icm": {}}
"""Members that end soon without a proof on a dense problem."""


def test_no_thread_works_while_none_is_active() -> None:
    """With no active thread no slice is run; with one again, it is."""
    search = timed(cliques(1, 9, 4), placed("tabu"))
    search.active = 0
    time.sleep(0.5)
    seconds = search.members[0].seconds
    time.sleep(0.3)
    assert search.members[0].seconds == seconds
    search.active = 1
    time.sleep(0.5)
    assert search.members[0].seconds > seconds
    search.close()


@pytest.mark.parametrize("waits", [False, True])
def test_a_member_that_starts_late_starts_at_once_if_nothing_else_can_run(waits: bool) -> None:
    """A thread is not idle for the sake of a delay, unless the member is to wait all the same."""
    problem = cliques(1, 9, 4)
    late = placed("icm", lambda _: Run(make_solver("icm"), last=True), delay=0.9, waits=waits)
    first = placed("dual", lambda _: Run(make_solver("dual", {"patience": 5}), last=True))
    search, order = timed(problem, late, first), list[str]()
    started = time.perf_counter()
    while len(set(order)) < (1 if waits else 2) and time.perf_counter() - started < 30.0:
        order += [record["member"] for record in search.step().records]
    if waits:
        time.sleep(0.3)
        order += [record["member"] for record in search.step().records]
    search.close()
    assert list(dict.fromkeys(order)) == (["dual"] if waits else ["dual", "icm"])


def test_a_member_that_opens_has_the_first_slices() -> None:
    """However small its weight is; when its run has ended the weights count."""
    opening = placed("dual", lambda _: Run(make_solver("dual", {"patience": 5})), weight=0.1, opens=True)
    search, order = timed(cliques(1, 9, 4), placed("tabu", weight=5.0), opening), list[str]()
    while "tabu" not in order:
        order += [record["member"] for record in search.step().records]
    search.close()
    assert order[0] == "dual"


class Slow(Search):
    """A search with one long step."""

    def __init__(self) -> None:
        self.began, self.closed = threading.Event(), threading.Event()

    def step(self) -> Step:
        """Take a second."""
        self.began.set()
        time.sleep(1.0)
        return Step()

    def close(self) -> None:
        """Remember it."""
        self.closed.set()


@dataclass(frozen=True, kw_only=True)
class SlowSolver(Solver):
    """Starts what it was given."""

    search: Slow

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """As it is."""
        return self.search


def test_the_end_does_not_wait_for_a_long_step() -> None:
    """Closing returns while a member is in the midst of a step; its own thread closes the member afterwards."""
    slow = Slow()
    search = timed(cliques(1, 9, 4), placed("icm", lambda _: Run(SlowSolver(search=slow))))
    assert slow.began.wait(30.0)
    search.close()
    assert not slow.closed.is_set()
    assert slow.closed.wait(30.0)

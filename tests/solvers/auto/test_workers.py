"""Threads that run members: who is done is known, who breaks is reported, and nothing goes on after the end."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from dabp.problem import Assignment, Problem
from dabp.solvers import make_solver
from dabp.solvers.auto.bandit import Bandit
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.member import Kind, Member, Run, Situation
from dabp.solvers.auto.workers import Workers
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.status import Status
from tests.problems import exhaustive
from tests.solvers.auto.shapes import cliques


def broken(situation: Situation) -> Run:
    raise ZeroDivisionError("on purpose")


@pytest.mark.parametrize("threads", [1, 3])
def test_all_members_run_and_report(threads: int) -> None:
    """Two members that end once and one that breaks: three reports, the right answer, and then idleness."""
    problem = cliques(1, 6, 3)
    incumbent = Incumbent(problem)
    plans = {"mbe": lambda _: Run(make_solver("mbe")), "dual": lambda _: Run(make_solver("dual")), "broken": broken}
    members = [Member(Kind(name, plan, once=True), problem, 0, i) for i, (name, plan) in enumerate(plans.items())]
    bandit = Bandit([1.0] * 3, [False] * 3, [False] * 3, 1.0)
    workers = Workers(members, bandit, incumbent, threads, time.perf_counter, 60.0)
    workers.start()
    reports = {}
    while len(reports) < 3 or not workers.idle:
        report = workers.reports.get(timeout=60.0)
        reports[report.member] = report
        if all(member.exhausted for member in members):
            break
    workers.close()
    while not workers.reports.empty():
        report = workers.reports.get()
        reports[report.member] = report
    assert reports["mbe"].finished is Status.OPTIMAL
    assert isinstance(reports["broken"].error, ZeroDivisionError)
    assert incumbent.cost == exhaustive(problem)[0]


def test_who_looks_first_has_one_slice_before_all_others() -> None:
    """However small its share is; after that the share counts."""
    problem = cliques(1, 6, 3)
    kinds = [Kind("tabu", lambda _: Run(make_solver("tabu")), prior=5.0)]
    kinds.append(Kind("dual", lambda _: Run(make_solver("dual", {"patience": 10**6})), prior=0.1, first=True))
    members = [Member(kind, problem, 0, i) for i, kind in enumerate(kinds)]
    bandit = Bandit([kind.prior for kind in kinds], [False] * 2, [False] * 2, 1.0, unit=0.01)
    workers = Workers(members, bandit, Incumbent(problem), 1, lambda: 0.0, 1.0)
    workers.start()
    order = [workers.reports.get(timeout=60.0).member for _ in range(5)]
    workers.close()
    assert order == ["dual", *["tabu"] * 4]


def test_nobody_works_while_none_is_active() -> None:
    """With no active thread no slice is run; with one again, it is."""
    problem = cliques(1, 6, 3)
    member = Member(Kind("mbe", lambda _: Run(make_solver("mbe")), once=True), problem, 0, 0)
    workers = Workers([member], Bandit([1.0], [False], [False], 1.0), Incumbent(problem), 1, time.perf_counter, 60.0)
    workers.active = 0
    workers.start()
    time.sleep(0.1)
    assert workers.reports.empty()
    workers.active = 1
    assert workers.reports.get(timeout=60.0).member == "mbe"
    workers.close()


def test_who_is_to_come_later_comes_at_once_if_nobody_else_has_anything_to_do() -> None:
    """A thread does not wait for the moment of a member while all others are done."""
    problem = cliques(1, 6, 3)
    plan = {name: (lambda _, name=name: Run(make_solver(name))) for name in ("mbe", "dual")}
    kinds = [Kind("dual", plan["dual"], once=True, delay=0.9, eager=True), Kind("mbe", plan["mbe"], once=True)]
    members = [Member(kind, problem, 0, number) for number, kind in enumerate(kinds)]
    bandit = Bandit([1.0] * 2, [False] * 2, [False] * 2, 1.0)
    workers = Workers(members, bandit, Incumbent(problem), 1, lambda: 0.0, 60.0)
    workers.start()
    order: list[str] = []
    while "dual" not in order:
        order.append(workers.reports.get(timeout=60.0).member)
    workers.close()
    assert order[0] == "mbe"


class Slow(Search):
    """A search with one long step."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def step(self) -> Step:
        """Take a second."""
        time.sleep(1.0)
        return Step()

    def close(self) -> None:
        """Tell."""
        self.closed.set()


@dataclass(frozen=True, kw_only=True)
class SlowSolver(Solver):
    """Starts what it was given."""

    search: Slow

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """As it is."""
        return self.search


def test_the_end_does_not_wait_for_a_long_step() -> None:
    """Closing returns while a member is in the midst of a step, which is ended by its own thread afterwards."""
    problem, search = cliques(1, 6, 3), Slow()
    member = Member(Kind("slow", lambda _: Run(SlowSolver(search=search))), problem, 0, 0)
    workers = Workers([member], Bandit([1.0], [False], [False], 1.0), Incumbent(problem), 1, time.perf_counter, 60.0)
    workers.start()
    while not workers._busy:
        time.sleep(0.01)
    workers.close()
    assert not search.closed.is_set()
    assert search.closed.wait(30.0)

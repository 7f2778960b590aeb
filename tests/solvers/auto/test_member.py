"""A member's slices: what they find and prove reaches the incumbent, runs follow each other, each with its own seed."""

from __future__ import annotations

import time

import numpy as np

from dabp.lab.generators import generate
from dabp.solvers import make_solver
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.member import Kind, Member, Run
from tests.problems import exhaustive
from tests.solvers.auto.shapes import cliques


def test_an_exact_member_ends_with_a_proof() -> None:
    """What a run that ends optimal has found is the incumbent, and the bound meets it."""
    problem = cliques(1, 6, 3)
    incumbent = Incumbent(problem)
    member = Member(Kind("mbe", lambda situation: Run(make_solver("mbe")), once=True), problem, 0, 0)
    while not member.exhausted:
        member.slice(1.0, incumbent, time.perf_counter, 1.0, lambda: False)
    assert incumbent.proved
    assert incumbent.cost == exhaustive(problem)[0]


def test_a_slice_stops_when_told() -> None:
    """Who is to stop does not begin another step."""
    problem = generate("random-cop", variables=20, seed=0)
    member = Member(Kind("tabu", lambda situation: Run(make_solver("tabu"))), problem, 0, 0)
    report = member.slice(60.0, Incumbent(problem), time.perf_counter, 60.0, lambda: True)
    member.close()
    assert report.costs == []


def test_runs_draw_from_seeds_of_their_own_and_resume_with_them() -> None:
    """No two runs draw the same, and a resumed member draws what the undisturbed one would."""

    def drawn(member: Member, rounds: int) -> list[float]:
        for _ in range(rounds):
            member.start(incumbent, 1.0)
            member.close()
        return draws[-rounds:]

    def plan(situation: object) -> Run:
        draws.append(float(situation.rng.random()))  # type: ignore[attr-defined]
        return Run(make_solver("mgm"))

    problem = cliques(1, 5, 3)
    incumbent, draws = Incumbent(problem), list[float]()
    whole = drawn(Member(Kind("mgm", plan), problem, 4, 1), 5)
    resumed = Member(Kind("mgm", plan), problem, 4, 1)
    resumed.resume(3, False)
    assert len(np.unique(whole)) == 5
    assert drawn(resumed, 2) == whole[3:]


def test_a_polishing_member_waits_for_a_better_incumbent() -> None:
    """After a run it has nothing to do until somebody finds something better."""
    problem = cliques(1, 6, 3)
    incumbent = Incumbent(problem)
    incumbent.offer(np.zeros(6, dtype=np.int64), "a", 0.0)
    member = Member(Kind("mbe", lambda situation: Run(make_solver("mbe")), polishing=True), problem, 0, 0)
    assert not member.waits(incumbent.cost)
    while not member.slice(1.0, incumbent, time.perf_counter, 1.0, lambda: False).ended:
        assert not member.waits(incumbent.cost)
    assert member.waits(incumbent.cost)
    assert not member.waits(incumbent.cost - 1.0)

"""A member's slices: what they find and prove reaches the incumbent; runs follow each other, each with its own seed."""

from __future__ import annotations

import time

import numpy as np

from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.line_up import Place, line_up
from dabp.solvers.auto.member import Run, Situation
from dabp.solvers.auto.running_member import Report, Slices
from tests.problems import exhaustive
from tests.solvers.auto.shapes import cliques, placed


def at_work(place: Place, problem: Problem, seed: int = 0, number: int = 0) -> Slices:
    """A member on a problem."""
    return Slices(place, problem, features_of(problem), seed, number, horizon=10.0)


def run(member: Slices, incumbent: Incumbent, seconds: float = 1.0) -> Report:
    """A slice of about these seconds, of which improvements are shared at once."""
    return member.slice(incumbent, lambda spent: spent > seconds, time_left=10.0, now=time.perf_counter)


def test_an_exact_member_ends_with_a_proof() -> None:
    """What a run that ends optimal has found is the incumbent, and the bound meets it."""
    problem = cliques(1, 6, 3)
    incumbent = Incumbent(problem)
    member = at_work(placed("mbe", lambda situation: Run(make_solver("mbe"), last=True)), problem)
    while not member.exhausted:
        run(member, incumbent)
    assert incumbent.proved
    assert incumbent.cost == exhaustive(problem)[0]


def test_a_slice_that_is_over_takes_no_step() -> None:
    """A thread that is to stop does not begin another step."""
    problem = generate("random-cop", variables=20, seed=0)
    member = at_work(placed("tabu"), problem)
    report = member.slice(Incumbent(problem), lambda spent: True, now=time.perf_counter)
    member.close()
    assert report.costs == []


def test_runs_draw_from_seeds_of_their_own_and_resume_with_them() -> None:
    """Each run has another stream; after a resume the next run is the one that would have followed."""

    def drawn(member: Slices, count: int) -> list[float]:
        first = len(draws)
        for _ in range(count):
            member.start(incumbent, 1.0)
            member.close()
        return draws[first:]

    def plan(situation: Situation) -> Run:
        draws.append(float(situation.rng.random()))
        return Run(make_solver("mgm"))

    problem = cliques(1, 5, 3)
    incumbent, draws = Incumbent(problem), list[float]()
    whole = drawn(at_work(placed("mgm", plan), problem, 4, 1), 5)
    resumed = at_work(placed("mgm", plan), problem, 4, 1)
    resumed.resume(3, False)
    assert len(np.unique(whole)) == 5
    assert drawn(resumed, 2) == whole[3:]


def test_a_polishing_member_waits_for_a_better_incumbent() -> None:
    """After a run it has nothing to do until there is something better."""
    problem = cliques(1, 6, 3)
    incumbent = Incumbent(problem)
    incumbent.offer(np.zeros(6, dtype=np.int64), "a", 0.0)
    member = at_work(placed("mbe", polishing=True), problem)
    assert not member.waits(incumbent.cost)
    while not run(member, incumbent).ended:
        assert not member.waits(incumbent.cost)
    assert member.waits(incumbent.cost)
    assert not member.waits(incumbent.cost - 1.0)


def test_soft_runs_are_judged_when_they_have_frozen() -> None:
    """Learned BP restarts by itself and is not ended for finding nothing new; a slice reports the end of a run."""
    problem = generate("random-cop", variables=160, density=0.05, seed=0)
    (place,) = line_up(features_of(problem), 10.0, names=frozenset({"bp-learned"}), threads=1).places
    incumbent, member = Incumbent(problem), at_work(place, problem)
    ended = list[bool]()
    while len(ended) < 4000 and not (any(ended) and not all(ended)):
        report = run(member, incumbent, 0.0)
        assert report.finished is None
        ended.append(report.ended)
    member.close()
    assert any(ended)
    assert not all(ended)


def test_a_run_that_has_frozen_near_the_incumbent_is_ended() -> None:
    """A patient member begins another run when it finds nothing better for half a second and half of its time."""
    problem = cliques(1, 6, 3)
    place = placed("tabu", lambda situation: Run(make_solver("tabu"), situation.best), patient=True)
    incumbent, member = Incumbent(problem), at_work(place, problem)
    incumbent.offer(exhaustive(problem)[1], "a", 0.0)
    started = time.perf_counter()
    while not run(member, incumbent, 0.1).ended and time.perf_counter() - started < 60.0:
        pass
    assert member.rounds == 1
    assert run(member, incumbent, 0.0).costs, "each slice has a step, however long the start of a run takes"
    assert member.rounds == 2
    member.close()

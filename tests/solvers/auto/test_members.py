"""The table of members: public solvers, with reasons, that each take part somewhere, and how they plan their runs."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers import SOLVERS
from dabp.solvers.auto.features import KINDS, features_of
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.line_up import line_up, setup_seconds
from dabp.solvers.auto.member import Ended, Member, Situation
from dabp.solvers.auto.members import MBE, MEMBERS, RENAMED, first_rate, iteration_seconds
from dabp.solvers.belief_propagation.bp import BeliefPropagation
from tests.solvers.auto.shapes import cliques, from_pairs


def member(name: str) -> Member:
    """The line of the table."""
    return next(each for each in MEMBERS if each.solver == name)


def situation(problem: Problem, kind: str = "small", **more: object) -> Situation:
    """At the beginning of a solve of 10 s."""
    known = {"horizon": 10.0, "time_left": 9.0, **more}
    return Situation(kind, features_of(problem), Incumbent(problem), np.random.default_rng(0), **known)  # type: ignore[arg-type]


def test_members_are_public_solvers() -> None:
    """Each once, by a name that a user can call, with weights for known kinds of problem and a reason in words."""
    names = [each.solver for each in (*MEMBERS, MBE)]
    assert len(set(names)) == len(names)
    assert set(names) | set(RENAMED.values()) <= set(SOLVERS)
    assert not set(RENAMED) & set(names)
    for each in MEMBERS:
        assert each.weights.keys() | each.delay.keys() <= set(KINDS)
        assert each.when


def test_every_member_takes_part_somewhere() -> None:
    """Each member is in the line-up of some problem, so that none is there in vain."""
    rng = np.random.default_rng(0)
    image = from_pairs(25, 4, lambda: rng.integers(1, 9) * (1.0 - np.eye(4)))
    binary = from_pairs(25, 2, lambda: rng.choice([-1.0, 1.0]) * np.eye(2))
    colouring = from_pairs(15, 4, lambda: rng.integers(1, 9) * np.eye(4))
    crisp = from_pairs(5, 2, lambda: np.array([[0.0, np.inf], [np.inf, 0.0]]))
    different = np.where(np.eye(6) > 0, np.inf, np.arange(6.0))
    permutation = Problem.from_tables([6] * 6, [((i, j), different) for i in range(6) for j in range(i)])
    problems = (cliques(1, 8, 3), Problem([3] * 300), Problem([3] * 1000), image, binary, colouring, crisp, permutation)
    taking_part = {
        place.member.solver
        for problem in problems
        for seconds in (1e-6, 1.0, 100.0)
        for place in line_up(features_of(problem), seconds, threads=2).places
    }
    assert taking_part == {each.solver for each in MEMBERS}


def test_starting_takes_longer_the_larger_the_problem() -> None:
    """What a start costs grows with the edges, and no member is left out of a small problem for it."""
    small, larger = (features_of(from_pairs(side, 3, lambda: np.eye(3))) for side in (5, 20))
    for each in MEMBERS:
        assert 0.0 <= setup_seconds(each, small) <= setup_seconds(each, larger) < 0.1


def test_a_first_run_of_messages_ends_in_time() -> None:
    """The larger the problem and the less the time, the faster the first run freezes; never slower than a short one."""
    small, large = features_of(from_pairs(10, 4, lambda: np.eye(4))), features_of(from_pairs(40, 4, lambda: np.eye(4)))
    assert first_rate(small, 10.0) == first_rate(large, 10.0) == 1e-3
    rates = [first_rate(large, horizon) for horizon in (0.1, 0.01, 0.001)]
    assert rates == sorted(rates)
    assert 1e-3 < rates[1] < 1.0
    for horizon in (0.01, 0.02):
        assert iteration_seconds(large) / first_rate(large, horizon) <= horizon


def test_reinforced_runs_slow_down_as_time_allows() -> None:
    """On a large problem later runs take a rate that fills the time left, given how long the run before took."""
    large, ended, rates = Problem([3] * 1000), list[Ended](), []
    for left, last in [(100.0, 1.0), (90.0, 12.0), (80.0, 60.0), (20.0, 0.0)]:
        now = situation(large, "large", time_left=left, horizon=100.0, ended=tuple(ended))
        solver = member("bp-reinforced").plan(now).solver
        assert isinstance(solver, BeliefPropagation)
        rates.append(solver.reinforcement)
        ended.append(Ended(solver, last))
    assert rates[1] == pytest.approx(rates[0] * 1.0 / (0.5 * 90.0))
    assert rates[2] == pytest.approx(max(1e-5, rates[1] * 12.0 / (0.75 * 80.0)))
    assert rates[3] == pytest.approx(min(1e-3, rates[2] * 60.0 / (0.75 * 20.0)))


def test_later_runs_start_from_the_incumbent() -> None:
    """Local searches begin afresh once, then from the best answer; forests around it from the first time on."""
    problem = cliques(1, 6, 3)
    for name, ended in (("tabu", 1), ("annealing", 1), ("neighbourhood", 0)):
        first = situation(problem)
        first.incumbent.offer(np.ones(6, dtype=np.int64), "a", 0.0)
        run = member(name).plan(first)
        assert (run.initial is None) == (ended == 1)
        later = situation(problem, ended=(Ended(run.solver, 1.0),))
        later.incumbent.offer(np.ones(6, dtype=np.int64), "a", 0.0)
        start = member(name).plan(later).initial
        assert start is not None
        assert start.tolist() == [1] * 6


def test_reinforced_runs_plan_by_iterations_where_these_are_the_limit() -> None:
    """Without a clock the solver fits the rate of later runs to the length of the turn."""
    large = generate("random-cop", variables=700, density=0.01, seed=0)
    first = member("bp-reinforced").plan(situation(large, "large", time_left=np.inf)).solver
    again = situation(large, "large", time_left=np.inf, ended=(Ended(first, 0.1),))
    solver = member("bp-reinforced").plan(again).solver
    assert isinstance(solver, BeliefPropagation)
    assert solver.reinforcement == 1e-4

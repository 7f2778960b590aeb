"""Who takes part, and how its runs follow from what is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.generators import generate
from dabp.problem import Problem
from dabp.solvers.belief_propagation.solver import BeliefPropagation
from dabp.solvers.portfolio.features import features_of
from dabp.solvers.portfolio.incumbent import Incumbent
from dabp.solvers.portfolio.kinds import line_up
from dabp.solvers.portfolio.member import Situation
from tests.solvers.portfolio.shapes import cliques, from_pairs


def test_members_that_suit_nothing_are_refused() -> None:
    """Members are for problems of some size; if none is left, that is said."""
    problem = generate("random-cop", variables=30, seed=0)
    with pytest.raises(ParameterError, match="none of the members 'bp-reinforced 2' suits"):
        dabp.solve(problem, "auto", max_iterations=100, params={"members": "bp-reinforced 2"})


def test_members_follow_size_time_and_choice() -> None:
    """DABP only with a minute or when asked for; a second run of reinforced BP only on large problems."""
    small, large = cliques(1, 8, 3), Problem([3] * 1000)
    assert "dabp" not in {kind.name for kind in line_up(features_of(small), 10.0).kinds}
    assert "dabp" in {kind.name for kind in line_up(features_of(small), 100.0).kinds}
    assert [kind.name for kind in line_up(features_of(small), 10.0, names=frozenset({"dabp"})).kinds] == ["dabp"]
    assert "bp-reinforced 2" not in {kind.name for kind in line_up(features_of(small), 10.0).kinds}
    assert "bp-reinforced 2" in {kind.name for kind in line_up(features_of(large), 10.0).kinds}


def test_reinforced_runs_slow_down_as_time_allows() -> None:
    """On a large problem later runs take a rate that fills the time left, given how long the run before took."""
    large = Problem([3] * 1000)
    second = next(kind for kind in line_up(features_of(large), 100.0).kinds if kind.name == "bp-reinforced 2")
    incumbent, rates = Incumbent(large), []
    for number, (left, last) in enumerate([(100.0, 0.0), (90.0, 1.0), (80.0, 12.0)]):
        solver = second.plan(Situation(number, np.random.default_rng(0), left, last, incumbent)).solver
        assert isinstance(solver, BeliefPropagation)
        rates.append(solver.reinforcement)
    assert rates[0] > rates[1] > rates[2]
    assert rates[1] == pytest.approx(rates[0] * 1.0 / (0.15 * 90.0))


def test_polishing_starts_from_the_incumbent() -> None:
    """Local searches begin afresh once, then from the best answer; forests around it from the first time on."""
    problem = cliques(1, 6, 3)
    incumbent = Incumbent(problem)
    incumbent.offer(np.ones(6, dtype=np.int64), "a", 0.0)
    kinds = {kind.name: kind for kind in line_up(features_of(problem), 10.0).kinds}

    def initial(name: str, number: int) -> np.ndarray | None:
        return kinds[name].plan(Situation(number, np.random.default_rng(0), 9.0, 1.0, incumbent)).initial

    assert initial("tabu", 0) is None
    for name, number in (("tabu", 1), ("annealing", 1), ("forest-lns", 0)):
        start = initial(name, number)
        assert start is not None
        assert start.tolist() == [1] * 6


def test_who_takes_too_long_to_start_is_left_out_but_never_all() -> None:
    """With little time a huge problem has the members that start soonest, and a note names the others."""
    features = replace(features_of(from_pairs(30, 3, lambda: np.eye(3))), num_edges=4_000_000, num_messages=20_000_000)
    numbers = [len(line_up(features, seconds).kinds) for seconds in (1e-3, 12.0, 1000.0)]
    assert 1 <= numbers[0] < numbers[1] < numbers[2]
    assert any("left out" in note for note in line_up(features, 12.0).notes)
    assert not any("left out" in note for note in line_up(features, 1000.0).notes)
    chosen = line_up(features, 1e-3, names=frozenset({"tabu"}))
    assert [kind.name for kind in chosen.kinds] == ["tabu"]


def test_few_iterations_are_not_shared() -> None:
    """With time for few iterations one run has all threads and the others wait; not so where the time is ample."""
    problem = generate("random-cop", variables=700, domain=4, density=0.01, seed=0)
    huge = replace(features_of(problem), num_edges=4_000_000, num_cells=50_000_000)
    kinds = {kind.name: kind for kind in line_up(huge, 20.0, threads=2).kinds}
    run = kinds["bp-reinforced"].plan(Situation(0, np.random.default_rng(0), 18.0, 0.0, Incumbent(problem)))
    assert run.budget.threads == 2
    assert run.budget.time_limit is not None
    assert 0.5 * 18.0 < run.budget.time_limit < 18.0
    assert kinds["bp-reinforced"].delay == 0.0
    assert all(kind.delay > 0.5 for name, kind in kinds.items() if name != "bp-reinforced")
    for ample in (line_up(huge, 2000.0, threads=2), line_up(huge, 20.0)):
        assert any(kind.delay == 0.0 for kind in ample.kinds if kind.name != "bp-reinforced")

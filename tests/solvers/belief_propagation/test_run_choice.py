"""Runs of bp-learned: the policy's choice first, soft ones where few fit, cooled ones while there is hope."""

import numpy as np
import pytest

import dabp
from dabp.compiling import working_seconds
from dabp.graph import FactorGraph
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.improvement import Annealing
from dabp.solvers.belief_propagation.learned import LearnedBeliefPropagation
from dabp.solvers.belief_propagation.pace import Pace
from dabp.solvers.belief_propagation.policy import SPREAD, Policy
from dabp.solvers.belief_propagation.run_choice import (
    COOLED,
    ELITE,
    EXPLORED,
    Elite,
    RunChoice,
    arm_of,
    cools,
    kind_of,
)
from dabp.solvers.belief_propagation.runs import HARD, PULLED, SOFT, Run

PROBLEM = dabp.generate("random-cop", variables=20, domain=5, density=0.3, seed=1)
GRAPH = FactorGraph.from_problem(PROBLEM, dtype=np.float32)


def run_choice(local_search: bool = True, **params: object) -> RunChoice:
    """The choice of runs for a solver with these parameters."""
    solver = LearnedBeliefPropagation(**params)
    return RunChoice(solver, Policy.shipped(), GRAPH, local_search=local_search, scattered=False)


def drawn(count: int, limit: int | None, *, hope: float = 1.0, **others: object) -> list[Run]:
    """Runs one after the other; what they cost is drawn."""
    rng = np.random.default_rng(1)
    draws = run_choice(**others)
    pace, annealing = Pace(Budget(max_iterations=limit), GRAPH, working_seconds()), Annealing(PROBLEM, 1, Guard())
    if hope == 0.0:
        annealing.load_state_dict({"cycle": None, "tried": 1000, "found": 0})
    runs = []
    for k in range(count):
        run = draws.next(rng, pace, 0, annealing, first=k == 0, alone=False)
        cost = float(rng.random())
        draws.learn(run, run.length, cost, cost * rng.choice([0.9, 1.0]) if run.cooled else cost)
        runs.append(run)
    return runs


def test_the_first_run_is_soft_and_every_kind_is_tried():
    """Soft ones that are cooled are a kind of their own."""
    runs = drawn(30, None)
    assert (runs[0].kind, runs[0].cooled) == (SOFT, True)
    assert {arm_of(run) for run in runs} == {SOFT, HARD, PULLED, SOFT + COOLED}
    assert set(run_choice(local_search=False).kinds) == {SOFT, HARD, PULLED}


def test_where_few_fit_all_are_soft():
    """Less than six of the length that the policy wants."""
    assert {run.kind for run in drawn(8, 400)} == {SOFT}


def test_without_hope_nothing_is_cooled():
    """A thousand coolings found nothing; one in a million runs is still cooled."""
    assert not any(run.cooled for run in drawn(20, None, hope=0.0))


def test_a_run_is_resumed_as_it_was():
    """By the name of its kind, cooled or not; others are refused."""
    draws = run_choice()
    for run in drawn(8, None):
        assert (kind_of(arm_of(run)), cools(arm_of(run))) == (run.kind, run.cooled)
        again = draws.resumed(arm_of(run), run.drawn.tolist(), run.length, [0, 0.0])
        assert (again.kind, again.cooled, again.schedule) == (run.kind, run.cooled, run.schedule)
    with pytest.raises(ValueError, match="no such kinds"):
        draws.resumed(PULLED + COOLED, [0.0] * 5, 10, [0, 0.0])
    with pytest.raises(ValueError, match="other outputs"):
        draws.resumed(HARD, [0.0], 10, [0, 0.0])


KNOWN = np.zeros(len(SPREAD))


def draws_of(elite: Elite, count: int = 400) -> np.ndarray:
    """[count, outputs], in units of the spread."""
    rng = np.random.default_rng(0)
    return np.array([elite.draw(rng, KNOWN) for _ in range(count)]) / SPREAD


def test_without_runs_what_is_known_is_drawn():
    """As it was given."""
    assert np.array_equal(Elite(SPREAD).draw(np.random.default_rng(0), KNOWN), KNOWN)


def test_runs_gather_around_what_did_best():
    """Not all of them, and none where learning is off."""
    good = 4 * SPREAD
    for learning in (True, False):
        elite = Elite(SPREAD, learning)
        for _ in range(ELITE):
            elite.learn(1.0, good)
        for _ in range(20):
            elite.learn(9.0, -good)
        near = (np.abs(draws_of(elite) - 4).max(axis=1) < 2.5).mean()
        assert near == pytest.approx(1 - EXPLORED, abs=0.1) if learning else near == 0


def test_what_was_learned_can_be_saved():
    """The same draws after a round trip, infeasible runs included; broken state is refused."""
    elite = Elite(SPREAD)
    for cost in (3.0, np.inf, 1.0):
        elite.learn(cost, np.full(len(SPREAD), cost if np.isfinite(cost) else 7.0))
    again = Elite(SPREAD)
    again.load_state_dict(elite.state_dict())
    assert np.array_equal(draws_of(elite), draws_of(again))
    with pytest.raises(ValueError, match="outputs"):
        again.load_state_dict({"elite": [[1.0, [0.0]]]})

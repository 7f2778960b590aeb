"""The bandit over kinds of runs: each is tried, that with the best runs for its work is taken most, none is dropped."""

import copy

import numpy as np
import pytest

from dabp.solvers.belief_propagation.arms import NEAR_PART, NEAR_RUNS, Arms

KINDS = {"a": 1.0, "b": 1.0, "c": 2.0}


def taught(mean: dict[str, float], rounds: int = 300, spread: float = 1.0) -> tuple[Arms, dict[str, int]]:
    """A bandit after runs whose costs are drawn, and how often it took which kind."""
    rng, arms = np.random.default_rng(0), Arms(KINDS)
    taken = dict.fromkeys(KINDS, 0)
    for _ in range(rounds):
        kind = arms.choose(rng)
        arms.learn(kind, mean[kind] + spread * rng.normal(), 100)
        taken[kind] += 1
    return arms, taken


def test_each_is_tried_and_the_best_is_taken():
    """Costs that are one spread lower; the others still get runs."""
    _, taken = taught({"a": 1.0, "b": 0.0, "c": 1.0})
    assert taken["b"] > 180
    assert min(taken.values()) >= 3


def test_work_counts():
    """Of two that are alike the one with iterations of half the price gets more runs; `only` overrules all."""
    arms, taken = taught({"a": 9.0, "b": 0.0, "c": 0.0})
    assert taken["b"] > 1.3 * taken["c"]
    assert arms.choose(np.random.default_rng(0), only=["a"]) == "a"


def test_what_was_found_before_is_worth_nothing():
    """A kind that finds the best cost again and again does not take the runs from one that finds others."""
    rng, arms = np.random.default_rng(1), Arms({"same": 1.0, "new": 1.0})
    taken = {"same": 0, "new": 0}
    for _ in range(200):
        kind = arms.choose(rng)
        arms.learn(kind, 0.0 if kind == "same" else 1.0 + rng.random(), 100)
        taken[kind] += 1
    assert taken["new"] > 2 * taken["same"]


def test_runs_near_the_best_take_a_fixed_part():
    """Whatever they find, and the others share the rest as they would without them."""
    rng, arms = np.random.default_rng(1), Arms({"a": 1.0, "b": 1.0, "near": 1.0}, near="near")
    work = {"a": 0, "b": 0, "near": 0}
    for _ in range(400):
        kind = arms.choose(rng)
        iterations = 20 if kind == "near" else 200
        arms.learn(kind, {"a": 2.0, "b": 1.0, "near": 0.0}[kind] + rng.random(), iterations)
        work[kind] += iterations
    assert work["near"] == pytest.approx(NEAR_PART * sum(work.values()), abs=200)
    assert work["b"] > 2 * work["a"] > 0


def test_runs_near_the_best_wait_for_others():
    """They take less of the work as long as a run that knows nothing of the others is likely to be the best."""
    rng, arms = np.random.default_rng(1), Arms({"a": 1.0, "near": 1.0}, near="near")
    taken = []
    for _ in range(NEAR_RUNS):
        taken.append(arms.choose(rng))
        arms.learn(taken[-1], rng.random(), 100)
    early, late = taken[: NEAR_RUNS // 2], taken[NEAR_RUNS // 2 :]
    assert 1 <= early.count("near") < late.count("near") <= NEAR_PART * NEAR_RUNS / 2


def test_it_can_be_saved():
    """The same choices after a round trip, with runs that found nothing; other kinds are refused."""
    arms, _ = taught({"a": 1.0, "b": 0.0, "c": 1.0}, rounds=6)
    arms.learn("a", np.inf, 10)
    again = Arms(KINDS)
    again.load_state_dict(arms.state_dict())
    rngs = np.random.default_rng(3), np.random.default_rng(3)
    assert [arms.choose(rngs[0]) for _ in range(50)] == [again.choose(rngs[1]) for _ in range(50)]
    with pytest.raises(ValueError, match="kinds"):
        Arms({"x": 1.0}).load_state_dict(arms.state_dict())


def test_what_was_saved_stays_as_it_was():
    """A state that waits to be written does not know of runs after it."""
    arms, _ = taught({"a": 1.0, "b": 0.0, "c": 1.0}, rounds=6)
    state = arms.state_dict()
    before = copy.deepcopy(state)
    arms.learn("b", -1.0, 10)
    assert state == before

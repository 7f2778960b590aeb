"""Time goes to the searches that improve, runs to the kinds that have the best ones, and none is forgotten."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from dabp.solvers.scheduler import Arm, ByGain, ByRank


def by_gain(*arms: Arm, half_life: float = 5.0, slice_seconds: float = 0.15) -> ByGain:
    """A scheduler of these searches."""
    scheduler = ByGain(half_life, slice_seconds)
    for arm in arms:
        scheduler.add(arm)
    return scheduler


def test_time_follows_gains_and_comes_back() -> None:
    """A search that improves gets most of the time, and the others are still tried."""
    scheduler = by_gain(Arm(1.0), Arm(1.0), Arm(1.0))
    chosen = np.zeros(3)
    for _ in range(300):
        number = scheduler.choose(range(3), 100.0, 0.0)
        assert number is not None
        chosen[number] += 1
        scheduler.reward(number, 0.1, 1.0 if number == 1 else 0.0, 100.0 if number == 1 else 120.0)
    assert chosen[1] > 150
    assert chosen.min() > 5
    assert scheduler.choose([], 100.0, 0.0) is None


def test_with_little_time_a_small_weight_has_none() -> None:
    """The first slices go to the searches of most weight, not once to each."""
    scheduler = by_gain(Arm(0.3), Arm(5.0), Arm(3.0), slice_seconds=0.1)
    order = []
    for _ in range(8):
        number = scheduler.choose(range(3), 100.0, 0.0)
        assert number is not None
        order.append(number)
        scheduler.reward(number, 0.1, 0.0, 100.0)
    assert order[:2] == [1, 2]
    assert 0 not in order
    assert order.count(1) > order.count(2)


def test_a_bound_counts_near_the_end_only() -> None:
    """Without an incumbent there is no small gap, and without a bound none either."""
    scheduler = by_gain(Arm(1.0), Arm(1.0, patient=True, bounding=True), half_life=1.0)
    for number in (0, 1):
        scheduler.reward(number, 0.1, 0.0, np.inf)
    for cost, bound in ((np.inf, -np.inf), (np.inf, 3.0), (5.0, -np.inf)):
        searching, bounding = scheduler.weights(cost, bound)
        assert bounding < 20 * searching
    searching, bounding = scheduler.weights(5.0, 4.99)
    assert bounding > 7 * searching


def test_a_patient_search_is_judged_by_whole_runs() -> None:
    """Bad costs in the midst of a run do not hold it back; after two runs that ended far away they do."""
    scheduler = by_gain(Arm(1.0, patient=True), Arm(1.0))
    scheduler.reward(1, 0.1, 0.0, 100.0)
    for _ in range(5):
        scheduler.reward(0, 0.1, 0.0, 500.0)
    assert scheduler.weights(90.0, 0.0)[0] > scheduler.weights(90.0, 0.0)[1]
    for _ in range(2):
        scheduler.reward(0, 0.1, 0.0, 500.0, ended=True)
    assert scheduler.weights(90.0, 0.0)[0] < scheduler.weights(90.0, 0.0)[1]


def test_being_near_is_no_merit_where_nothing_improves() -> None:
    """A search that stays close to the incumbent does not keep the time for ever from one that scatters further."""
    scheduler = by_gain(Arm(1.0), Arm(1.0), Arm(1.0), half_life=2.0)
    for number, best in enumerate((10.0, 12.0, 30.0)):
        scheduler.reward(number, 0.1, 1.0 if number == 0 else 0.0, best)
    before = scheduler.weights(10.0, -np.inf)
    for _ in range(100):
        scheduler.reward(0, 0.1, 0.0, 10.0)
    after = scheduler.weights(10.0, -np.inf)
    assert before[2] < 0.5 * before[1]
    assert after[2] > 0.8 * after[1]
    scheduler.reward(1, 0.1, 2.0, 8.0)
    assert scheduler.weights(8.0, -np.inf)[2] < 0.5 * after[2]


def test_without_an_answer_none_is_judged_and_learning_from_violations_weighs_more() -> None:
    """Slices without a feasible assignment cost no search its weight; one that seeks such has a third of all."""
    scheduler = by_gain(Arm(9.0), Arm(1.0, seeking=True), Arm(3.0, patient=True))
    for number in range(3):
        scheduler.reward(number, 0.1, 0.0, np.inf)
    annealing, tabu, patient = scheduler.weights(np.inf, -np.inf)
    assert annealing == 3 * patient
    assert tabu == pytest.approx((annealing + tabu + patient) / 3)
    assert scheduler.weights(np.inf, -np.inf, available=(1, 2))[1] == pytest.approx(0.5 * patient)  # the rest has ended
    scheduler.reward(0, 0.1, 0.0, 7.0)
    assert scheduler.weights(7.0, -np.inf)[1] < scheduler.weights(7.0, -np.inf)[2]


def test_while_only_searches_that_learn_from_violations_find_anything_the_others_have_half() -> None:
    """Where most combinations are forbidden annealing may never find what tabu search does."""
    scheduler = by_gain(Arm(9.0), Arm(1.0, seeking=True))
    scheduler.reward(1, 0.1, 1.0, 7.0)
    assert scheduler.weights(7.0, -np.inf) == [4.5, 4.5]
    scheduler.reward(0, 0.1, 0.0, 7.0)
    assert scheduler.weights(7.0, -np.inf)[0] > 9.0, "it is at the incumbent"


# ---- by rank --------------------------------------------------------------------------------------------------------

KINDS = {"a": 1.0, "b": 1.0, "c": 2.0}


def taught(mean: dict[str, float], rounds: int = 300) -> tuple[ByRank, dict[str, int]]:
    """A scheduler after runs whose costs are drawn, and how often it took each kind."""
    rng, scheduler = np.random.default_rng(0), ByRank(KINDS)
    taken = dict.fromkeys(KINDS, 0)
    for _ in range(rounds):
        kind = scheduler.choose(rng)
        scheduler.reward(kind, mean[kind] + rng.normal(), 100)
        taken[kind] += 1
    return scheduler, taken


def test_each_kind_is_tried_and_the_best_is_taken() -> None:
    """Costs that are one spread lower; the others still get runs."""
    _, taken = taught({"a": 1.0, "b": 0.0, "c": 1.0})
    assert taken["b"] > 180
    assert min(taken.values()) >= 3


def test_work_counts() -> None:
    """Of two kinds that are alike the one with iterations of half the price gets more runs; `only` overrules all."""
    scheduler, taken = taught({"a": 9.0, "b": 0.0, "c": 0.0})
    assert taken["b"] > 1.3 * taken["c"]
    assert scheduler.choose(np.random.default_rng(0), only=["a"]) == "a"


def test_a_cost_that_was_found_before_earns_nothing() -> None:
    """A kind that finds the best cost again and again does not take the runs from one that finds others."""
    rng, scheduler = np.random.default_rng(1), ByRank({"same": 1.0, "new": 1.0})
    taken = {"same": 0, "new": 0}
    for _ in range(200):
        kind = scheduler.choose(rng)
        scheduler.reward(kind, 0.0 if kind == "same" else 1.0 + rng.random(), 100)
        taken[kind] += 1
    assert taken["new"] > 2 * taken["same"]


def test_runs_near_the_best_take_a_fixed_part() -> None:
    """Whatever they find; they take less at first, and the others share the rest as they would without them."""
    rng, scheduler = np.random.default_rng(1), ByRank({"a": 1.0, "b": 1.0, "near": 1.0}, near="near")
    work, taken = {"a": 0, "b": 0, "near": 0}, []
    for _ in range(400):
        kind = scheduler.choose(rng)
        iterations = 20 if kind == "near" else 200
        scheduler.reward(kind, {"a": 2.0, "b": 1.0, "near": 0.0}[kind] + rng.random(), iterations)
        work[kind] += iterations
        taken.append(kind)
    assert work["near"] == pytest.approx(ByRank.NEAR_PART * sum(work.values()), abs=200)
    assert work["b"] > 2 * work["a"] > 0
    assert taken[:40].count("near") < taken[-40:].count("near")


def test_ranks_can_be_saved() -> None:
    """The same choices after a round trip, with runs that found nothing; other kinds are refused."""
    scheduler, _ = taught({"a": 1.0, "b": 0.0, "c": 1.0}, rounds=6)
    scheduler.reward("a", np.inf, 10)
    state = scheduler.state_dict()
    before, again = copy.deepcopy(state), ByRank(KINDS)
    again.load_state_dict(state)
    rngs = np.random.default_rng(3), np.random.default_rng(3)
    assert [scheduler.choose(rngs[0]) for _ in range(50)] == [again.choose(rngs[1]) for _ in range(50)]
    scheduler.reward("b", -1.0, 10)
    assert state == before, "a state that waits to be written does not change"
    with pytest.raises(ValueError, match="kinds"):
        ByRank({"x": 1.0}).load_state_dict(state)

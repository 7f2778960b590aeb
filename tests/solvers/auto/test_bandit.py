"""Time goes to who improves, and nobody is forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.solvers.auto.bandit import Bandit


def test_the_bandit_follows_gains_and_comes_back() -> None:
    """Who improves gets most of the time, and the others are still tried."""
    bandit = Bandit([1.0] * 3, [False] * 3, [False] * 3, memory=5.0)
    chosen = np.zeros(3)
    for _ in range(300):
        index = bandit.choose(range(3), 100.0, 0.0)
        assert index is not None
        chosen[index] += 1
        bandit.reward(index, 0.1, 1.0 if index == 1 else 0.0, 100.0 if index == 1 else 120.0)
    assert chosen[1] > 150
    assert chosen.min() > 5


def test_with_little_time_who_weighs_little_has_none() -> None:
    """The first slices go to the members of most weight, not once to everybody."""
    bandit = Bandit([0.3, 5.0, 3.0], [False] * 3, [False] * 3, memory=5.0, unit=0.1)
    order = []
    for _ in range(8):
        index = bandit.choose(range(3), 100.0, 0.0)
        assert index is not None
        order.append(index)
        bandit.reward(index, 0.1, 0.0, 100.0)
    assert order[:2] == [1, 2]
    assert 0 not in order
    assert order.count(1) > order.count(2)


def test_without_an_answer_time_goes_to_the_search_for_one() -> None:
    """No incumbent is no small gap, and no bound no proof at hand."""
    bandit = Bandit([1.0, 1.0], [False, True], [False, True], 1.0)
    for index in (0, 1):
        bandit.reward(index, 0.1, 0.0, np.inf)
    for cost, bound in ((np.inf, -np.inf), (np.inf, 3.0), (5.0, -np.inf)):
        searching, bounding = bandit.weights(cost, bound)
        assert bounding < 20 * searching


def test_a_patient_member_is_judged_by_whole_runs() -> None:
    """Bad costs in the midst of a run do not hold it back; after some runs that ended far away they do."""
    bandit = Bandit([1.0, 1.0], [True, False], [False, False], memory=5.0)
    bandit.reward(1, 0.1, 0.0, 100.0)
    for _ in range(5):
        bandit.reward(0, 0.1, 0.0, 500.0)
    assert bandit.weights(90.0, 0.0)[0] > bandit.weights(90.0, 0.0)[1]
    for _ in range(2):
        bandit.reward(0, 0.1, 0.0, 500.0, ended=True)
    assert bandit.weights(90.0, 0.0)[0] < bandit.weights(90.0, 0.0)[1]


def test_being_near_is_no_merit_where_nobody_improves():
    """A member that stays close to the incumbent does not keep the time for ever from one that scatters further."""
    bandit = Bandit([1.0] * 3, [False] * 3, [False] * 3, memory=2.0)
    for index, best in enumerate((10.0, 12.0, 30.0)):
        bandit.reward(index, 0.1, 1.0 if index == 0 else 0.0, best)
    before = bandit.weights(10.0, -np.inf)
    for _ in range(100):
        bandit.reward(0, 0.1, 0.0, 10.0)
    after = bandit.weights(10.0, -np.inf)
    assert before[2] < 0.5 * before[1]
    assert after[2] > 0.8 * after[1]
    bandit.reward(1, 0.1, 2.0, 8.0)
    assert bandit.weights(8.0, -np.inf)[2] < 0.5 * after[2]


def test_without_an_answer_nobody_is_judged_and_who_learns_from_violations_has_more() -> None:
    """Slices without a feasible assignment cost nobody its share; a member that seeks one has a third of all."""
    bandit = Bandit([9.0, 1.0, 3.0], [False, False, True], [False] * 3, 1.0, seeking=[False, True, False])
    for index in (0, 1, 2):
        bandit.reward(index, 0.1, 0.0, np.inf)
    annealing, tabu, patient = bandit.weights(np.inf, -np.inf)
    assert annealing == 3 * patient
    assert tabu == pytest.approx((annealing + tabu + patient) / 3)
    bandit.reward(1, 0.1, 0.0, 7.0)
    annealing, tabu, patient = bandit.weights(7.0, -np.inf)
    assert tabu == annealing + patient  # nobody else has found anything: it goes on
    bandit.reward(0, 0.1, 0.0, 7.0)
    assert bandit.weights(7.0, -np.inf)[1] < bandit.weights(7.0, -np.inf)[2]

"""Relaxed problems: every assignment costs what it violates and what it costs, in that order."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem.model import Model
from dabp.problem.relaxation import Relaxation
from tests.infeasible import broken_names, infeasible_problem


@pytest.mark.parametrize("seed", range(40))
def test_assignments_are_ordered_by_violations_then_cost(seed: int) -> None:
    """Sorting by the relaxed cost sorts by price, and among equal prices by cost, whatever the direction."""
    problem = infeasible_problem(seed)
    rows, broken = broken_names(problem)
    rng = np.random.default_rng(seed)
    names = sorted(frozenset.union(*broken))
    prices = {name: float(rng.choice([0.5, 1, 4])) for name in names if rng.random() < 0.5}
    relaxation = Relaxation(problem, prices, amounts=False)
    sign = -1.0 if problem.maximize else 1.0
    spent = np.array([sum(prices.get(name, 1.0) for name in each) for each in broken])
    own = np.array([sign * relaxation.cost(row) for row in rows])
    relaxed = sign * relaxation.problem.cost(rows)
    assert relaxation.weighed
    assert relaxation.problem.auxiliaries.num_visible == problem.auxiliaries.num_visible
    order = np.argsort(relaxed, kind="stable")
    pairs = list(zip(spent[order].tolist(), np.round(own[order], 9).tolist(), strict=True))
    assert pairs == sorted(pairs)
    for row, each, price in zip(rows[:20], broken, spent, strict=False):
        found = relaxation.violated(row)
        assert {one.name for one in found} == each
        assert relaxation.price(row) == price


def test_amounts_of_bounds_between_whole_numbers() -> None:
    """An amount of a half weighs more than all costs, too."""
    model = Model()
    model.add_variable("a", [0, 1])
    model.add_cost("a", [9, 0])
    model.linear(["a"], "<=", -2.5, name="low")
    model.linear(["a"], ">=", 0.5, name="high")
    relaxation = Relaxation(model.build())
    costs = relaxation.problem.cost(np.array([[0], [1]]))
    assert [relaxation.price([0]), relaxation.price([1])] == [3, 3.5]
    assert costs[0] < costs[1]


def test_what_is_not_violated_costs_the_same() -> None:
    """So targets and bounds of feasible assignments keep their meaning."""
    model = Model()
    names = model.add_variables("abc", 3)
    model.all_different(names)
    model.add_cost("a", [4, 2.5, 9])
    problem = model.build()
    relaxed = Relaxation(problem).problem
    assert relaxed.cost([0, 1, 2]) == problem.cost([0, 1, 2]) == 4
    assert relaxed.cost([0, 0, 2]) > 9  # the dearest assignment without a violation


def test_costs_that_leave_no_room_are_left_out() -> None:
    """Violations are counted exactly even then."""
    model = Model()
    model.add_variables("ab", 2)
    model.add_cost("a", [0, 2.0**51])
    model.forbid("a", [0], name="first")
    model.forbid("a", [1], name="second")
    model.forbid("b", [1], name="third")
    relaxation = Relaxation(model.build())
    assert not relaxation.weighed
    assert relaxation.problem.cost([[0, 0], [1, 0], [0, 1]]).tolist() == [1, 1, 2]
    assert relaxation.cost([1, 1]) == 2.0**51

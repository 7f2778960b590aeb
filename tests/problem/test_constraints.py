"""Hard constraints of a problem, and problems with some of them."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem.constraints import hard_constraints, violated, with_only
from dabp.problem.model import Model
from tests.infeasible import broken_names, infeasible_problem
from tests.problems import all_assignments


def test_factors_of_one_name_are_one_constraint() -> None:
    """Those without anything forbidden are none, and neither are definitions."""
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(12)), 2)
    model.all_different(names[:3], name="apart")
    model.add_cost("x0", [1, 2], name="soft")
    model.forbid("x1", [1])
    model.at_most(names, 1, 3, name="few")
    model.at_most(names, 0, 3, name="priced", price=2)
    found = hard_constraints(model.build())
    assert [(one.name, len(one.factors)) for one in found] == [("apart", 3), ("f4", 1), ("few", 1)]


@pytest.mark.parametrize("seed", range(15))
def test_some_constraints_only(seed: int) -> None:
    """An assignment is feasible then if it violates none of these."""
    problem = infeasible_problem(seed)
    constraints = hard_constraints(problem)
    rows, broken = broken_names(problem)
    rng = np.random.default_rng(seed)
    chosen = [one for one in constraints if rng.random() < 0.5]
    names = {one.name for one in chosen}
    only = with_only(problem, chosen)
    assert np.isinf(only.cost(rows)).tolist() == [bool(each & names) for each in broken]
    for row, each in zip(rows[:10], broken[:10], strict=True):
        assert {one.name for one in violated(problem, constraints, row)} == each


def test_costs_stay_where_the_total_is_limited() -> None:
    """Of what is forbidden no longer, the least of its table is left."""
    model = Model()
    model.add_variable("a", 3)
    model.add_cost("a", [np.inf, 2, 7], name="one")
    problem = model.build().replace(limit=9.0)
    assert with_only(problem, []).cost(all_assignments(problem)).tolist() == [2, 2, 7]
    assert with_only(problem, hard_constraints(problem)).cost(all_assignments(problem)).tolist() == [np.inf, 2, 7]
    assert with_only(problem, []).limit == 9.0

"""Fixing variables leaves a smaller problem with the same costs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.model import Model
from dabp.problem.reduction import Conditioned
from tests.problem.test_problem import small
from tests.problems import all_assignments


@pytest.mark.parametrize("maximize", [False, True])
def test_conditioning_keeps_costs(maximize: bool) -> None:
    """Fixing any variables leaves a problem whose costs are those of the lifted assignments."""
    problem = small(maximize)
    for fixed in ({}, {0: 1}, {1: 2}, {0: 0, 2: 1}, {0: 1, 1: 2, 2: 1}):
        reduced = Conditioned(problem, fixed)
        for row in itertools.product(*(range(d) for d in reduced.problem.domain_sizes)):
            lifted = reduced.lift(np.array(row, dtype=np.int64))
            assert reduced.problem.cost(np.array(row, dtype=np.int64)) == problem.cost(lifted)
            assert all(lifted[v] == value for v, value in fixed.items())
            assert reduced.project(lifted).tolist() == list(row)


def test_conditioning_keeps_the_limit_and_factors_of_many_variables() -> None:
    """A factor may have more variables than an array has axes, if most have one value; the file's bound stays."""
    sizes = [2, 3, *[1] * 70]
    problem = Problem(sizes, range(72), [0, 72], np.arange(6.0), [0, 6], limit=5.0)
    reduced = Conditioned(problem, {0: 1, 5: 0}).problem
    assert reduced.limit == 5.0
    assert [reduced.cost([value, *[0] * 69]) for value in range(3)] == [3.0, 4.0, 5.0]
    assert problem == problem.replace()
    with pytest.raises(ProblemError, match="'f0' has 72 variables; a table has 64 axes at most"):
        problem.table(0)


def test_hard_functions_stay_with_fixed_variables_as_constants() -> None:
    """They forbid what they did; soft ones are left to their tables."""
    model = Model()
    names = model.add_variables([f"v{i}" for i in range(4)], 3)
    model.gcc(names, {0: 1, 2: (1, 2)})
    model.all_different(names, price=2)
    problem = model.build()
    reduced = Conditioned(problem, {1: 2, 3: 0})
    [posted] = reduced.problem.auxiliaries.statements
    assert posted.scope == (0, -1, 1, -1)
    assert posted.factors == ()
    for row in all_assignments(Problem([3, 3])):
        cost = problem.cost(reduced.lift(np.concatenate([row, np.zeros(reduced.problem.num_variables - 2, int)]))[:4])
        assert np.isinf(posted.costs(row[None])[0]) == np.isinf(cost)

"""Global functions after presolve: they hold for what is left, and matchings find contradictions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.presolve import presolve
from dabp.presolve.carrying import carried, contradicts
from dabp.presolve.restriction import Restricted
from dabp.problem.globals import AllDifferent, Posted
from dabp.problem.model import Model
from tests.problems import all_assignments


@pytest.mark.parametrize("seed", range(30))
def test_carried_functions_hold_where_the_problem_does(seed: int) -> None:
    """Values removed at random: a carried function forbids an assignment exactly where it forbids the lifted one."""
    rng = np.random.default_rng(seed)
    model = Model()
    names = model.add_variables([f"v{i}" for i in range(5)], 4)
    model.gcc(names, {0: (0, 2), 1: (1, 3)})
    model.all_different(names[:3])
    model.linear(names, ">=", 6)
    problem = model.build()
    kept = rng.random(int(problem.domain_sizes.sum())) < 0.6
    kept[np.cumsum(problem.domain_sizes) - 1] = True
    stage = Restricted(problem, kept)
    moved = carried(problem.auxiliaries.statements, [stage])
    assert len(moved) == 3 or stage.problem.num_variables < 5
    for row in all_assignments(stage.problem)[:500]:
        lifted = stage.lift(row)
        for one in moved:
            before = next(each for each in problem.auxiliaries.statements if each.name == one.name)
            assert one.costs(row[None])[0] == before.costs(lifted[None])[0]


@pytest.mark.parametrize("seed", range(60))
def test_matchings_find_what_no_assignment_satisfies(seed: int) -> None:
    """Against trying all of them."""
    rng = np.random.default_rng(seed)
    symbols = tuple(rng.permutation(5)[: rng.integers(1, 4)] for _ in range(rng.integers(1, 6)))
    excepted = (4,) if rng.random() < 0.3 else ()
    posted = Posted(AllDifferent(excepted), tuple(range(len(symbols))), symbols, (), "it")
    rows = np.array(list(itertools.product(*symbols)))
    assert contradicts(posted) == bool(np.isinf(posted.function.costs(rows)).all())


@pytest.mark.parametrize(("pigeons", "holes"), [(12, 11), (40, 39)])
def test_pigeons(pigeons: int, holes: int) -> None:
    """One more than there are holes: no search is needed."""
    model = Model()
    model.all_different(model.add_variables([f"p{i}" for i in range(pigeons)], holes))
    assert presolve(model.build()).infeasible

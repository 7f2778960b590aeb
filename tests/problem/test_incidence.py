"""A problem as entries of scopes: enough to compute every cost from."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem.incidence import Incidence
from tests.problems import all_assignments, random_problem


@pytest.mark.parametrize("seed", range(20))
def test_entries_give_every_cost(seed: int) -> None:
    """Unary costs, tables by strides and the constant add up to what the problem says."""
    problem = random_problem(seed, maximize=False)
    entries = Incidence(problem)
    for values in all_assignments(problem)[:30]:
        total = entries.constant + entries.unary[entries.unary_start[:-1] + values].sum()
        places = entries.table_start.copy()
        np.add.at(places, entries.factor, entries.stride * values[entries.variable])
        assert total + entries.pool[places].sum() == pytest.approx(problem.cost(values))
    for variable in range(problem.num_variables):
        own = entries.incident[entries.incident_start[variable] : entries.incident_start[variable + 1]]
        assert (entries.variable[own] == variable).all()
    assert sorted(entries.incident.tolist()) == list(range(len(entries.variable)))

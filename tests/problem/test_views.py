"""Light views of a problem."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem


def test_views_show_the_columns() -> None:
    """Names, labels, scopes and tables, an axis per variable of the scope in its order."""
    problem = Problem(
        [2, 3], [1, 0], [0, 2], np.arange(6), [0, 6], variable_names=["a", "b"], labels=[("x", "y"), None]
    )
    assert [(v.index, v.name, v.labels, v.domain_size) for v in problem.variables] == [
        (0, "a", ("x", "y"), 2),
        (1, "b", (0, 1, 2), 3),
    ]
    (factor,) = problem.factors
    assert (factor.index, factor.name, factor.scope, factor.arity) == (0, "f0", (1, 0), 2)
    assert factor.table.tolist() == [[0, 1], [2, 3], [4, 5]]
    (line,) = problem.explain([1, 2])
    assert (line.name, line.scope, line.values, line.cost, line.violated) == ("f0", ("b", "a"), (2, "y"), 5.0, False)


def test_views_are_sequences() -> None:
    """Counted, indexed from both ends, sliced and iterated more than once; each view is that of its index."""
    problem = dabp.generate("random-cop", variables=30, domain=3, density=0.3, seed=0)
    assert len(problem.variables) == 30
    assert problem.variables[-1] == problem.variables[29]
    assert [each.name for each in problem.variables[3:9:2]] == ["x3", "x5", "x7"]
    assert next(iter(problem.variables[10:])) == problem.variables[10]
    assert [each.index for each in problem.factors[::-1][:3]] == [problem.num_factors - k for k in (1, 2, 3)]
    assert [each.index for each in problem.factors] == [each.index for each in problem.factors]
    with pytest.raises(IndexError):
        problem.variables[30]
    assert "… and 24 more" in repr(problem.variables)
    assert "more" not in repr(problem.variables[:2])

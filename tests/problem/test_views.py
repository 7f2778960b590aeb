"""Light views of a problem."""

from __future__ import annotations

import numpy as np

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

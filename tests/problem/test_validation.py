"""What makes columns a problem."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import ProblemError
from dabp.problem import Problem


def unary(*costs: float) -> dict[str, object]:
    """The columns of one variable with two values and one unary factor."""
    return columns([2], [0], costs)


def columns(sizes: list[int], scope: list[int], pool: tuple[float, ...]) -> dict[str, object]:
    """The columns of one factor."""
    offsets = {"scope_offsets": [0, len(scope)], "pool_offsets": [0, len(pool)]}
    return {"domain_sizes": sizes, "scope_variables": scope, "pool": pool, **offsets}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domain_sizes": [2, 0]}, "empty domain"),
        (columns([2], [3], (0, 1)), "outside"),
        (unary(0), "needs a table"),
        (columns([2, 2], [0, 0], (0, 0, 0, 0)), "twice"),
        (unary(0, np.nan), "nan"),
        (unary(0, -np.inf), "-inf"),
        (unary(0, 2.0**54), "exact"),
        ({"domain_sizes": [2, 2], "variable_names": ["a", "a"]}, "two variables are named 'a'"),
        ({"domain_sizes": [2, 2], "variable_names": ["a"]}, "1 names"),
        ({"domain_sizes": [2], "labels": [("a",)]}, "different labels"),
        ({"domain_sizes": [2], "labels": [("a", "a")]}, "different labels"),
        ({"domain_sizes": [2], "scope_offsets": [0, 1]}, "offsets must rise"),
        (columns([2**40, 2**40], [0, 1], ()), "16,777,216 at most"),
        (columns([2**24] * 4, [0, 1, 2, 3], ()), "needs a table"),
    ],
)
def test_what_is_no_problem_is_refused(arguments: dict[str, object], message: str) -> None:
    """Each wrong column gives one clear sentence."""
    with pytest.raises(ProblemError, match=message):
        Problem(**arguments)  # type: ignore[arg-type]

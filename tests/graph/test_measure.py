"""The scale of a factor graph's costs, and what is taken off its tables."""

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.graph.measure import measured
from dabp.problem import Problem


def chain(*tables: object) -> Problem:
    """A table of two variables on each pair of neighbours."""
    return Problem.from_tables([2] * (len(tables) + 1), [((i, i + 1), table) for i, table in enumerate(tables)])


def test_half_the_median_range():
    """Of the ranges that are positive; 1 where none is."""
    problem = chain([[0, 2], [1, 0]], [[5, 5], [5, 15]], [[7, 7], [7, 7]], [[0, 100], [0, 0]])
    assert measured(problem, None, checked=True).scale == 5.0
    assert measured(chain([[3, 3], [3, 3]]), None, checked=True).scale == 1.0


def test_what_dwarfs_ranges_is_taken_off():
    """A large constant is, an ordinary least cost is not; negative ones count by their size."""
    problem = chain(
        [[10, 12], [11, 10]], [[1e6, 1e6 + 2], [1e6, 1e6]], [[-1e6, -1e6], [-1e6, 0]], [[-9e9, -9e9 + 1]] * 2
    )
    measure = measured(problem, None, checked=True)
    np.testing.assert_array_equal(measure.shifts, [0.0, 1e6, 0.0, -9e9])
    np.testing.assert_array_equal(measure.lowest, [10.0, 0.0, -1e6, 0.0])


def test_the_smallest_costs_have_a_scale():
    """Whose half would be no number above 0."""
    assert measured(chain([[0, 5e-324], [0, 0]]), None, checked=True).scale > 0


def test_a_scale_under_which_sums_overflow_is_refused():
    """But not where a type is asked for."""
    problem = chain([[0, 1e9], [0, 0]])
    with pytest.raises(ParameterError, match="cost_scale"):
        measured(problem, 1e-15, checked=True)
    assert measured(problem, 1e-15, checked=False).scale == 1e-15

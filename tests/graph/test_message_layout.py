"""How messages and tables lie in memory; that they lie where kernels read them, the tests of the kernels show."""

from itertools import pairwise

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.message_layout import lane_count, make_layout
from dabp.problem import Problem
from tests.kernels.belief_propagation.equations import mixed_problem


def test_tables_lie_in_the_order_in_which_variables_read_them() -> None:
    """Where each factor has its own table, those of one orientation are read from first to last."""
    problem = mixed_problem(5, 1, arities=(2, 2))
    rng = np.random.default_rng(0)
    own = [(problem.scope_variables[a:b], rng.random((4, 4))) for a, b in pairwise(problem.scope_offsets.tolist())]
    problem = Problem.from_tables([4] * problem.num_variables, own)
    table = make_layout(problem, FactorGraph.from_problem(problem), 8).pairs.table
    starts = 16 * np.arange(problem.num_factors)
    assert np.array_equal(table[table <= starts[-1]], starts)
    assert np.array_equal(table[table > starts[-1]], starts + starts[-1] + 16)


@pytest.mark.parametrize(("domain", "lanes"), [(2, 2), (3, 4), (4, 4), (5, 8), (8, 8), (9, 16), (15, 16), (40, 16)])
def test_vectors_are_as_long_as_pays(domain: int, lanes: int) -> None:
    """Short vectors where long ones would be mostly padding."""
    pool = np.arange(float(domain * domain))
    problem = Problem([domain] * 3, [0, 1, 1, 2, 2, 0], [0, 2, 4, 6], pool, [0, len(pool)], [0, 0, 0])
    assert lane_count(FactorGraph.from_problem(problem)) == lanes
    assert lane_count(FactorGraph.from_problem(problem, dtype=np.float64)) == min(max(lanes, 4), 8)

"""The layout holds every table, unary cost and message of the graph once where it says, and padding elsewhere."""

from itertools import pairwise

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.message_layout import lane_count, make_layout
from dabp.kernels.belief_propagation.message_arrays import PADDING, UNIT
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


def test_messages_of_a_variable_lie_side_by_side() -> None:
    """The padded slices of all messages are disjoint and fill the arrays, each within its variable's part."""
    problem = mixed_problem(2, 13)
    graph = FactorGraph.from_problem(problem, split_ratio=0.95)
    layout = make_layout(problem, graph, 8)
    starts = layout.variables.message_start
    widths = np.diff(layout.variables.unary_start)
    heard = UNIT * layout.pairs.source[: len(layout.pairs.table)][layout.pairs.table >= 0].astype(np.int64)
    first_copy = np.concatenate([heard, layout.many.message[:, 0]])
    owner = np.searchsorted(starts, first_copy, side="right") - 1
    both = np.concatenate([first_copy, first_copy + widths[owner]])
    assert (widths % 8 == 0).all()
    covered = np.concatenate([np.arange(p, p + widths[o]) for p, o in zip(both, np.tile(owner, 2), strict=True)])
    assert np.array_equal(np.sort(covered), np.arange(starts[-1]))


def test_padded_lanes_never_win() -> None:
    """Unary costs are the graph's where the mask is 1, and beyond any belief where it is 0."""
    problem = mixed_problem(3, 11)
    graph = FactorGraph.from_problem(problem)
    variables = make_layout(problem, graph, 8).variables
    assert np.array_equal(variables.unary[variables.mask > 0], graph.unary)
    assert (variables.unary[variables.mask == 0] == np.float32(PADDING)).all()


def test_exact_costs_are_those_of_the_problem() -> None:
    """Base and strides lead to every factor's own cost, of arity 0 to 4."""
    problem = mixed_problem(4, 5, arities=(1, 2, 3, 4))
    exact = make_layout(problem, FactorGraph.from_problem(problem), 8).exact
    assignment = np.random.default_rng(0).integers(problem.domain_sizes)
    costs = []
    for factor in range(problem.num_factors):
        places = slice(exact.start[factor], exact.start[factor + 1])
        costs.append(exact.pool[exact.base[factor] + assignment[exact.variable[places]] @ exact.stride[places]])
    assert np.array_equal(costs, problem.factor_costs(assignment))


@pytest.mark.parametrize(("domain", "lanes"), [(2, 2), (3, 4), (4, 4), (5, 8), (8, 8), (9, 16), (15, 16), (40, 16)])
def test_vectors_are_as_long_as_pays(domain: int, lanes: int) -> None:
    """Short vectors where long ones would be mostly padding."""
    pool = np.arange(float(domain * domain))
    problem = Problem([domain] * 3, [0, 1, 1, 2, 2, 0], [0, 2, 4, 6], pool, [0, len(pool)], [0, 0, 0])
    assert lane_count(FactorGraph.from_problem(problem)) == lanes
    assert lane_count(FactorGraph.from_problem(problem, dtype=np.float64)) == min(max(lanes, 4), 8)

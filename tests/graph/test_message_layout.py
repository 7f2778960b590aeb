"""The layout holds every table, unary cost and message of the graph once where it says, and padding elsewhere."""

from itertools import pairwise

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.message_layout import lane_count, make_layout
from dabp.kernels.belief_propagation.layout import PADDING, UNIT, PairTables
from dabp.problem import Problem
from tests.kernels.belief_propagation.equations import mixed_problem


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("split", [None, 0.8])
def test_pairs_find_their_tables_in_both_orientations(lanes: int, split: float | None) -> None:
    """Every factor of arity 2 reads its own costs, whichever of its variables the lanes run over."""
    problem = mixed_problem(1, 13, arities=(1, 2, 2, 3))
    graph = FactorGraph.from_problem(problem, split_ratio=split, dtype=np.float64)
    layout = make_layout(problem, graph, lanes)
    variables, pairs, copies = layout.variables, layout.pairs, len(graph.scales)
    met = 0
    for group in graph.groups:
        for g in range(group.num_factors if group.arity == 2 else 0):
            table, first = group.tables[group.table_index[g]], group.first + 2 * copies * g
            for side, other in ((0, 1), (1, 0)):
                edge, i = first + side, group.scope[g, side]
                at = int(np.flatnonzero(graph.variable_edges == edge)[0]) // copies
                rows = np.arange(pairs.rows[at])[:, None] * variables.step[i]
                held = layout.tables[pairs.table[at] + rows + np.arange(graph.domain_sizes[i])]
                assert np.array_equal(held, table.T if side == 0 else table)
                partner = int(np.flatnonzero(graph.variable_edges == first + other)[0])
                width = np.diff(variables.unary_start)[group.scope[g, other]]
                rank = partner - variables.edge_start[group.scope[g, other]]
                assert UNIT * pairs.source[at] == variables.message_start[group.scope[g, other]] + rank * width
                met += 1
    assert met == (pairs.table >= 0).sum()
    assert (pairs.table < 0).sum() == sum(group.scope.size for group in graph.groups if group.arity > 2)
    blocks = [PairTables(*row) for row in pairs.blocks.tolist()]
    ends = [block.start + block.tables * block.rows * block.step for block in blocks]
    assert [block.start for block in blocks] == [0, *ends[:-1]]


def test_tables_lie_in_the_order_in_which_variables_hear_them() -> None:
    """Where each factor has its own table, those of one orientation are read from first to last."""
    problem = mixed_problem(5, 1, arities=(2, 2))
    rng = np.random.default_rng(0)
    own = [(problem.scope_variables[a:b], rng.random((4, 4))) for a, b in pairwise(problem.scope_offsets.tolist())]
    problem = Problem.from_tables([4] * problem.num_variables, [(scope, table) for scope, table in own])
    pairs = make_layout(problem, FactorGraph.from_problem(problem), 8).pairs
    for block in (PairTables(*row) for row in pairs.blocks.tolist()):
        inside = pairs.table[(pairs.table >= block.start) & (pairs.table < block.start + block.tables * 16)]
        assert np.array_equal(inside, block.start + 16 * np.arange(block.tables))


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

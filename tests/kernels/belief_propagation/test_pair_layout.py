"""Where variables find the tables and messages of factors of arity 2."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.message_layout import lane_count, make_layout
from dabp.kernels.belief_propagation.message_arrays import UNIT
from dabp.problem.facts import minimized
from tests.problems import random_problem


@pytest.mark.parametrize("split", [None, 0.3])
def test_each_place_leads_to_its_factor(split: float | None) -> None:
    """Against a walk through the edges: table, other variable, its number of values and where its message lies."""
    for seed in range(40):
        problem = minimized(random_problem(seed))
        graph = FactorGraph.from_problem(problem, split_ratio=split)
        layout = make_layout(problem, graph, lane_count(graph))
        copies, variables, pairs = len(graph.scales), layout.variables, layout.pairs
        place_of = np.empty(graph.num_edges, dtype=np.int64)
        place_of[graph.variable_edges] = np.arange(graph.num_edges)
        for group in graph.groups:
            for factor in range(group.num_factors):
                for side in range(group.arity):
                    edge = group.first + factor * copies * group.arity + side
                    here = place_of[edge] // copies
                    if group.arity != 2:
                        assert pairs.table[here] == -1
                        continue
                    other = int(group.scope[factor, 1 - side])
                    assert pairs.rows[here] == group.shape[1 - side]
                    width = variables.unary_start[other + 1] - variables.unary_start[other]
                    rank = place_of[edge + 1 - 2 * side] - graph.variable_edge_offsets[other]
                    assert pairs.source[here] * UNIT == variables.message_start[other] + rank * width
                    step = variables.step[group.scope[factor, side]]
                    lying = layout.tables[pairs.table[here] :][: step * group.shape[1 - side]].reshape(-1, step)
                    table = group.tables[group.table_index[factor]]
                    wanted = table.T if side == 0 else table
                    assert np.array_equal(lying[:, : group.shape[side]], wanted)

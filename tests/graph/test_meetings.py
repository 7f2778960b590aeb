"""Blocks in which threads meet: every factor between two threads' variables is found once."""

import itertools

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.meetings import MOST_BLOCKS, meeting_of
from dabp.graph.message_layout import lane_count, make_layout
from dabp.kernels.belief_propagation.layout import Layout
from dabp.problem import Problem


def layout_of(count: int, pairs: int, ratio: float | None = None) -> Layout:
    """Of a random graph; two pairs may join the same variables."""
    rng = np.random.default_rng(count)
    scopes = [tuple(map(int, rng.choice(count, size=2, replace=False))) for _ in range(pairs)]
    problem = Problem.from_tables([2] * count, [(scope, rng.integers(0, 9, size=(2, 2))) for scope in scopes])
    graph = FactorGraph.from_problem(problem, split_ratio=ratio)
    return make_layout(problem, graph, lane_count(graph))


@pytest.mark.parametrize("ratio", [None, 0.95])
@pytest.mark.parametrize(("count", "cuts"), [(5, (0, 2, 5)), (700, (0, 3, 350, 700)), (900, (0, 256, 256, 900))])
def test_every_factor_between_parts_is_there_once(count: int, cuts: tuple[int, ...], ratio: float | None) -> None:
    """At its later variable, under the blocks of both."""
    layout = layout_of(count, 3 * count, ratio)
    meeting = meeting_of(layout, list(itertools.pairwise(cuts)))
    assert MOST_BLOCKS >= meeting.blocks > min(count - 1, MOST_BLOCKS // 2)
    starts, other = layout.variables.edge_start // (1 if ratio is None else 2), layout.pairs.other
    owner = np.searchsorted(cuts, np.arange(count), side="right")
    expected = {(i, at) for i in range(count) for at in range(starts[i], starts[i + 1]) if owner[other[at]] < owner[i]}
    found = list(zip(meeting.variable.tolist(), meeting.place.tolist(), strict=True))
    assert set(found) == expected
    assert len(found) == len(expected) == meeting.first[-1]
    for pair, (here, there) in enumerate(meeting.between.reshape(-1, 2).tolist()):
        for factor in range(meeting.first[pair], meeting.first[pair + 1]):
            blocks = meeting.variable[factor] >> meeting.shift, other[meeting.place[factor]] >> meeting.shift
            assert (here, there) == (blocks[0] * meeting.blocks + blocks[1], blocks[1] * meeting.blocks + blocks[0])


def test_whole_blocks_are_of_one_part() -> None:
    """Those of several parts are nobody's, and the last is whole although it is short."""
    layout = layout_of(700, 10)
    meeting = meeting_of(layout, [(0, 101), (101, 102), (102, 700)])
    assert meeting.shift == 2
    assert meeting.whole.tolist() == [[0, 25], [26, 25], [26, 175]]


def test_one_thread_has_one_block() -> None:
    """Which any variable is of."""
    meeting = meeting_of(layout_of(700, 10), [(0, 700)])
    assert (meeting.blocks, 699 >> meeting.shift, len(meeting.place)) == (1, 0, 0)

"""What a distributed run would have sent."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem

SQUARE = Problem.from_tables(
    [2, 3, 2, 2],
    [
        ((0,), [0.0, 1.5]),
        *(
            ((i, (i + 1) % 4), np.random.default_rng(i).random(([2, 3, 2, 2][i], [2, 3, 2, 2][(i + 1) % 4])))
            for i in range(4)
        ),
        ((0, 1), np.random.default_rng(9).random((2, 3))),
    ],
)
"""A ring of four, one pair with two factors: eight ordered pairs of neighbours, ten edges of the factor graph."""


@pytest.mark.parametrize(("solver", "messages"), [("dsa", 8), ("mgm", 16), ("gdba", 16)])
def test_local_search(solver: str, messages: int) -> None:
    """A value to each neighbour, and with MGM and GDBA a gain, each a message of one number."""
    result = dabp.solve(SQUARE, solver, seed=1, max_iterations=7)
    assert result.messages == result.message_size == messages * result.iterations
    assert result.to_dict(SQUARE)["messages"] == result.messages


def test_pairs() -> None:
    """MGM-2 sends three messages to each neighbour, answers, and confirmations: more than the first alone."""
    result = dabp.solve(SQUARE, "mgm2", seed=1, max_iterations=50)
    assert 24 * result.iterations < result.messages <= (24 + 8) * result.iterations


@pytest.mark.parametrize(("solver", "edges"), [("bp", 10), ("dbp", 10), ("dbp-scfg", 20)])
def test_belief_propagation(solver: str, edges: int) -> None:
    """Two messages along every edge of the factor graph, an entry for each value; costs of one variable send none."""
    result = dabp.solve(SQUARE, solver, seed=1, max_iterations=9)
    assert result.messages == 2 * edges * result.iterations
    assert result.message_size == 2 * (edges // 10) * (3 * 2 + 3 * 3 + 2 * 2 + 2 * 2) * result.iterations


def test_a_forest_takes_one_message_up_and_one_down() -> None:
    """Belief propagation on a chain is exact after one sweep each way."""
    chain = Problem.from_tables([2, 3, 4], [((0, 1), np.ones((2, 3))), ((1, 2), np.ones((3, 4)))])
    result = dabp.solve(chain, "bp")
    assert (result.messages, result.message_size) == (8, 2 * (2 + 3 + 3 + 4))


def test_methods_without_agents() -> None:
    """Annealing is no distributed algorithm."""
    result = dabp.solve(SQUARE, "annealing", max_iterations=5)
    assert (result.messages, result.message_size) == (None, None)

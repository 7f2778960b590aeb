"""Quadratic functions become problems and come back as the same functions."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.quadratic_function import Quadratic, cut_problem, problem_of, quadratic_of, simplified

_coefficient = st.integers(-20, 20).map(lambda n: n / 4)


@st.composite
def quadratics(draw: st.DrawFn) -> Quadratic:
    """Any quadratic function of up to five variables: squares, pairs twice and in both orders, zeros."""
    size = draw(st.integers(0, 5))
    pair = st.integers(0, max(size - 1, 0))
    terms = draw(st.lists(st.tuples(pair, pair, _coefficient), max_size=8 if size else 0))
    return Quadratic(
        np.array(draw(st.lists(_coefficient, min_size=size, max_size=size)), dtype=np.float64),
        np.array([i for i, _, _ in terms], dtype=np.int64),
        np.array([j for _, j, _ in terms], dtype=np.int64),
        np.array([w for _, _, w in terms], dtype=np.float64),
        draw(_coefficient),
        draw(st.booleans()),
    )


def value(quadratic: Quadratic, assignment: tuple[int, ...]) -> float:
    """The definition, term by term."""
    x = [2 * a - 1 if quadratic.spin else a for a in assignment]
    total = quadratic.offset + sum(c * x[i] for i, c in enumerate(quadratic.linear.tolist()))
    rows, columns, weights = quadratic.rows.tolist(), quadratic.columns.tolist(), quadratic.weights.tolist()
    return total + sum(w * x[i] * x[j] for i, j, w in zip(rows, columns, weights, strict=True))


@settings(max_examples=100, deadline=None)
@given(quadratic=quadratics(), spin=st.booleans())
def test_there_and_back(quadratic: Quadratic, spin: bool) -> None:
    """A problem costs what the function's definition says, and is the same function of bits or of spins again."""
    problem = problem_of(quadratic)
    again = quadratic_of(problem, spin=spin)
    for assignment in itertools.product((0, 1), repeat=len(quadratic.linear)):
        assert problem.cost(assignment) == pytest.approx(value(quadratic, assignment))
        assert value(again, assignment) == pytest.approx(value(quadratic, assignment))
    assert (again.rows < again.columns).all()
    assert again.weights.all()


def test_equal_weights_share_a_table() -> None:
    """Memory is for different weights, not for couplings."""
    rng = np.random.default_rng(0)
    rows, columns = np.triu_indices(100, 1)
    problem = problem_of(Quadratic(np.ones(100), rows, columns, rng.choice([-1.0, 1.0], len(rows)), spin=True))
    assert problem.num_factors == 100 + len(rows)
    assert len(problem.pool) == 2 + 2 * 4
    assert problem.names.labels(7) == (-1, 1)


def test_pairs_are_added_up() -> None:
    """Both orders of a pair are one coupling, one that cancels is none."""
    found = simplified(
        Quadratic(np.zeros(3), np.array([0, 1, 2, 1]), np.array([1, 0, 1, 2]), np.array([1.0, 2, 3, -3]))
    )
    assert (found.rows.tolist(), found.columns.tolist(), found.weights.tolist()) == ([0], [1], [3.0])


@pytest.mark.parametrize("seed", range(5))
def test_cuts(seed: int) -> None:
    """The cost is the weight of the cut as NetworkX counts it, of a multigraph with loops, too."""
    rng = np.random.default_rng(seed)
    rows, columns, weights = rng.integers(0, 6, 12), rng.integers(0, 6, 12), rng.integers(-3, 4, 12).astype(float)
    problem = cut_problem(6, rows, columns, weights)
    graph = nx.Graph()
    graph.add_nodes_from(range(6))
    for i, j, w in zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True):
        graph.add_edge(i, j, weight=w + graph.get_edge_data(i, j, {"weight": 0})["weight"])
    assert problem.maximize
    for assignment in itertools.product((0, 1), repeat=6):
        ones = [i for i, a in enumerate(assignment) if a]
        assert problem.cost(assignment) == nx.cut_size(graph, ones, weight="weight")


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (Problem([2, 3]), "'x1' has 3"),
        (Problem([2, 2, 2], [0, 1, 2], [0, 3], np.zeros(8), [0, 8]), "factor 'f0' has 3"),
        (Problem([2], [0], [0, 1], [0, np.inf], [0, 2]), "cannot forbid"),
    ],
)
def test_what_is_not_quadratic(problem: Problem, reason: str) -> None:
    """One sentence says what is in the way."""
    with pytest.raises(ProblemError, match=reason):
        quadratic_of(problem, spin=False)


def test_coefficients_are_finite() -> None:
    """A NaN does not become a table."""
    with pytest.raises(ProblemError, match="a coefficient is nan"):
        problem_of(Quadratic(np.array([1, np.nan]), np.zeros(0, int), np.zeros(0, int), np.zeros(0)))

"""Elimination orders: what makes a problem narrow."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dabp.graph import elimination_order as ordering
from dabp.graph.elimination_order import elimination_order
from dabp.problem import Problem
from dabp.problem.guard import Guard


def problem_of(graph: nx.Graph, size: int = 2) -> Problem:
    scopes = np.array(graph.edges(), dtype=np.int64).reshape(-1, 2)
    tables = 1 if len(scopes) else 0
    return Problem(
        np.full(len(graph), size),
        scopes.ravel(),
        2 * np.arange(len(scopes) + 1),
        np.zeros(size * size * tables),
        np.arange(tables + 1) * size * size,
        np.zeros(len(scopes), dtype=np.int64),
    )


def induced_width(graph: nx.Graph, order: list[int]) -> int:
    near = {v: set(graph[v]) for v in graph}
    width = 0
    for v in order:
        others = near.pop(v)
        width = max(width, len(others))
        for u in others:
            near[u] = (near[u] | others) - {u, v}
    return width


def plain_min_fill(graph: nx.Graph) -> list[int]:
    near, order = {v: set(graph[v]) for v in graph}, []

    def badness(v: int) -> tuple[int, int, int]:
        missing = sum(1 for a in near[v] for b in near[v] if a < b and b not in near[a])
        return missing, len(near[v]), v

    while near:
        v = min(near, key=badness)
        order.append(v)
        others = near.pop(v)
        for u in others:
            near[u] = (near[u] | others) - {u, v}
    return order


@pytest.mark.parametrize("seed", range(5))
def test_it_is_min_fill(seed: int) -> None:
    """The incrementally kept fill counts give the order that counting afresh gives, and the width told is its width."""
    graph = nx.gnp_random_graph(40, 0.2, seed=seed)
    graph.add_edges_from((v, (v + 1) % 40) for v in range(40))  # no leaves: those are peeled first
    found = elimination_order(problem_of(graph))
    assert found.order.tolist() == plain_min_fill(graph)
    assert found.width == induced_width(graph, found.order.tolist())


def test_looks_at_the_guard_change_nothing_and_may_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Min-fill is the same in steps of one vertex; ended in its midst it gives a sweep, which is not remembered."""
    monkeypatch.setattr(ordering, "BETWEEN_LOOKS", 1)
    graph = nx.gnp_random_graph(40, 0.2, seed=7)
    graph.add_edges_from((v, (v + 1) % 40) for v in range(40))
    expected, problem = plain_min_fill(graph), problem_of(graph)
    looks = iter([False] * 60)
    ended = elimination_order(problem, guard=Guard(interrupted=lambda: next(looks, True)))
    assert sorted(ended.order.tolist()) == list(range(40))
    assert ended.width is not None
    assert induced_width(graph, expected) < induced_width(graph, ended.order.tolist()) <= ended.width
    assert elimination_order(problem).order.tolist() == expected


@pytest.mark.parametrize(
    ("graph", "width"),
    [
        (nx.empty_graph(3), 0),
        (nx.path_graph(50), 1),
        (nx.star_graph(30), 1),
        (nx.cycle_graph(70), 2),
        (nx.complete_graph(9), 8),
    ],
)
def test_known_widths(graph: nx.Graph, width: int) -> None:
    """Graphs whose treewidth is known get exactly that."""
    found = elimination_order(problem_of(graph))
    assert found.width == width
    assert sorted(found.order.tolist()) == list(range(len(graph)))


def test_large_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large for min-fill is ordered by least degree first; a sweep is left where degrees are too large."""
    graph = nx.random_regular_graph(4, 60, seed=1)
    monkeypatch.setattr(ordering, "DENSE_LIMIT", 20)
    found = elimination_order(problem_of(graph))
    assert found.width == induced_width(graph, found.order.tolist())
    monkeypatch.setattr(ordering, "DEGREE_LIMIT", 3)
    swept = elimination_order(problem_of(graph))
    assert swept.width is not None
    assert found.width < induced_width(graph, swept.order.tolist()) <= swept.width
    assert sorted(swept.order.tolist()) == list(range(60))


def test_single_values_do_not_connect() -> None:
    """A variable with one value widens nothing."""
    problem = Problem([3, 1, 3, 3], [0, 1, 2, 1, 3], [0, 3, 5], np.zeros(12), [0, 9, 12])
    assert elimination_order(problem).width == 1


def test_an_order_is_computed_once() -> None:
    """A complete order also serves those who would give up at a larger width; a narrower one is found anew."""
    problem = problem_of(nx.cycle_graph(9))
    found = elimination_order(problem)
    assert elimination_order(problem) is found
    assert elimination_order(problem, widest=2) is found
    assert elimination_order(problem, widest=1).width is None


@pytest.mark.parametrize("seed", range(5))
def test_least_degree_is_that_of_a_plain_reading(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled on sorted lists, the order is the one that plain sets give: least degree, then least index."""
    monkeypatch.setattr(ordering, "DENSE_LIMIT", 0)
    graph = nx.random_regular_graph(3, 30, seed=seed)
    near, expected = {v: set(graph[v]) for v in sorted(graph)}, []
    while near:
        v = min(near, key=lambda u: (len(near[u]), u))
        expected.append(v)
        others = near.pop(v)
        for u in others:
            near[u] = (near[u] | others) - {u, v}
    found = elimination_order(problem_of(graph))
    assert found.order.tolist()[: len(expected)] == expected
    assert found.width == induced_width(graph, found.order.tolist())


def test_what_is_surely_too_wide_is_given_up_at_once() -> None:
    """A complete graph is known to be wide from its degrees; a grid that is not is ordered in the end."""
    assert elimination_order(problem_of(nx.complete_graph(60)), widest=20).width is None
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(10, 10))
    assert elimination_order(problem_of(grid), widest=20).width == elimination_order(problem_of(grid)).width


def test_a_guard_ends_it_and_nothing_unfinished_is_kept() -> None:
    """Stopped before it began, the order has every variable and no width; asked again with time, it has one."""
    problem = problem_of(nx.cycle_graph(40))
    stopped = elimination_order(problem, guard=Guard(time_limit=0.0))
    assert stopped.width is None
    assert sorted(stopped.order.tolist()) == list(range(40))
    assert elimination_order(problem).width == 2


@pytest.mark.parametrize(("rows", "columns"), [(5, 40), (7, 7), (12, 60)])
def test_a_grid_is_as_narrow_as_its_short_side(rows: int, columns: int) -> None:
    """A sweep beats min-fill on grids, and the width that is told holds for the order."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    found = elimination_order(problem_of(graph))
    assert induced_width(graph, found.order.tolist()) <= found.width <= rows + 1


@pytest.mark.parametrize("seed", range(6))
def test_the_width_of_a_sweep_holds(seed: int) -> None:
    """Eliminating in the order of a sweep meets at most as many neighbours as it says, on graphs of all kinds."""
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(int(rng.integers(1, 60)), float(rng.uniform(0.0, 0.3)), seed=seed)
    order, width = ordering._swept_order(len(graph), ordering.edges(problem_of(graph)))
    assert sorted(order.tolist()) == sorted(graph)
    assert induced_width(graph, order.tolist()) <= width

"""Tables are kept as bytes exactly where these tell every cost, and give the numbers of the graph bit for bit."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.graph.byte_costs import byte_unit, fits_bytes
from dabp.problem import Problem


def _problem(low: float, high: float, unary: float = 0.0) -> Problem:
    tables = [((0, 1), np.array([[low, high], [high, low]])), ((1, 2), np.array([[low, low], [high, low]]))]
    return Problem.from_tables([2, 2, 2], [*tables, ((0,), np.array([0.0, unary]))])


@pytest.mark.parametrize("high", [1, 2, 3, 7, 93, 94, 100, 101, 127, 128, 254, 255])
def test_whole_costs_to_255_fit(high: int) -> None:
    """Whatever the range, hence the scale, products with the unit are the numbers of the graph."""
    problem = _problem(0, high, unary=1e6)
    graph = FactorGraph.from_problem(problem)
    assert fits_bytes(problem, graph)
    whole = np.arange(high + 1, dtype=np.float32)
    assert np.array_equal(whole * byte_unit(graph), (whole.astype(np.float64) / graph.cost_scale).astype(np.float32))
    cells = np.rint(graph.groups[0].tables * np.float32(graph.cost_scale))
    assert np.array_equal(cells * byte_unit(graph), graph.groups[0].tables)
    assert set(cells.ravel().tolist()) == {0.0, float(high)}


@pytest.mark.parametrize(("low", "high"), [(-1, 100), (0, 256), (-300, -200), (0, 2**22)])
def test_other_costs_do_not_fit(low: int, high: int) -> None:
    """Below 0 or above 255."""
    problem = _problem(low, high)
    assert not fits_bytes(problem, FactorGraph.from_problem(problem))


def test_double_precision_and_scales_with_long_inverses_do_not_fit() -> None:
    """What is not exact stays as it is."""
    problem = _problem(0, 100)
    assert not fits_bytes(problem, FactorGraph.from_problem(problem, dtype=np.float64))
    assert not fits_bytes(problem, FactorGraph.from_problem(problem, cost_scale=50.0))
    assert not fits_bytes(problem, FactorGraph.from_problem(problem, cost_scale=1e35))
    assert fits_bytes(problem, FactorGraph.from_problem(problem, cost_scale=64.0))


def test_without_pairs_nothing_fits() -> None:
    """There are no tables."""
    problem = Problem.from_tables([2, 2], [((0,), np.array([0.0, 3.0]))])
    assert not fits_bytes(problem, FactorGraph.from_problem(problem))

"""What starts of reinforced belief propagation draw, and how that follows from the budget."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.reinforcement import affordable_iterations, first_draw, random_draw


@pytest.fixture(scope="module")
def graph() -> FactorGraph:
    return FactorGraph.from_problem(generate("random-cop", variables=30, domain=5, density=0.3, seed=0))


def test_a_first_start_ends_in_time(graph: FactorGraph) -> None:
    """The rate asked for is kept while 1 / rate iterations fit, and grows as they do not."""
    assert first_draw(0.2, 1e-3, graph, Budget()).rate == 1e-3
    assert first_draw(0.2, 1e-3, graph, Budget(max_iterations=5000)).rate == 1e-3
    assert first_draw(0.2, 1e-3, graph, Budget(max_iterations=100)).rate == pytest.approx(0.01)
    hurried = [first_draw(0.2, 1e-4, graph, Budget(time_limit=seconds)).rate for seconds in (1e-3, 1e-2, 1e4)]
    assert hurried[0] > hurried[1] > hurried[2] == 1e-4


def test_the_tighter_limit_counts(graph: FactorGraph) -> None:
    """Iterations that both limits allow; more time never allows fewer."""
    by_time = affordable_iterations(graph, Budget(time_limit=1.0))
    assert by_time is not None
    assert affordable_iterations(graph, Budget()) is None
    assert affordable_iterations(graph, Budget(time_limit=1.0, max_iterations=by_time // 2)) == by_time // 2
    assert affordable_iterations(graph, Budget(time_limit=1.0, max_iterations=10 * by_time)) == by_time
    assert affordable_iterations(graph, Budget(time_limit=2.0)) == pytest.approx(2 * by_time, rel=0.01)


def test_later_starts_differ_and_fit(graph: FactorGraph) -> None:
    """Draws are different from each other, valid, and no slower than the budget allows."""
    rng = np.random.default_rng(0)
    draws = [random_draw(rng, graph, Budget(max_iterations=1000)) for _ in range(50)]
    assert len({draw.damping for draw in draws}) == 50
    for draw in draws:
        assert 0 <= draw.damping < 1
        assert draw.rate >= 1e-3
        assert draw.unary is not None
        assert len(draw.unary) == len(graph.unary)
        assert draw.unary.min() >= 0


def test_tables_of_many_variables_take_longer() -> None:
    """A cell counts for each variable: where it did not, starts were planned ten times too long, and never froze."""
    rng = np.random.default_rng(0)
    scopes = {2: [(i, j) for i in range(16) for j in range(i)], 6: [tuple(range(k, k + 6)) for k in range(8)]}
    graphs = {
        arity: FactorGraph.from_problem(
            Problem.from_tables([4] * 16, [(scope, rng.random((4,) * arity)) for scope in scopes[arity]])
        )
        for arity in scopes
    }
    each = {arity: affordable_iterations(graph, Budget(time_limit=1e6)) or 0 for arity, graph in graphs.items()}
    assert each[6] * graphs[6].num_cells < each[2] * graphs[2].num_cells
    assert 1e15 / each[6] > 6 * graphs[6].num_cells

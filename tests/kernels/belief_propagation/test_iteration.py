"""When iterations end, why, and what they keep."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.iteration import gain_of
from dabp.kernels.belief_propagation.message_arrays import CONVERGED, RUNNING, SETTLED, Rules
from dabp.solvers.belief_propagation.engine import MinSum
from tests.kernels.belief_propagation.equations import mixed_problem


def started(seed: int, damping: float = 0.5, largest: int = 4) -> MinSum:
    problem = mixed_problem(seed, largest, arities=(1, 1, 2))
    engine = MinSum(problem, FactorGraph.from_problem(problem))
    engine.reset(damping)
    return engine


def test_convergence_is_noticed() -> None:
    """Damped messages on a small problem stop changing, and the run says so; without a tolerance it goes on."""
    costs, why = started(7).run(2000, Rules(tolerance=1e-4))
    assert why == CONVERGED
    assert len(costs) < 2000
    again, why = started(7).run(2000, Rules())
    assert why == RUNNING
    assert np.array_equal(again[: len(costs)], costs)


def test_values_that_stand_still_settle_a_run() -> None:
    """With patience the run ends so many iterations after the last change of a value, hence of its cost."""
    engine = started(7)
    costs, why = engine.run(2000, Rules(patience=25))
    assert why == SETTLED
    assert len(set(costs[-25:].tolist())) == 1


def test_the_best_of_all_starts_is_kept() -> None:
    """A second start that is worse does not lose the first one's assignment, whose cost is the least of both traces."""
    problem = mixed_problem(3, 6)
    engine = MinSum(problem, FactorGraph.from_problem(problem))
    least = np.inf
    for damping in (0.3, 0.9):
        engine.reset(damping)
        least = min(least, engine.run(60, Rules())[0].min())
        assert engine.best_cost == least
        assert problem.cost(engine.memory.best) == least


@pytest.mark.parametrize("rate", [0.0, 1e-3, 0.2])
def test_reinforcement_grows_towards_one(rate: float) -> None:
    """``g_t`` follows its recurrence ``g_t = g_(t−1) + rate (1 − g_(t−1))``; negative without reinforcement."""
    g = 0.0
    for iteration in range(1, 50):
        g += rate * (1.0 - g)
        assert gain_of(rate, iteration) == pytest.approx(g if rate else -1.0)


@pytest.mark.parametrize("damping", [0.0, 0.9])
def test_factors_are_priced_however_many_values_change(damping: float) -> None:
    """After every iteration each factor's cost is that of the assignment, whether few variables moved or most."""
    moved = set()
    for seed in range(6):
        problem = mixed_problem(seed, 6)
        engine = MinSum(problem, FactorGraph.from_problem(problem))
        engine.reset(damping)
        for _ in range(40):
            engine.run(1, Rules())
            assert np.array_equal(engine.memory.priced, problem.factor_costs(engine.memory.assignment))
            moved.add(bool(engine.memory.moved.mean() > 0.25))
    assert moved == {True, False}

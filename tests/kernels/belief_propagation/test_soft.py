"""Messages at a finite temperature: the equations in plain Python, min-sum in the limit, nothing lost on the way."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import CONVERGED, Rules
from dabp.problem import Problem
from dabp.solvers.belief_propagation import engine as min_sum_engine
from dabp.solvers.belief_propagation.engine import MinSum
from dabp.solvers.belief_propagation.schedule import Phases, Ramp, Schedule
from dabp.solvers.belief_propagation.soft_engine import SoftMessages
from tests.kernels.belief_propagation.equations import mixed_problem, slow_run, v2f_of

SCHEDULE = Schedule(40, Ramp(0.5, 8.0, geometric=True), Ramp(0.0, 0.3, 1.3), 0.1)


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize(("split", "beta"), [(None, 0.05), (None, 3.0), (0.8, 1.0), (None, 60.0), (0.95, 400.0)])
def test_iterations_follow_the_equations(lanes, split, beta, monkeypatch):
    """Arity 1 to 4, domains of 1 to 12 values, split copies, β that rises and reinforcement, at any temperature."""
    problem = mixed_problem(int(beta), 12, arities=(1, 2, 2, 3, 4) if lanes == 16 else (1, 2, 2, 3))
    monkeypatch.setattr(min_sum_engine, "lane_count", lambda graph: lanes)
    graph = FactorGraph.from_problem(problem, split_ratio=split, dtype=np.float32, perturbation=1e-3)
    engine = SoftMessages(problem, graph, hottest=beta)
    engine.reset(0.3)
    betas, gains = beta * np.array([1.0, 1.0, 1.5, 1.5, 2.0]), np.array([-1.0, 0.05, 0.1, 0.1, 0.1])
    engine.run_softly(Phases(betas, gains), Rules())
    expected = slow_run(problem, graph, 0.3, gains, betas)[1][-1]
    np.testing.assert_allclose(v2f_of(engine), expected, atol=2e-5 * max(1.0, 1 / beta), rtol=2e-5)


def test_the_limit_is_min_sum():
    """At β = 10⁶ ten iterations decode what min-sum decodes, and messages differ by log D / β."""
    problem = mixed_problem(3, 9)
    graph = FactorGraph.from_problem(problem, dtype=np.float32, perturbation=1e-3)
    hard, soft = MinSum(problem, graph), SoftMessages(problem, graph, hottest=1e6)
    hard.reset(0.4)
    soft.reset(0.4)
    costs, _ = hard.run(10, Rules())
    np.testing.assert_array_equal(soft.run_softly(Phases(np.full(10, 1e6), np.full(10, -1.0)), Rules())[0], costs)
    np.testing.assert_allclose(v2f_of(soft), v2f_of(hard), atol=1e-4)


def test_an_infinite_beta_is_min_sum():
    """Bit for bit: the messages, with tables whose least cost is taken off in both."""
    problem = mixed_problem(3, 9)
    graph = FactorGraph.from_problem(problem, dtype=np.float32, perturbation=1e-3)
    runs = []
    for beta in (None, np.inf):
        engine = SoftMessages(problem, graph, hottest=1.0)
        engine.reset(0.4)
        costs = engine.run(10, Rules())[0] if beta is None else None
        costs = engine.run_softly(Phases(np.full(10, beta), np.full(10, -1.0)), Rules())[0] if beta else costs
        runs.append((costs, v2f_of(engine)))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


def test_messages_beyond_the_range_of_weights_are_exact():
    """Tables of very different size in one problem: the sums that weights would lose are made another way."""
    rng = np.random.default_rng(0)
    scales = [1e-4, 1.0, 1e3, 1e6, 1e9]
    tables = [((i, (i + 1) % 5), rng.random((6, 6)) * scale) for i, scale in enumerate(scales)]
    problem = Problem.from_tables([6] * 5, tables)
    graph = FactorGraph.from_problem(problem, dtype=np.float32, perturbation=0.0)
    engine = SoftMessages(problem, graph, hottest=2.0)
    engine.reset(0.2)
    engine.run_softly(Phases(np.full(4, 2.0), np.full(4, -1.0)), Rules())
    expected = slow_run(problem, graph, 0.2, [-1.0] * 4, [2.0] * 4)[1][-1]
    np.testing.assert_allclose(v2f_of(engine), expected, rtol=1e-5, atol=1e-5 + 1e-6 * np.abs(expected).max())


def test_hubs_stay_finite():
    """A variable with 3,000 neighbours at a high and a low temperature."""
    rng = np.random.default_rng(1)
    problem = Problem.from_tables([4] * 3001, [((0, i), rng.integers(0, 100, (4, 4))) for i in range(1, 3001)])
    graph = FactorGraph.from_problem(problem, dtype=np.float32)
    for beta in (1e-3, 1.0, 1e4):
        engine = SoftMessages(problem, graph, hottest=beta)
        engine.reset(0.0)
        engine.run_softly(Phases(np.full(5, beta), np.full(5, 0.3)), Rules())
        for array in (engine.memory.v2f, engine.memory.f2v, engine.memory.field):
            assert np.isfinite(array).all()


@pytest.mark.parametrize("arity", [3, 5, 10, 11])
@pytest.mark.parametrize("beta", [0.5, 4.0, 15.0])
def test_factors_of_several_variables_beside_large_messages(arity, beta):
    """Values that others make improbable to any degree, forbidden cells, and more variables than weights hold."""
    rng = np.random.default_rng(arity)
    count, size = arity + 2, 3 if arity < 10 else 2
    scopes = [tuple(rng.permutation(count)[:arity].tolist()) for _ in range(3)]
    tables = [(scope, 8 * rng.random((size,) * arity)) for scope in scopes]
    for _, table in tables:
        table[rng.random(table.shape) < 0.1] = np.inf
    unary = [((i,), rng.choice([0.0, 5.0, 40.0, 90.0], size) + rng.random(size)) for i in range(count)]
    problem = Problem.from_tables([size] * count, [*tables, *unary])
    graph = FactorGraph.from_problem(problem, dtype=np.float32, cost_scale=1.0, perturbation=0.0)
    engine = SoftMessages(problem, graph, hottest=beta)
    engine.reset(0.1)
    engine.run_softly(Phases(np.full(3, beta), np.full(3, -1.0)), Rules())
    expected = slow_run(problem, graph, 0.1, [-1.0] * 3, [beta] * 3)[1][-1]
    np.testing.assert_allclose(v2f_of(engine), expected, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize(("forbidden", "split"), [(0.0, None), (0.1, None), (0.0, 0.9)])
def test_blocks_and_threads_change_nothing(forbidden, split, monkeypatch):
    """A run whole, in blocks of 7 and with three threads."""
    monkeypatch.setattr(min_sum_engine, "WORTH_THREADS", 0)
    problem = mixed_problem(5, 6, forbidden=forbidden)
    graph = FactorGraph.from_problem(problem, split_ratio=split, dtype=np.float32)
    outcomes = []
    for threads, block in ((1, 40), (1, 7), (3, 40), (3, 9)):
        engine = SoftMessages(problem, graph, threads, hottest=0.5)
        engine.reset(0.5)
        costs: list[float] = []
        while len(costs) < 40:
            count = min(block, 40 - len(costs))
            costs += engine.run_softly(SCHEDULE.phases(len(costs), count), Rules())[0].tolist()
        outcomes.append((costs, engine.memory.v2f.tobytes(), engine.memory.best.tolist()))
        engine.close()
    assert all(outcome == outcomes[0] for outcome in outcomes)


def test_a_run_ends_where_messages_stop_changing():
    """The rules of min-sum hold: converged at a high temperature, and told after which iteration."""
    problem = mixed_problem(1, 5)
    graph = FactorGraph.from_problem(problem, dtype=np.float32)
    engine = SoftMessages(problem, graph, hottest=0.05)
    engine.reset(0.0)
    costs, why = engine.run_softly(Phases(np.full(500, 0.05), np.full(500, -1.0)), Rules(tolerance=1e-3))
    assert why == CONVERGED
    assert len(costs) == engine.iterations < 500

"""The fused iteration at a temperature: blocks of any length and any number of threads give the same bits."""

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.memory import CONVERGED, Rules
from dabp.solvers.belief_propagation import engine as min_sum_engine
from dabp.solvers.belief_propagation.schedule import Phases, Ramp, Schedule
from dabp.solvers.belief_propagation.soft_engine import SoftMessages
from tests.kernels.belief_propagation.equations import mixed_problem

SCHEDULE = Schedule(40, Ramp(0.5, 8.0, geometric=True), Ramp(0.0, 0.3, 1.3), Ramp(0.1, 0.6))


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

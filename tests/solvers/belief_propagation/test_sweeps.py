"""Coolings: never worse than their start, the same in blocks of any length, rare where they find nothing."""

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.belief_propagation import sweeps as module
from dabp.solvers.belief_propagation.sweeps import EACH, Sweeps
from dabp.solvers.descent import descended


def cooled(problem: Problem, start: np.ndarray, iterations: int = 20, chance: float = 0.5) -> tuple[float, Sweeps]:
    """What a cooling comes to."""
    sweeps = Sweeps(problem, 1, Guard())
    sweeps.begin(start, iterations, 0.5, chance)
    while sweeps.under_way:
        sweeps.go_on()
    best = sweeps.best()
    cost, before = np.inf if best is None else float(problem.cost(best)), float(problem.cost(start))
    assert sweeps.improved == (cost < before)
    assert sweeps.gain == (np.inf if np.isinf(before) else pytest.approx(before - cost))
    return cost, sweeps


@pytest.mark.parametrize("kind", ["random-cop", "graph-coloring"])
def test_answers_of_a_descent_are_improved(kind):
    """On most of ten problems, and made worse on none."""
    better = 0
    for seed in range(10):
        problem = dabp.generate(kind, variables=60, density=0.2, seed=seed)
        start = descended(problem, np.zeros(60, dtype=np.int64), Guard())
        cost, _ = cooled(problem, start)
        assert cost <= problem.cost(start)
        better += cost < problem.cost(start)
    assert better >= 8


def test_blocks_change_nothing(monkeypatch):
    """The clock decides how many sweeps a step has, and nothing else."""
    problem = dabp.generate("random-cop", variables=40, density=0.2, seed=1)
    start = np.zeros(40, dtype=np.int64)
    usual, _ = cooled(problem, start)
    monkeypatch.setattr(module, "BLOCK_SECONDS", 0.0)
    monkeypatch.setattr(module, "FIRST_BLOCK", 1)
    assert cooled(problem, start)[0] == usual


def test_there_is_hope_once_something_was_found():
    """It falls with each cooling that finds nothing, and one that does restores it."""
    table = np.array([[0.0, 9.0], [9.0, 9.0]])
    problem = Problem.from_tables([2, 2, 2], [((0, 1), table), ((1, 2), table), ((0, 2), table)])
    _, sweeps = cooled(problem, np.zeros(3, dtype=np.int64))
    assert sweeps.hope == 0.25
    sweeps.begin(np.ones(3, dtype=np.int64), 10, 0.5, 0.3)
    while sweeps.under_way:
        sweeps.go_on()
    assert np.array_equal(sweeps.best(), [0, 0, 0])
    assert sweeps.hope == 1.0
    assert sweeps.length == 10 * EACH


def test_infeasible_answers_are_mended():
    """Sweeps penalise what is forbidden, and hand out what is not."""
    rng = np.random.default_rng(1)
    pairs = [(i, j) for i in range(8) for j in range(max(0, i - 3), i)]
    tables = [(pair, np.where(np.eye(6) > 0, np.inf, rng.random((6, 6)))) for pair in pairs]
    cost, _ = cooled(Problem.from_tables([6] * 8, tables), np.zeros(8, dtype=np.int64))
    assert np.isfinite(cost)


def test_what_was_learned_is_taken_up_again():
    """Temperatures and hope; what cannot be is refused."""
    problem = dabp.generate("random-cop", variables=20, density=0.3, seed=1)
    _, sweeps = cooled(problem, np.zeros(20, dtype=np.int64))
    state = sweeps.state_dict()
    again = Sweeps(problem, 1, Guard())
    again.load_state_dict(state)
    assert again.state_dict() == state
    with pytest.raises(ValueError, match="coolings"):
        again.load_state_dict({**state, "found": 2, "tried": 1})
    with pytest.raises(ValueError, match="temperatures"):
        again.load_state_dict({**state, "cycle": [1.0, 2.0, 3.0]})

"""How preparations end."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.status import Status
from dabp.solvers.stopped import Stopped, ask


def test_the_guard_is_asked() -> None:
    """Nothing happens while there is time; then the reason is given."""
    ask(Guard())
    with pytest.raises(Stopped, match="time limit"):
        ask(Guard(time_limit=0.0))


@pytest.mark.parametrize("solver", ["annealing", "tabu", "dsa", "mgm", "toulbar2", "dual", "dabp"])
@pytest.mark.parametrize("domain", [2, 3])
def test_no_time_to_prepare_is_a_limit(solver: str, domain: int) -> None:
    """A search whose deadline passed before it was ready says so in its first step, and takes offers without harm."""
    table = np.random.default_rng(0).integers(0, 9, domain**2).astype(float)
    problem = Problem([domain] * 3, [0, 1, 1, 2], [0, 2, 4], table, [0, domain**2], [0, 0])
    search = make_solver(solver).start(problem, seed=0, budget=Budget(guard=Guard(time_limit=0.0)))
    search.offer(np.zeros(3, dtype=np.int64), float(problem.cost([0, 0, 0])))
    step = search.step()
    assert step.finished is Status.LIMIT
    assert "time limit" in step.notes[0]
    search.close()


@pytest.mark.parametrize("solver", ["annealing", "tabu", "dsa", "mgm"])
def test_an_interruption_is_heard_between_the_parts(solver: str) -> None:
    """The guard is asked more than once while a problem is compiled."""
    asked = []
    guard = Guard(interrupted=lambda: asked.append(True) or len(asked) > 2)
    problem = dabp.generate("random-cop", variables=10, seed=1)
    search = make_solver(solver).start(problem, seed=0, budget=Budget(guard=guard))
    assert search.step().finished is Status.LIMIT
    assert len(asked) == 3

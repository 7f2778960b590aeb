"""Whatever threads know of each other while they update variables, every factor is priced once."""

from collections.abc import Callable
from typing import Any

import pytest

from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.memory import Rules
from dabp.solvers.belief_propagation import engine as engines
from dabp.solvers.belief_propagation.engine import MinSum
from tests.kernels.belief_propagation.test_pricing import drawn

Stage = Callable[[Any], Any]


class InTurn(MinSum):
    """One part after the other, in an order, instead of in threads; parts may be deaf to what others have done."""

    backwards = deaf = False

    def _each(self, stage: Stage) -> list[Any]:
        results = {}
        for part in reversed(self._parts) if self.backwards else self._parts:
            results[part.number] = stage(part)
            if self.deaf:
                self.memory.meeting.done[:] = 0
        return [results[part.number] for part in self._parts]


@pytest.mark.parametrize("ratio", [None, 0.95])
@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize(("backwards", "deaf"), [(False, False), (True, False), (False, True)])
def test_costs_are_the_problems(
    monkeypatch: pytest.MonkeyPatch, threads: int, ratio: float | None, backwards: bool, deaf: bool
) -> None:
    """If each thread begins after another's end, in either order, and if nobody knows of anybody."""
    monkeypatch.setattr(engines, "WORTH_THREADS", 0)
    problem = drawn(3, 6)
    engine = InTurn(problem, FactorGraph.from_problem(problem, split_ratio=ratio), threads)
    engine.backwards, engine.deaf = backwards, deaf
    engine.reset(0.0)
    for _ in range(20):
        engine.memory.stale[:] = True
        costs, _ = engine.run(1, Rules())
        assert costs[-1] == problem.cost(engine.memory.assignment)
        assert engine.memory.meeting.seen.any() != deaf
    engine.close()

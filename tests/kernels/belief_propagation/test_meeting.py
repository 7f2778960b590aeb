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
    stages = 0

    def _each(self, stage: Stage) -> list[Any]:
        results = {}
        self.stages += 1
        for part in reversed(self._parts) if self.backwards else self._parts:
            results[part.number] = stage(part)
            if self.deaf:
                self.memory.meeting.done[:] = 0
        return [results[part.number] for part in self._parts]


@pytest.mark.parametrize("ratio", [None, 0.95])
@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("worth", [0, 10**9])
@pytest.mark.parametrize(("backwards", "deaf"), [(False, False), (True, False), (False, True)])
def test_costs_are_the_problems(
    monkeypatch: pytest.MonkeyPatch, threads: int, ratio: float | None, backwards: bool, deaf: bool, worth: int
) -> None:
    """If threads follow each other, in either order, if none knows of another, and if one does the rest."""
    monkeypatch.setattr(engines, "WORTH_THREADS", 0)
    monkeypatch.setattr(engines, "WORTH_SHARING", worth)
    problem = drawn(3, 6)
    engine = InTurn(problem, FactorGraph.from_problem(problem, split_ratio=ratio), threads)
    engine.backwards, engine.deaf = backwards, deaf
    engine.reset(0.0)
    for _ in range(20):
        engine.memory.stale[:] = True
        before = engine.stages
        costs, _ = engine.run(1, Rules())
        assert costs[-1] == problem.cost(engine.memory.assignment)
        assert engine.memory.meeting.seen.any() != deaf
        if engine.memory.stale[0]:  # otherwise factors are looked up, too
            assert engine.stages - before == (1 if worth else 2)
    engine.close()

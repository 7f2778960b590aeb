"""Limited by iterations members take turns: the same seed, the same result, also when stopped and resumed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.driver.checkpoint import saving
from dabp.driver.stopping import Progress
from dabp.lab.generators import generate
from dabp.solvers.status import Status
from tests.solvers.auto.shapes import beside, cliques


def test_same_seed_same_result_when_limited_by_iterations() -> None:
    """Members take turns, and no clock decides anything."""
    problem = cliques(1, 16, 4)
    results = [dabp.solve(problem, "auto", max_iterations=700, seed=5) for _ in range(2)]
    assert results[0].cost == results[1].cost
    assert (results[0].assignment == results[1].assignment).all()
    assert np.array_equal(results[0].trace.iteration_costs, results[1].trace.iteration_costs)
    assert results[0].iterations == 700


@pytest.mark.parametrize("components", [1, 2])
def test_turns_resume_where_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, components: int) -> None:
    """Limited by iterations, a run that is stopped and resumed again and again equals the undisturbed one."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    problem = cliques(1, 30, 6)
    if components == 2:  # the smaller one is eliminated first
        problem = beside(cliques(1, 5, 3, seed=1), problem)
    limits: dict[str, Any] = {"max_iterations": 4000, "seed": 3, "presolve": False}
    whole = dabp.solve(problem, "auto", **limits)
    path = tmp_path / "c"

    def stopping_after(blocks: int) -> Callable[[Progress], bool]:
        left = itertools.count(blocks, -1)
        return lambda progress: next(left) == 0

    for run in range(3):
        stops = [stopping_after(12)] if run < 2 else []
        part = dabp.solve(problem, "auto", checkpoint=path, resume=run > 0, callbacks=stops, **limits)
    assert np.array_equal(part.trace.iteration_costs, whole.trace.iteration_costs)
    assert [row[1:] for row in part.trace.improvements] == [row[1:] for row in whole.trace.improvements]
    assert part.bound == whole.bound
    assert np.array_equal(part.assignment, whole.assignment)


@pytest.mark.parametrize("narrow", [False, True])
def test_a_turn_that_is_stopped_tells_what_it_has_found(narrow: bool) -> None:
    """Stopped after any step, a run that is limited by iterations has the best of its trace to show."""
    problem = generate("random-cop", variables=60, seed=0)
    if narrow:  # a component of one more variable, which is eliminated first
        problem = problem.replace(
            domain_sizes=[*problem.domain_sizes, 2],
            scope_variables=[*problem.scope_variables, 60],
            scope_offsets=[*problem.scope_offsets, len(problem.scope_variables) + 1],
            pool=[*problem.pool, 7.0, 5.0],
            pool_offsets=[*problem.pool_offsets, len(problem.pool) + 2],
            factor_table=[*problem.factor_table, problem.num_factors],
            variable_names=None,
            factor_names=None,
        )
    for steps in (1, 2, 5):
        seen = itertools.count(1)
        stop = [lambda p: p.iterations > 0 and next(seen) >= steps]  # noqa: B023
        result = dabp.solve(problem, "auto", max_iterations=100_000, callbacks=stop, presolve=False)
        assert result.status is Status.INTERRUPTED
        assert result.cost == result.trace.iteration_costs.min()
        assert any("found the answer" in note for note in result.notes)


def test_turns_can_be_stopped_in_the_midst() -> None:
    """A turn may be long; the time limit and callbacks do not wait for its end."""
    problem = cliques(1, 60, 10)
    lengths: list[int] = []
    result = dabp.solve(
        problem,
        "auto",
        max_iterations=10**9,
        time_limit=0.5,
        presolve=False,
        callbacks=[lambda progress: lengths.append(progress.iterations)],
    )
    assert result.status is Status.LIMIT
    assert len(lengths) > len(result.trace.records)

"""What all local searches share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dabp


def colouring(variables: int = 60, edges: int = 138) -> dabp.Problem:
    """Of a graph that can be coloured with three: 0 is the optimum, and the least that there could be."""
    rng = np.random.default_rng(4)
    pairs = [(i, j) for i in range(variables) for j in range(i) if i % 3 != j % 3]
    chosen = rng.choice(pairs, edges, replace=False).tolist()
    return dabp.Problem.from_tables([3] * variables, [(pair, np.eye(3)) for pair in chosen])


@pytest.mark.parametrize(
    "problem",
    [dabp.generate("random-cop", variables=30, domain=6, density=0.5, seed=0), colouring()],
    ids=["open", "proved"],
)
@pytest.mark.parametrize("solver", ["annealing", "tabu", "dsa", "mgm"])
def test_blocks_of_any_length_give_one_run(monkeypatch: pytest.MonkeyPatch, problem: dabp.Problem, solver: str) -> None:
    """Where the clock cuts a run into blocks decides nothing: cycles are planned with what is left at their start."""
    traces = []
    for seconds in (1e-9, 1e-4, 1e9):
        monkeypatch.setattr("dabp.solvers.local_search.local_search.BLOCK_SECONDS", seconds)
        traces.append(dabp.solve(problem, solver, max_iterations=600, seed=3).trace.iteration_costs)
    assert np.array_equal(traces[0], traces[1])
    assert np.array_equal(traces[0], traces[2])


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
@pytest.mark.parametrize(("file", "optimum"), [("zebra.wcsp", 0), ("donald.wcsp", 0), ("example.wcsp", 27)])
def test_real_instances_with_hard_constraints(shared_instances: Path, solver: str, file: str, optimum: int) -> None:
    """Weights lead to a feasible answer, and to the optimum, on public instances with n-ary hard constraints."""
    problem = dabp.read(shared_instances / file)
    result = dabp.solve(problem, solver, max_iterations=200_000, target=optimum, seed=1)
    assert result.cost == optimum


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
def test_checkpoints_on_disk(tmp_path: Path, solver: str) -> None:
    """Interrupted, saved and resumed, a run takes the course of one that was not."""
    problem = dabp.generate("graph-coloring", variables=15, seed=1)
    file = tmp_path / "state.dabp"
    whole = dabp.solve(problem, solver, max_iterations=3000, seed=2)
    stop = [lambda progress: progress.iterations > 500]
    first = dabp.solve(problem, solver, max_iterations=3000, seed=2, checkpoint=file, callbacks=stop)
    second = dabp.solve(problem, solver, max_iterations=3000, seed=2, checkpoint=file, resume=True)
    assert first.iterations < 3000 == second.iterations
    assert second.cost == whole.cost
    tail = second.trace.iteration_costs
    np.testing.assert_array_equal(tail, whole.trace.iteration_costs[-len(tail) :])


@pytest.mark.parametrize("solver", ["annealing", "tabu", "forest-lns", "gat-pcm-lns"])
def test_a_finished_run_is_resumed_with_a_higher_limit(tmp_path: Path, solver: str) -> None:
    """What ended at its limit goes on to a higher one, and ends at once under the same."""
    problem = dabp.generate("graph-coloring", variables=15, seed=1)
    limits = {"seed": 2, "checkpoint": tmp_path / "state.dabp", "time_limit": 60.0}
    whole = dabp.solve(problem, solver, max_iterations=40, seed=2)
    assert dabp.solve(problem, solver, max_iterations=20, **limits).iterations == 20
    assert dabp.solve(problem, solver, max_iterations=20, resume=True, **limits).iterations == 20
    longer = dabp.solve(problem, solver, max_iterations=40, resume=True, **limits)
    assert longer.iterations == 40
    if solver in ("forest-lns", "gat-pcm-lns"):  # the schedules of the others depend on the limit
        np.testing.assert_array_equal(longer.trace.iteration_costs[-20:], whole.trace.iteration_costs[-20:])

"""Online learning: any problem, every preset, resumed bit for bit, and the records of the trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.driver.result import Result
from dabp.problem import Problem
from dabp.problem.facts import minimized
from dabp.solvers import make_solver
from dabp.solvers.base import Budget, Search
from dabp.solvers.belief_propagation.bp import BeliefPropagation
from dabp.solvers.dabp import Dabp
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem

PRESETS = ("dabp", "dabp-heter", "dabp-homo", "dabp-static")
SHORT = {"restarts": 2, "max_iterations_per_restart": 12, "update_interval": 5}


def small_problem() -> Problem:
    return dabp.generate("random-cop", variables=8, domain=4, density=0.6, seed=3)


def run(search: Search, iterations: int | None = None) -> list[float]:
    """Costs until the end, or the first boundary after so many iterations."""
    costs: list[float] = []
    while True:
        step = search.step()
        costs += step.costs.tolist()
        if step.finished or (iterations is not None and len(costs) >= iterations and search.at_boundary):
            return costs


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", range(6))
def test_solves_whatever_a_problem_can_be(name: str, seed: int) -> None:
    """Any arity, mixed domains, forbidden combinations, no factors: an exact cost that no assignment beats."""
    problem = random_problem(seed)
    result = dabp.solve(problem, name, params=SHORT, seed=seed)
    optimum = exhaustive_optimum(problem)
    if result.cost is not None:
        assert optimum is not None
        assert (result.cost <= optimum + 1e-9) if problem.maximize else (result.cost >= optimum - 1e-9)
    assert result.iterations >= 1


def test_finds_the_optimum_of_small_problems() -> None:
    """On eight variables the best of a few restarts is the optimum."""
    problem = small_problem()
    result = dabp.solve(problem, "dabp", params={"restarts": 5, "max_iterations_per_restart": 60}, time_limit=300)
    assert result.cost == exhaustive_optimum(problem)


@pytest.mark.parametrize("name", ["dabp", "dabp-static"])
def test_resumed_equals_uninterrupted(name: str) -> None:
    """From a state taken at any window boundary the search continues bit for bit."""
    problem, budget = small_problem(), Budget()
    solver = make_solver(name, {**SHORT, "learning_rate": 1e-2, "tolerance": 0.0})
    whole = solver.start(problem, seed=5, budget=budget)
    expected = run(whole)
    for boundary in (5, 10, 12, 17):
        first = solver.start(problem, seed=5, budget=budget)
        done = run(first, boundary)
        second = solver.start(problem, seed=5, budget=budget)
        second.load_state_dict(first.state_dict())
        assert done + run(second) == expected
        ours, theirs = second.state_dict(), whole.state_dict()
        assert ours.keys() == theirs.keys()
        for key in ours:
            np.testing.assert_array_equal(ours[key], theirs[key])


def test_learning_changes_the_network_and_static_does_not() -> None:
    """A window's update moves every parameter; without learning a restart has a network of its own."""
    problem = small_problem()
    learner = make_solver("dabp", SHORT).start(problem, seed=0, budget=Budget())
    before = {k: v.copy() for k, v in learner.state_dict().items() if k.startswith("parameter.")}
    run(learner, 5)
    assert all(not np.array_equal(before[k], learner.state_dict()[k]) for k in before)
    static = make_solver("dabp-static", {**SHORT, "tolerance": 0.0}).start(problem, seed=0, budget=Budget())
    before = {k: v.copy() for k, v in static.state_dict().items() if k.startswith("parameter.")}
    run(static, 5)
    assert all(np.array_equal(before[k], static.state_dict()[k]) for k in before)
    run(static, 15)
    assert any(not np.array_equal(before[k], static.state_dict()[k]) for k in before)


ITERATIONS = 60


def costs_of(search: Search) -> np.ndarray:
    """Of every iteration until the end or `ITERATIONS`."""
    done: list[float] = []
    while len(done) < ITERATIONS:
        step = search.step()
        done += step.costs.tolist()
        if step.finished is not None:
            break
    search.close()
    return np.array(done[:ITERATIONS])


def constant_damping(problem: Problem, seed: int, **options: object) -> Search:
    """DABP that does not learn, whose scores are all σ(0): λ = 1/2 everywhere."""
    solver = Dabp(learning=False, restarts=1, dtype="float64", **options)
    search = solver.start(problem, seed=seed, budget=Budget(max_iterations=ITERATIONS))
    state = search.state_dict()
    state["parameter.score"][:] = 0.0
    state["parameter.score_bias"][:] = 0.0
    search.load_state_dict(state)
    return search


def with_double_precision(problem: Problem) -> Problem:
    """A forbidden combination more, on two variables of its own: BP then calculates in float64."""
    sizes = [*problem.domain_sizes.tolist(), 2, 2]
    return problem.replace(
        domain_sizes=sizes,
        scope_variables=[*problem.scope_variables.tolist(), len(sizes) - 2, len(sizes) - 1],
        scope_offsets=[*problem.scope_offsets.tolist(), len(problem.scope_variables) + 2],
        pool=[*problem.pool.tolist(), 0.0, 1.0, 2.0, np.inf],
        pool_offsets=[*problem.pool_offsets.tolist(), len(problem.pool) + 4],
        factor_table=[*problem.factor_table.tolist(), len(problem.pool_offsets) - 1],
        variable_names=None,
        factor_names=None,
        labels=None,
    )


@pytest.mark.parametrize(
    "problem",
    [
        *(random_problem(seed, maximize=False) for seed in (2, 5, 8, 11, 14, 17)),
        dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=3),
        dabp.generate("scale-free", variables=25, m0=4, m1=3, domain=5, seed=3),
    ],
    ids=lambda problem: problem.name,
)
@pytest.mark.parametrize("weights", ["uniform", "learned"])
def test_without_learning_it_is_dbp_scfg(problem: Problem, weights: str) -> None:
    """Uniform weights (given, or from equal scores) and constant damping: every iteration's cost is dbp-scfg's."""
    problem = with_double_precision(problem)
    ours = costs_of(constant_damping(problem, 4, weights=weights, max_iterations_per_restart=1000, update_interval=25))
    solver = BeliefPropagation(damping=0.5, split_ratio=0.95, exact_forests=False)
    theirs = costs_of(solver.start(problem, seed=4, budget=Budget(max_iterations=ITERATIONS)))
    shorter = min(len(ours), len(theirs))  # DABP also ends when costs have settled
    assert shorter > 1
    np.testing.assert_allclose(ours[:shorter], theirs[:shorter], rtol=1e-12)


def test_iterations_end_at_the_limit() -> None:
    """A limit inside a window is kept exactly, and every iteration's candidate is in the trace."""
    result = dabp.solve(small_problem(), "dabp", max_iterations=7)
    assert result.iterations == 7
    assert result.status is Status.LIMIT
    assert result.cost == min(result.trace.iteration_costs)


def test_checkpoint_file_continues_the_solve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solve stopped at a limit and resumed from its file ends as one that was never stopped."""
    monkeypatch.setattr("dabp.driver.checkpoint.saving.CAPTURE_SECONDS", 0.0)
    problem = small_problem()
    whole = dabp.solve(problem, "dabp", params=SHORT)
    file = tmp_path / "state"
    dabp.solve(problem, "dabp", params=SHORT, max_iterations=13, checkpoint=file)
    resumed = dabp.solve(problem, "dabp", params=SHORT, checkpoint=file, resume=True)
    np.testing.assert_array_equal(resumed.trace.iteration_costs, whole.trace.iteration_costs)
    np.testing.assert_array_equal(resumed.assignment, whole.assignment)
    assert resumed.cost == whole.cost


def test_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels share their work so that every number is the same on one and on two threads."""
    monkeypatch.setattr("dabp.solvers.dabp.thread_shares.SHORT_NANOSECONDS", 1.0)
    problem = small_problem()
    one, two = (dabp.solve(problem, "dabp", params=SHORT, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.trace.iteration_costs, two.trace.iteration_costs)
    assert [record["loss"] for record in one.trace.records] == [record["loss"] for record in two.trace.records]


def test_same_seed_same_run_on_real_costs() -> None:
    """Ties between assignments are broken by costs to the last bit, whatever blocks the clock cut the run into."""
    problem = dabp.generate("graph-coloring", variables=40, density=0.25, seed=0)
    runs = [dabp.solve(problem, "dabp", params={"restarts": 1}, max_iterations=120, seed=5) for _ in range(3)]
    for run in runs[1:]:
        assert np.array_equal(run.trace.iteration_costs, runs[0].trace.iteration_costs)
        assert losses(run) == losses(runs[0])


def losses(result: Result) -> list[float]:
    return [record["loss"] for record in result.trace.records if "loss" in record]


def test_a_restart_ends_in_the_iteration_that_converges() -> None:
    """Convergence is tested each iteration as for BP: a restart need not go on to its window's end."""
    problem = dabp.generate("random-cop", variables=6, domain=3, density=0.5, seed=1)
    params = {"restarts": 3, "update_interval": 50, "tolerance": 1e-3, "learning_rate": 1e-2}
    result = dabp.solve(problem, "dabp", params=params)
    ends = [record for record in result.trace.records if "converged" in record]
    assert [end["restart"] for end in ends] == [0, 1, 2]
    assert all(end["converged"] and 1 < end["iterations"] < 50 for end in ends)
    assert result.iterations == sum(end["iterations"] for end in ends)
    assert len({record["loss"] for record in ends}) == 3, "restarts cut short are learned from, so that they differ"


@pytest.mark.parametrize(("restarts", "longest"), [(1, 200), (1, 2), (2, 200)])
def test_finished_restarts_have_the_status_of_belief_propagation(restarts: int, longest: int) -> None:
    """One restart that converged is CONVERGED; a restart cut off and several restarts are a LIMIT, as for BP."""
    problem = dabp.generate("random-cop", variables=6, domain=3, density=0.5, seed=1)
    params = {"restarts": restarts, "max_iterations_per_restart": longest}
    ours, theirs = (dabp.solve(problem, solver, params=params) for solver in ("dabp", "dbp-scfg"))
    assert ours.status is theirs.status
    assert ours.status is (Status.CONVERGED if (restarts, longest) == (1, 200) else Status.LIMIT)


@pytest.mark.parametrize("seed", [0, 3, 5, 6, 9])
def test_learns_on_mixed_domains(seed: int) -> None:
    """Domains of different sizes and forbidden combinations: after an update every parameter is finite, some moved."""
    problem = minimized(random_problem(seed))
    search = make_solver("dabp", {**SHORT, "tolerance": 0.0}).start(problem, seed=0, budget=Budget())
    before = {k: v.copy() for k, v in search.state_dict().items() if k.startswith("parameter.")}
    run(search, 5)
    after = search.state_dict()
    assert all(np.isfinite(after[key]).all() for key in before)
    assert search.place.skipped == 0
    if search.structure.num_edges:
        assert any(not np.array_equal(before[key], after[key]) for key in before)


def test_a_window_that_cannot_be_learned_from_is_noted() -> None:
    """Costs whose sums overflow float32 leave the network as it was, with a note; in float64 it learns."""
    problem = small_problem()
    params = {**SHORT, "tolerance": 0.0, "cost_scale": 1e-36}
    search = make_solver("dabp", params).start(problem, seed=0, budget=Budget())
    before = {k: np.copy(v) for k, v in search.state_dict().items() if k.startswith(("parameter.", "mean", "square"))}
    run(search, 5)
    after = search.state_dict()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert after["updates"] == 0
    noted = dabp.solve(problem, "dabp", params=params)
    windows = len(noted.trace.records)
    assert sum(record.get("skipped", False) for record in noted.trace.records) == windows - 2, "but the short last ones"
    assert any(f"{windows - 2} of {windows} windows were not learned from" in note for note in noted.notes)
    fine = dabp.solve(problem, "dabp", params={**params, "dtype": "float64"})
    assert not any("windows were not learned from" in note for note in fine.notes)


def test_the_network_may_infer_once_a_window() -> None:
    """The first iteration of a window is the paper's, λ and w stay to its end, and learning goes on."""
    problem, params = small_problem(), {**SHORT, "tolerance": 0.0, "learning_rate": 1e-2}
    every, seldom = (
        make_solver("dabp", {**params, "network_interval": n}).start(problem, seed=0, budget=Budget()) for n in (1, 5)
    )
    before = {k: v.copy() for k, v in seldom.state_dict().items() if k.startswith("parameter.")}
    assert run(every, 5)[:2] == run(seldom, 5)[:2], "messages of the first two iterations come from the same weights"
    after, theirs = seldom.state_dict(), every.state_dict()
    assert all(not np.array_equal(before[key], after[key]) for key in before)
    assert any(not np.array_equal(theirs[key], after[key]) for key in before)
    once = make_solver("dabp", {**params, "network_interval": 99}).start(problem, seed=0, budget=Budget())
    run(once, 5)
    for key in before:
        np.testing.assert_array_equal(once.state_dict()[key], after[key], err_msg="counted within a window")

"""Belief propagation as a solver: exact on forests, ties broken, restarts, limits, warm starts and resuming."""

import math

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.problem.facts import minimized
from dabp.solvers import make_solver
from dabp.solvers.base import FIRST_BLOCK, Budget
from dabp.solvers.belief_propagation import engine as min_sum_engine
from dabp.solvers.belief_propagation.message_search import first_block
from dabp.solvers.status import Status
from tests.solvers.belief_propagation.test_exact_forest import exhaustive, random_forest

PRESETS = ["bp", "dbp", "dbp-scfg", "bp-reinforced"]


def coloring(seed: int, crisp: bool) -> tuple[Problem, np.ndarray]:
    """40 vertices, 3 colours, edges only between planted classes: equal colours cost 1 or are forbidden."""
    rng = np.random.default_rng(seed)
    planted = rng.integers(0, 3, size=40)
    pairs = np.array([(i, j) for i in range(40) for j in range(i) if planted[i] != planted[j]])
    edges = pairs[rng.permutation(len(pairs))[:70]]
    table = np.where(np.eye(3), np.inf if crisp else 1.0, 0.0)
    steps = np.arange(len(edges) + 1)
    problem = Problem(np.full(40, 3), edges.ravel(), 2 * steps, table.ravel(), [0, 9], np.zeros(len(edges), dtype=int))
    return problem, planted


def cop(seed: int = 0) -> Problem:
    return generate("random-cop", variables=12, domain=4, density=0.5, seed=seed)


@pytest.mark.parametrize("maximize", [False, True])
def test_forests_end_optimal(maximize):
    """A forest is answered in one step with a proof: the optimum and its bound, or infeasibility."""
    for seed in range(40):
        problem = random_forest(1000 + seed, forbidden=0.1 * (seed % 5), maximize=maximize)
        best = exhaustive(minimized(problem))
        result = dabp.solve(problem, "bp")
        if np.isinf(best):
            assert (result.status, result.cost) == (Status.INFEASIBLE, None)
        else:
            sign = -1 if maximize else 1
            assert result.status is Status.OPTIMAL
            assert result.cost == result.bound == sign * best


def test_undamped_messages_are_exact_on_forests():
    """Iterating instead of the two passes finds the optimum too; the perturbation keeps tied optima apart."""
    for seed in range(60):
        problem = minimized(random_forest(2000 + seed, forbidden=0.1 * (seed % 4)))
        best = exhaustive(problem)
        result = dabp.solve(problem, "bp", params={"exact_forests": False}, max_iterations=40)
        assert result.cost == (None if np.isinf(best) else best)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("crisp", [False, True])
def test_symmetric_problems_do_not_stay_symmetric(name, crisp):
    """Colouring without noise: all messages would stay zero and every variable take its first value."""
    problem, _ = coloring(1, crisp)
    search = make_solver(name, {"restarts": 1}).start(problem, seed=0, budget=Budget())
    while (step := search.step()).finished is None:
        pass
    assert step is not None
    values = search.state_dict()["assignment"]
    assert len(np.unique(values)) == 3
    soft = problem.replace(pool=np.where(np.isinf(problem.pool), 1.0, problem.pool))
    assert soft.cost(values) < 0.5 * soft.cost(np.zeros(40, dtype=int))


@pytest.mark.parametrize("name", PRESETS)
def test_threads_and_repetition_change_nothing(name, monkeypatch):
    """Same seed, same trace, with one thread and with two."""
    monkeypatch.setattr(min_sum_engine, "WORTH_THREADS", 0)
    results = [
        dabp.solve(cop(), name, params={"restarts": 2}, max_iterations=150, seed=5, threads=threads)
        for threads in (1, 1, 2)
    ]
    traces = [result.trace.iteration_costs.tolist() for result in results]
    assert traces[0] == traces[1] == traces[2]
    assert results[0].values == results[2].values


def test_restarts_differ_and_are_recorded():
    """Starts after the first draw their damping per edge; the trace tells how each ended."""
    params = {"restarts": 4, "jitter": 0.3, "damping": 0.5, "max_iterations_per_restart": 30, "tolerance": 0.0}
    result = dabp.solve(cop(), "dbp-scfg", params=params)
    assert result.status is Status.LIMIT
    assert result.iterations == 120
    assert [record["restart"] for record in result.trace.records] == [0, 1, 2, 3]
    assert result.trace.records[0]["damping"] == 0.5
    assert len({record["damping"] for record in result.trace.records}) == 4


def test_a_single_start_converges():
    """Damped messages that stop changing end the solve before its 1,000 iterations."""
    result = dabp.solve(cop(), "dbp-scfg")
    assert result.status is Status.CONVERGED
    assert result.iterations < 1000


def test_reinforcement_settles_and_goes_on_until_the_limit():
    """Without a limit reinforced BP ends when its values are frozen; with one it starts again until there."""
    assert dabp.solve(cop(), "bp-reinforced", time_limit=math.inf).status is Status.CONVERGED
    result = dabp.solve(cop(), "bp-reinforced", max_iterations=2000)
    assert (result.status, result.iterations) == (Status.LIMIT, 2000)
    assert len(result.trace.records) > 1


@pytest.mark.parametrize("name", PRESETS)
def test_resuming_continues_bit_for_bit(name, monkeypatch):
    """A search loaded from a saved state goes on as the one that was saved, over the end of a start."""
    monkeypatch.setattr("dabp.solvers.belief_propagation.message_search.FIRST_BLOCK", 1)  # saved within a start
    solver = make_solver(name, {"restarts": 3, "jitter": 0.2, "max_iterations_per_restart": 40})
    one, other = (solver.start(cop(), seed=2, budget=Budget(max_iterations=200)) for _ in range(2))
    for _ in range(3):
        one.step()
    other.load_state_dict(one.state_dict())
    tails = []
    for search in (one, other):
        costs: list[float] = []
        while True:
            step = search.step()
            costs += step.costs.tolist()
            if step.finished is not None:
                break
        tails.append((costs, step.finished))
    assert tails[0] == tails[1]


def test_warm_start_begins_at_the_assignment():
    """The first candidate of a warm start is the given solution where nothing speaks against it."""
    problem, planted = coloring(2, crisp=False)
    search = make_solver("dbp").start(problem, seed=0, budget=Budget(), initial=planted)
    assert search.step().costs[0] == 0.0


def test_fixed_variables_stay_fixed():
    """`fix` holds with message passing too."""
    problem = cop()
    name = problem.names.variable(3)
    label = problem.names.labels(3)[2]
    assert dabp.solve(problem, "dbp-scfg", fix={name: label}).values[name] == label


@pytest.mark.parametrize(
    "params", [{"damping": 1.0}, {"split_ratio": 0.0}, {"restarts": 0}, {"reinforcement": -1.0}, {"cost_scale": 0.0}]
)
def test_senseless_parameters_are_refused(params):
    """A wrong parameter is an error that names it."""
    with pytest.raises(ParameterError, match=next(iter(params))):
        make_solver("bp", params)


@pytest.mark.parametrize("arity", [2, 3])
def test_a_first_block_is_short_where_tables_are_shared(arity: int) -> None:
    """What an iteration looks at grows with the factors, however few different tables they have."""
    count, cells = 30_000, 4**arity
    scopes = (np.arange(count)[:, None] + np.arange(arity)) % count
    problem = Problem(
        np.full(count, 4), scopes.ravel(), arity * np.arange(count + 1), np.arange(cells), [0, cells], [0] * count
    )
    assert first_block(FactorGraph.from_problem(problem)) == max(1, FIRST_BLOCK // (count * cells))
    assert first_block(FactorGraph.from_problem(coloring(0, crisp=False)[0])) > 100

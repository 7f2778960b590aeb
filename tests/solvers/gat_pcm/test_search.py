"""The search on problems of every shape, against exhaustive search and its own promises."""

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget
from dabp.solvers.gat_pcm.cost_tables import structure
from dabp.solvers.gat_pcm.search import GatPcmLns
from dabp.solvers.status import Status
from tests.lab.cost_model.trees import pairwise
from tests.problems import drawn_problem, exhaustive


def run(search):
    """All costs, and the best assignment with its cost."""
    costs, best, best_cost = [], None, np.inf
    while True:
        step = search.step()
        costs += step.costs.tolist()
        if step.best is not None and step.best_cost < best_cost:
            best, best_cost = step.best, step.best_cost
        if step.finished is not None:
            return costs, best, best_cost, step.finished


def test_any_problem():
    """Any arity, mixed domains, forbidden combinations: exact costs, one per cycle, and never below the optimum."""
    reached, feasible = 0, 0
    for seed in range(60):
        problem = drawn_problem(np.random.default_rng(seed), dense=seed % 2 == 0)
        optimum, _ = exhaustive(problem)
        search = GatPcmLns(max_cycles=30, destroy_probability=0.5).start(problem, seed=seed, budget=Budget())
        costs, best, best_cost, finished = run(search)
        assert finished is Status.LIMIT
        assert len(costs) == 30
        assert best_cost >= optimum
        if best is not None:
            assert problem.cost(best) == best_cost
        feasible += np.isfinite(optimum)
        reached += bool(best_cost == optimum and np.isfinite(optimum))
    assert reached >= 0.8 * feasible


def test_single_free_variables_take_their_exact_best_value():
    """With one variable freed at a time the search is a descent: no cycle is worse than the one before."""
    problem = pairwise(np.random.default_rng(0), n=30, extra=60)
    values = generator(5).integers(problem.domain_sizes)
    arrays = structure(problem)
    search = GatPcmLns(max_cycles=200, destroy_probability=1 / 30).start(
        problem, seed=1, budget=Budget(), initial=values
    )
    # Components of more than one variable are guided by the model, so only cycles with single ones are compared.
    before, compared = problem.cost(values), 0
    costs, *_ = run(search)
    for cycle, cost in enumerate(costs):
        rng = generator(1, 1, cycle)
        freed = np.flatnonzero(rng.random(30) < 1 / 30)
        neighbours = {int(w) for v in freed for w in arrays.neighbour[arrays.begin[v] : arrays.begin[v + 1]]}
        if not neighbours & set(freed.tolist()):
            assert cost <= before
            compared += 1
        before = cost
    assert compared > 100


def test_same_seed_same_run_and_resume():
    """The seed decides everything, and a checkpoint continues bit for bit."""
    problem = pairwise(np.random.default_rng(3))
    solver = GatPcmLns(max_cycles=60)
    costs, best, *_ = run(solver.start(problem, seed=4, budget=Budget()))
    again, same, *_ = run(solver.start(problem, seed=4, budget=Budget()))
    assert costs == again
    assert np.array_equal(best, same)
    assert costs != run(solver.start(problem, seed=5, budget=Budget()))[0]

    first = GatPcmLns(max_cycles=25).start(problem, seed=4, budget=Budget())
    run(first)
    second = solver.start(problem, seed=4, budget=Budget())
    second.load_state_dict(first.state_dict())
    assert run(second)[0] == costs[25:]


def test_starts_from_a_given_assignment_and_takes_offers():
    """An initial assignment is the first candidate; a better one from elsewhere becomes the next starting point."""
    problem = pairwise(np.random.default_rng(6))
    _, good, good_cost, _ = run(GatPcmLns(max_cycles=100).start(problem, seed=0, budget=Budget()))
    search = GatPcmLns(max_cycles=1).start(problem, seed=1, budget=Budget(), initial=good)
    assert run(search)[2] <= good_cost
    search = GatPcmLns(max_cycles=1, destroy_probability=1e-9).start(problem, seed=1, budget=Budget())
    search.offer(good, good_cost)
    assert run(search)[0] == [good_cost]


@pytest.mark.parametrize(
    "wrong", [{"destroy_probability": 0.0}, {"destroy_probability": 1.5}, {"max_cycles": 0}, {"cost_scale": -1.0}]
)
def test_parameters_are_checked(wrong):
    """Impossible parameters are refused when the solver is made."""
    with pytest.raises(ParameterError):
        GatPcmLns(**wrong)

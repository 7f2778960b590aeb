"""The search on problems of every shape, against exhaustive search and its own promises."""

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.kernels.cost_model.repair import destroy
from dabp.problem import Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget
from dabp.solvers.gat_pcm.search import GatPcmLns
from dabp.solvers.gat_pcm.structure import MAX_LEVELS, structure
from dabp.solvers.status import Status
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


def pairwise(rng, n=12, domain=4, extra=14):
    edges = {(int(rng.integers(i)), i) for i in range(1, n)}
    while len(edges) < n - 1 + extra:
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        edges.add((i, j))
    scopes = np.array(sorted(edges)).ravel()
    cells = rng.integers(101, size=len(edges) * domain**2)
    return Problem(
        np.full(n, domain),
        scopes,
        2 * np.arange(len(edges) + 1),
        cells,
        domain**2 * np.arange(len(edges) + 1),
    )


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


def test_pseudo_tree():
    """Every pair of destroyed neighbours lies on one path from a root: siblings' subtrees share no constraint."""
    rng = np.random.default_rng(7)
    problem = pairwise(rng, n=40, extra=30)
    arrays = structure(problem)
    destroyed, values = rng.random(40) < 0.5, rng.integers(4, size=40)
    position, assigned = np.empty(40, dtype=np.int64), np.empty(40, dtype=bool)
    penalised, amount = np.empty(160), np.empty(160, dtype=np.float32)
    order = destroy(arrays, destroyed, rng.permutation(40), values, position, penalised, amount, assigned)
    assert sorted(order.tolist()) == np.flatnonzero(destroyed).tolist()
    ancestors: dict[int, set[int]] = {}
    for v in order.tolist():
        earlier = [
            int(w) for w in arrays.neighbour[arrays.begin[v] : arrays.begin[v + 1]] if 0 <= position[w] < position[v]
        ]
        parent = max(earlier, key=lambda w: position[w], default=None)
        ancestors[v] = set() if parent is None else ancestors[parent] | {parent}
        assert set(earlier) <= ancestors[v]
        for a in range(4):
            trial = values.copy()
            trial[v] = a
            expected = sum(
                problem.table(f)[tuple(trial[problem.scope(f)])]
                for f in range(problem.num_factors)
                if v in problem.scope(f) and not destroyed[next(w for w in problem.scope(f) if w != v)]
            )
            assert penalised[arrays.first_value[v] + a] == pytest.approx(expected)


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


def test_many_different_costs_are_rounded_for_the_model_only():
    """Real-valued costs beyond the model's levels keep their exact values for the reported cost."""
    rng = np.random.default_rng(0)
    problem = pairwise(rng, n=12, domain=20, extra=10)
    problem = problem.replace(pool=problem.pool + rng.random(len(problem.pool)))
    arrays = structure(problem)
    assert len(arrays.level_amount) == MAX_LEVELS
    assert np.abs(arrays.level_amount[arrays.level] - arrays.amount).max() < 1.01 / MAX_LEVELS
    costs, best, best_cost, _ = run(GatPcmLns(max_cycles=5).start(problem, seed=0, budget=Budget()))
    assert problem.cost(best) == best_cost <= min(costs)


@pytest.mark.parametrize(
    "wrong", [{"destroy_probability": 0.0}, {"destroy_probability": 1.5}, {"max_cycles": 0}, {"cost_scale": -1.0}]
)
def test_parameters_are_checked(wrong):
    """Impossible parameters are refused when the solver is made."""
    with pytest.raises(ParameterError):
        GatPcmLns(**wrong)

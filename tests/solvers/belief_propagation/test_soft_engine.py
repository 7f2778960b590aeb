"""Belief propagation at a temperature: marginals are exact where there are no cycles, whatever the costs."""

import itertools

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.problem import Problem


def forest(seed: int, forbidden: float = 0.0) -> Problem:
    """Two trees of factors of arity 1 to 4 on variables of 1 to 5 values."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 10)
    scopes = [(0, 1), (1, 2, 3), (3, 4), (5, 6, 7, 8), (8, 9), *((i,) for i in range(10))]
    tables = []
    for scope in scopes:
        table = rng.normal(0, 4, sizes[list(scope)])
        barred = rng.random(table.shape) < forbidden
        barred[(0,) * len(scope)] = False
        tables.append((scope, np.where(barred, np.inf, table)))
    return Problem.from_tables(sizes.tolist(), tables)


def marginals(problem: Problem, temperature: float) -> list[np.ndarray]:
    """By enumeration of all assignments."""
    every = np.array(list(itertools.product(*(range(size) for size in problem.domain_sizes))))
    costs = np.array([problem.cost(row) for row in every])
    weights = np.exp(-(costs - costs.min()) / temperature)
    weights /= weights.sum()
    return [np.bincount(every[:, i], weights, minlength=size) for i, size in enumerate(problem.domain_sizes)]


@pytest.mark.parametrize("temperature", [0.02, 1.0, 7.0, 100.0])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_marginals_of_forests(temperature, forbidden):
    """Against enumeration, cold and hot, with and without forbidden combinations."""
    for seed in range(3):
        problem = forest(seed, forbidden)
        result = dabp.solve(problem, "bp", params={"temperature": temperature, "tolerance": 0.0}, max_iterations=30)
        assert result.beliefs is not None
        expected = marginals(problem, temperature)
        for found, wanted in zip(result.beliefs, expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize(("temperature", "off"), [(10.0, 1e-5), (1.0, 1e-5), (0.1, 1e-4), (0.01, 1e-3)])
def test_marginals_of_whole_numbers_are_not_those_of_broken_ties(temperature, off):
    """Totals that are equal stay equally probable, however cold: what breaks ties must not be seen in marginals."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        parents = [int(rng.integers(child)) for child in range(1, 8)]
        tables = [((parent, child + 1), rng.integers(0, 101, (3, 3))) for child, parent in enumerate(parents)]
        problem = Problem.from_tables([3] * 8, tables)
        result = dabp.solve(problem, "bp", params={"temperature": temperature, "tolerance": 0.0}, max_iterations=30)
        for found, wanted in zip(result.beliefs, marginals(problem, temperature), strict=True):
            np.testing.assert_allclose(found, wanted, atol=off)


def test_what_is_fixed_is_certain():
    """Evidence: marginals of the other variables are conditional, of the fixed one 0 and 1."""
    problem = forest(1)
    variable = int(np.argmax(problem.domain_sizes))
    value = int(problem.domain_sizes[variable]) - 1
    name, label = problem.names.variable(variable), problem.names.labels(variable)[value]
    result = dabp.solve(problem, "bp", params={"temperature": 2.0}, fix={name: label}, max_iterations=50)
    charge = np.full(problem.domain_sizes[variable], 1e6)
    charge[value] = 0
    tables = [(tuple(problem.scope(f)), problem.table(f)) for f in range(problem.num_factors)]
    held = Problem.from_tables(problem.domain_sizes.tolist(), [*tables, ((variable,), charge)])
    for found, wanted in zip(result.beliefs, marginals(held, 2.0), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert result.to_dict(problem)["beliefs"][name][value] == 1.0


def test_beliefs_are_there_only_where_they_are_meant():
    """Min-sum, other solvers and presolved problems give none."""
    problem = forest(0)
    assert dabp.solve(problem, "bp").beliefs is None
    assert dabp.solve(problem, "tabu", max_iterations=10).beliefs is None
    presolved = dabp.solve(problem, "bp", params={"temperature": 1.0}, presolve=True, max_iterations=20)
    assert presolved.beliefs is None
    with pytest.raises(ParameterError, match="temperature"):
        dabp.solve(problem, "bp", params={"temperature": -1.0})


@pytest.mark.parametrize("temperature", [1e-12, 1e12])
def test_absurd_temperatures_end_well(temperature):
    """The coldest picks the optimum of a forest, the hottest tells no value from another."""
    problem = forest(2, 0.2)
    result = dabp.solve(problem, "bp", params={"temperature": temperature, "tolerance": 0.0}, max_iterations=30)
    assert all(np.isfinite(belief).all() for belief in result.beliefs)
    if temperature < 1:
        assert result.cost == pytest.approx(dabp.solve(problem, "bp").cost)


def test_nothing_is_believed_where_nothing_is_feasible():
    """A chain whose ends contradict each other has no distribution: no numbers that look like one, and a note."""
    chain = Problem.from_tables(
        [2, 2], [((0,), [np.inf, 0.0]), ((1,), [np.inf, 0.0]), ((0, 1), [[0.0, 0.0], [0.0, np.inf]])]
    )
    result = dabp.solve(chain, "bp", params={"temperature": 1.0}, max_iterations=30)
    assert result.cost is None
    assert result.beliefs is None
    assert any("no beliefs" in note for note in result.notes)


@pytest.mark.parametrize("temperature", [1.0, 20.0, 1000.0])
def test_a_value_that_one_factor_forbids_and_another_likes_is_impossible(temperature):
    """A prior and evidence: however hot, and however much the allowed value costs."""
    problem = Problem.from_tables([2, 3], [((0,), [0.0, 10.0]), ((0,), [np.inf, 0.0]), ((0, 1), np.ones((2, 3)))])
    result = dabp.solve(problem, "bp", params={"temperature": temperature}, max_iterations=30)
    np.testing.assert_allclose(result.beliefs[0], [0.0, 1.0], atol=1e-30)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, -1e12])
def test_a_constant_of_tables_changes_no_probability(offset):
    """Single precision would lose what matters beside it."""
    table, single = np.array([[0.0, 3.0], [2.0, 1.0]]), np.array([0.0, 0.5])
    plain = Problem.from_tables([2, 2], [((0, 1), table), ((1,), single)])
    moved = Problem.from_tables([2, 2], [((0, 1), table + offset), ((1,), single - 3 * offset)])
    result = dabp.solve(moved, "bp", params={"temperature": 1.0}, max_iterations=30)
    for found, wanted in zip(result.beliefs, marginals(plain, 1.0), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("large", [1e4, 3e4, 1e6])
def test_nothing_that_is_allowed_costs_more_than_what_is_forbidden(large):
    """Soft runs see no relaxation of the problem where some costs are far larger than most."""
    rng = np.random.default_rng(0)
    pairs = [((i, j), 2 * rng.random((3, 3))) for i in range(40) for j in range(i) if rng.random() < 0.15]
    hard = np.array([[np.inf] * 3, [0.0, 1.0, np.inf], [np.inf, 1.0, 0.0]])
    charged = [((i,), np.array([0.0, large, large])) for i in range(10)] + [((i, i + 10), hard) for i in range(10)]
    problem = Problem.from_tables([3] * 40, [*pairs, *charged])
    result = dabp.solve(problem, "bp-learned", params={"polish": False, "min_sum": False}, seed=1, max_iterations=3000)
    best = dabp.solve(problem, "tabu", seed=1, max_iterations=20_000).cost
    assert result.cost is not None
    assert result.cost - 10 * large <= 1.1 * (best - 10 * large)


def test_a_large_domain_takes_no_square_of_it():
    """Beliefs are handed on as they are where nothing is fixed."""
    problem = Problem.from_tables([60_000, 2], [((0, 1), np.random.default_rng(0).random((60_000, 2)))])
    result = dabp.solve(problem, "bp", params={"temperature": 0.1}, max_iterations=5)
    assert result.beliefs[0].sum() == pytest.approx(1.0)


def test_the_last_table_of_several_variables_is_as_long_as_it_is():
    """What lies behind it in memory is no cost: a least cost of 0 would make cells look forbidden."""
    problem = Problem.from_tables([2, 2, 1], [((0, 1, 2), np.array([[[np.inf], [3.0]], [[2.0], [2.0]]]))])
    result = dabp.solve(problem, "bp", params={"temperature": 0.7}, max_iterations=30)
    for found, wanted in zip(result.beliefs, marginals(problem, 0.7), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5)

"""Marginals at a temperature: exact where a solve calls them converged, whatever the damping, restarts and limits."""

import math

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.belief_propagation.marginals import KeptMarginals
from dabp.solvers.status import Status
from tests.solvers.belief_propagation.test_exact_forest import exhaustive, random_forest
from tests.solvers.belief_propagation.test_soft_engine import marginals

ENDED = {Status.CONVERGED, Status.OPTIMAL}


def tree(seed: int, spread: float = 20.0) -> Problem:
    """Eight variables of three values."""
    rng = np.random.default_rng(seed)
    scopes = [(int(rng.integers(child)), child) for child in range(1, 8)]
    return Problem.from_tables([3] * 8, [(scope, rng.normal(0, spread, (3, 3))) for scope in scopes])


def chain(variables: int) -> Problem:
    """Neighbours that are almost sure to be alike, and a slight wish of each that the sum of makes itself felt."""
    alike, wish = np.array([[0.0, 100.0], [100.0, 0.0]]), [0.0, 1.2 / variables]
    pairs = [((i, i + 1), alike) for i in range(variables - 1)]
    return Problem.from_tables([2] * variables, [*pairs, *(((i,), wish) for i in range(variables - 10))])


def off(found: tuple[np.ndarray, ...] | None, wanted: list[np.ndarray]) -> float:
    assert found is not None
    return max(float(abs(a - b).max()) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize(("variables", "damping"), [(300, 0.0), (1500, 0.0), (60, 0.5)])
def test_news_from_afar_are_waited_for(variables, damping):
    """Messages that change little at a time are not those of the end: a chain takes its length, above 1000, too."""
    result = dabp.solve(chain(variables), "bp", params={"temperature": 1.0, "damping": damping}, time_limit=60)
    alike = 1 / (1 + math.exp(-1.2 / variables * (variables - 10)))
    assert result.status in ENDED
    assert off(result.beliefs, [np.array([alike, 1 - alike])] * variables) < 5e-4


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.9, 0.99])
def test_damping_delays_and_changes_nothing(damping):
    """A damped step is short, and yet the way is not at its end: trees against enumeration."""
    for seed in range(5):
        problem = tree(seed)
        result = dabp.solve(problem, "bp", params={"temperature": 10.0, "damping": damping})
        assert result.status in ENDED
        assert off(result.beliefs, marginals(problem, 10.0)) < 1e-4


@pytest.mark.parametrize("temperature", [0.1, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("damping", [0.0, 0.5, 0.9])
def test_cycles_converge_to_what_many_more_iterations_give(temperature, damping):
    """Cold and hot, damped and not: the end is called so when it is reached, though messages are rounded."""
    for seed in range(3):
        problem = generate("random-cop", variables=60, domain=3, density=0.05, seed=seed)
        params = {"temperature": temperature, "damping": damping}
        result = dabp.solve(problem, "bp", params=params)
        assert result.status is Status.CONVERGED
        assert result.iterations < 400
        more = {**params, "tolerance": 0.0, "max_iterations_per_restart": 1500}
        beliefs = dabp.solve(problem, "bp", params=more, max_iterations=1500).beliefs
        assert off(result.beliefs, list(beliefs)) < 2e-3


def ring(seed: int) -> Problem:
    """Seven variables of three values around a cycle, weakly coupled: messages converge quickly."""
    rng = np.random.default_rng(seed)
    pairs = [((i, (i + 1) % 7), rng.normal(0, 1, (3, 3))) for i in range(7)]
    return Problem.from_tables([3] * 7, [*pairs, *(((i,), rng.normal(0, 5, 3)) for i in range(7))])


@pytest.mark.parametrize("cycle", [False, True])
def test_a_new_start_does_not_make_marginals_worse(cycle):
    """Wherever a limit falls, marginals are those of a start that has converged, once one has."""
    problem = ring(0) if cycle else tree(0)
    params = {"temperature": 5.0, "exact_forests": False}
    whole = dabp.solve(problem, "bp", params=params)
    assert whole.status is Status.CONVERGED
    for limit in range(whole.iterations, 4 * whole.iterations):
        result = dabp.solve(problem, "bp", params={**params, "restarts": 5, "jitter": 0.2}, max_iterations=limit)
        assert off(result.beliefs, list(whole.beliefs)) < 2e-4


def test_marginals_of_ended_starts_survive_a_checkpoint(tmp_path):
    """A solve that is resumed in a later start knows what an earlier one has led to."""
    problem, params = ring(1), {"temperature": 5.0, "restarts": 5}
    whole = dabp.solve(problem, "bp", params={"temperature": 5.0})
    path = tmp_path / "state"
    dabp.solve(problem, "bp", params=params, max_iterations=whole.iterations + 1, checkpoint=path)
    result = dabp.solve(problem, "bp", params=params, max_iterations=whole.iterations + 2, checkpoint=path, resume=True)
    assert result.iterations == whole.iterations + 2
    assert off(result.beliefs, list(whole.beliefs)) < 1e-6


def test_a_start_that_did_not_converge_gives_way_to_one_that_did():
    """Of those that have ended the last counts, but none that did not converge after one that did."""
    kept = KeptMarginals()
    ended = [(0, False), (1, False), (2, True), (3, False), (4, True), (5, False)]
    for start, converged in ended:
        kept.keep((np.full(2, start), np.full(3, start)), converged)
        assert kept.flat.tolist() == [{3: 2, 5: 4}.get(start, start)] * 5
    assert [len(each) for each in kept.of_variables(np.array([0, 2]))] == [2, 3]
    with pytest.raises(ValueError, match="marginals"):
        KeptMarginals().load_state_dict(kept.state_dict(), 4)


def test_forests_have_marginals_and_an_optimum_or_are_infeasible():
    """The most probable values of each variable may be forbidden together: against enumeration, with a proof."""
    infeasible = 0
    for seed in range(120):
        problem = random_forest(3000 + seed, forbidden=0.1 * (seed % 5))
        result = dabp.solve(problem, "bp", params={"temperature": 0.7})
        best = exhaustive(problem)
        if np.isinf(best):
            infeasible += 1
            assert (result.status, result.cost, result.beliefs) == (Status.INFEASIBLE, None, None)
            assert any("no beliefs" in note for note in result.notes)
        else:
            assert result.status is Status.OPTIMAL
            assert result.cost == result.bound == best
            assert off(result.beliefs, marginals(problem, 0.7)) < 1e-4
    assert 10 < infeasible < 60


def test_what_is_not_decoded_is_believed_all_the_same():
    """Without the exact passes of forests nothing feasible is found here, and a note says so beside the marginals."""
    table = np.array([[np.inf, 0, 0], [0, np.inf, np.inf], [0, np.inf, np.inf]])
    problem = Problem.from_tables([3, 3], [((0, 1), table)])
    result = dabp.solve(problem, "bp", params={"temperature": 1.0, "exact_forests": False})
    assert result.cost is None
    assert off(result.beliefs, [np.array([0.5, 0.25, 0.25])] * 2) < 1e-5
    assert any("no feasible assignment was found" in note for note in result.notes)


def test_an_optimum_without_converged_marginals_is_no_end():
    """A limit that falls before marginals are exact is told, though the assignment is optimal by then."""
    result = dabp.solve(chain(50), "bp", params={"temperature": 1.0}, max_iterations=20)
    assert (result.status, result.iterations, result.cost, result.bound) == (Status.LIMIT, 20, 0.0, None)


def test_a_forest_is_resumed_as_it_was(tmp_path):
    """What is proved before the first iteration is not lost by a checkpoint, nor what a later iteration proves."""
    problem, path = chain(50), tmp_path / "state"
    params = {"temperature": 1.0}
    dabp.solve(problem, "bp", params=params, max_iterations=20, checkpoint=path)
    resumed = dabp.solve(problem, "bp", params=params, checkpoint=path, resume=True)
    whole = dabp.solve(problem, "bp", params=params)
    assert resumed.status is whole.status is Status.OPTIMAL
    assert resumed.iterations == whole.iterations == 49
    assert off(resumed.beliefs, list(whole.beliefs)) == 0


def test_reinforcement_on_a_forest_ends_with_the_proof():
    """Its beliefs are no marginals, and no later start could find a better assignment."""
    result = dabp.solve(tree(4), "bp", params={"temperature": 1.0, "reinforcement": 0.1}, max_iterations=10_000)
    assert result.status is Status.OPTIMAL
    assert result.cost == pytest.approx(exhaustive(tree(4)))


def test_everything_fixed_is_certain():
    """With no variable left beliefs are 0 and 1, and none if what is fixed is forbidden; min-sum has none."""
    problem = Problem.from_tables([2, 3], [((0, 1), [[0, 1, np.inf], [1, 2, 3]])])
    names = [problem.names.variable(i) for i in range(2)]

    def fixed(second: int, **params: float) -> dabp.Result:
        values = zip(names, (0, second), strict=True)
        fix = {name: problem.names.labels(i)[value] for i, (name, value) in enumerate(values)}
        return dabp.solve(problem, "bp", params=params, fix=fix)

    assert [belief.tolist() for belief in fixed(1, temperature=1.0).beliefs] == [[1, 0], [0, 1, 0]]
    assert fixed(1).beliefs is None
    forbidden = fixed(2, temperature=1.0)
    assert (forbidden.status, forbidden.beliefs) == (Status.INFEASIBLE, None)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_senseless_units_are_refused(scale):
    """Units that no temperature is told apart in; those at the ends of the range give the same marginals."""
    problem, temperature = ring(2), 5.0
    with pytest.raises(ParameterError, match=r"cost_scale must be between 5e-09 and 5e\+09"):
        dabp.solve(problem, "bp", params={"temperature": temperature, "cost_scale": scale})
    usual = dabp.solve(problem, "bp", params={"temperature": temperature}).beliefs
    end = temperature * (1.01e-9 if scale < 1 else 0.99e9)
    found = dabp.solve(problem, "bp", params={"temperature": temperature, "cost_scale": end}).beliefs
    assert off(found, list(usual)) < 1e-4


def test_units_too_small_for_the_costs_are_refused():
    """What pads domains must stay larger than any belief."""
    problem = Problem.from_tables([3, 3], [((0, 1), 1e14 * np.arange(9.0).reshape(3, 3))])
    with pytest.raises(ParameterError, match="too small for these costs"):
        dabp.solve(problem, "bp", params={"temperature": 1e-3, "cost_scale": 1e-10})


def test_one_large_cost_among_small_ones_counts_where_it_is_hot():
    """Half the median range is 5e-11 of the temperature here, and one table's costs are as large as it."""
    tables = [((0, 1), [[0.0, 1.0], [1.0, 0.0]]), ((1, 2), [[0.0, 1.0], [1.0, 0.0]]), ((2,), [0.0, 1e10])]
    problem = Problem.from_tables([2, 2, 2], tables)
    result = dabp.solve(problem, "bp", params={"temperature": 1e10})
    assert off(result.beliefs, marginals(problem, 1e10)) < 1e-4


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_shares_that_are_next_to_nothing_are_refused(temperature):
    """Messages of a copy are divided by its share: below 3e-9 what pads domains became infinite, and beliefs NaN."""
    problem = ring(3)
    for ratio in (1e-9, 1 - 1e-9):
        with pytest.raises(ParameterError, match="split_ratio must be between 0 and 1"):
            dabp.solve(problem, "bp", params={"temperature": temperature, "split_ratio": ratio})
    for ratio in (1e-7, 1 - 1e-7):
        result = dabp.solve(problem, "bp", params={"temperature": temperature, "split_ratio": ratio})
        assert result.status is Status.CONVERGED

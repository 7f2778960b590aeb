"""FactorGraph keeps what a problem says: costs, scopes, forbidden combinations, and numbers its edges as promised."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.graph import FactorGraph
from dabp.graph.factor_graph import smallest_difference
from dabp.problem import Problem
from dabp.problem.facts import derived


def mixed_problem(seed: int = 0, forbidden: float = 0.0, maximize: bool = False) -> Problem:
    """Arities 0 to 3, domains 1 to 4, negative costs, a shared table."""
    rng = np.random.default_rng(seed)
    sizes = [3, 2, 4, 1, 3, 2]
    scopes = [(0, 1), (2, 0), (4, 2), (0, 4), (1, 2, 5), (3, 1), (2,), (2,), (4,), ()]
    pool, table = [], []
    for number, scope in enumerate(scopes):
        cells = rng.integers(-5, 20, size=int(np.prod([sizes[v] for v in scope]))).astype(float)
        cells[rng.random(len(cells)) < forbidden * (len(scope) > 1)] = np.inf
        pool.append(cells)
        table.append(number)
    scopes.append((1, 0))
    table.append(len(pool))
    pool.append(pool[0])
    scopes.append((4, 5))
    table.append(0)  # the table of (0, 1), read for other variables of the same sizes
    offsets = np.cumsum([0, *map(len, scopes)])
    return Problem(
        sizes,
        [v for scope in scopes for v in scope],
        offsets,
        np.concatenate(pool),
        np.cumsum([0, *map(len, pool)]),
        table,
        constant=2.0,
        maximize=maximize,
    )


def graph_cost(graph: FactorGraph, assignment: np.ndarray) -> float:
    """Sum over every copy of every factor, and the unary costs."""
    total = float(graph.unary[graph.variable_offsets[:-1] + assignment].astype(float).sum())
    for group in graph.groups:
        for g in range(group.num_factors):
            cell = tuple(assignment[group.scope[g]])
            total += sum(graph.scales) * float(group.tables[group.table_index[g]][cell])
    return total


def assignments(problem: Problem) -> Iterator[np.ndarray]:
    for values in itertools.product(*(range(d) for d in problem.domain_sizes)):
        yield np.array(values)


@pytest.mark.parametrize("split", [None, 0.95])
def test_graph_has_the_costs_of_the_problem(split):
    """Scaling and splitting change units, not costs; constants and arity 0 stay outside."""
    problem = mixed_problem()
    outside = problem.constant + problem.table(9).item()
    graph = FactorGraph.from_problem(problem, split_ratio=split, dtype=np.float64, perturbation=0.0)
    for assignment in assignments(problem):
        expected = (problem.cost(assignment) - outside) / graph.cost_scale
        assert graph_cost(graph, assignment) == pytest.approx(expected, abs=1e-9)


def test_every_violated_total_exceeds_every_allowed_one():
    """The stand-in for forbidden combinations is exact: it never makes a violated assignment look good."""
    problem = mixed_problem(3, forbidden=0.2)
    graph = FactorGraph.from_problem(problem)
    assert graph.dtype == np.float64
    everything = list(assignments(problem))
    costs = problem.cost(np.array(everything))
    totals = np.array([graph_cost(graph, one) for one in everything])
    assert np.isinf(costs).any()
    assert np.isfinite(costs).any()
    assert totals[np.isinf(costs)].min() > totals[np.isfinite(costs)].max()


@pytest.mark.parametrize("split", [None, 0.7])
def test_edges_are_numbered_as_promised(split):
    """Edge numbers, message slices and the edges of a variable agree with the groups."""
    graph = FactorGraph.from_problem(mixed_problem(), split_ratio=split)
    copies = len(graph.scales)
    seen = []
    for group in graph.groups:
        for g, c, p in itertools.product(range(group.num_factors), range(copies), range(group.arity)):
            edge = group.first + (g * copies + c) * group.arity + p
            seen.append(edge)
            assert graph.edge_variable[edge] == group.scope[g, p]
            assert graph.edge_offsets[edge + 1] - graph.edge_offsets[edge] == group.shape[p]
    assert seen == list(range(graph.num_edges))
    for i in range(graph.num_variables):
        own = graph.variable_edges[graph.variable_edge_offsets[i] : graph.variable_edge_offsets[i + 1]]
        assert own.tolist() == np.flatnonzero(graph.edge_variable == i).tolist()


def test_shared_tables_are_stored_once():
    """Factors that share a table of the problem share one in the graph."""
    problem = mixed_problem()
    graph = FactorGraph.from_problem(problem)
    (group,) = [g for g in graph.groups if g.shape == (3, 2)]
    assert group.num_factors == 2
    assert len(group.tables) == 1


def test_perturbation_is_seeded_and_small():
    """Ties break the same way with the same seed, and never outweigh a cost difference."""
    problem = mixed_problem()
    plain = FactorGraph.from_problem(problem, perturbation=0.0, dtype=np.float64)
    one, same, other = (FactorGraph.from_problem(problem, seed=s, dtype=np.float64) for s in (1, 1, 2))
    assert np.array_equal(one.unary, same.unary)
    assert not np.array_equal(one.unary, other.unary)
    added = one.unary - plain.unary
    assert added.min() >= 0
    assert added.max() * one.cost_scale * problem.num_variables < 0.01


def test_cost_scale_is_half_the_median_range():
    """The default scale is the documented one, a given one is used, and unscalable problems get 1."""
    problem = mixed_problem()
    ranges = [np.ptp(problem.table(f)) for f in range(problem.num_factors)]
    median = np.median([r for r in ranges if r > 0])
    assert FactorGraph.from_problem(problem).cost_scale == median / 2
    assert FactorGraph.from_problem(problem, cost_scale=50).cost_scale == 50
    assert FactorGraph.from_problem(Problem([2, 3])).cost_scale == 1.0


def test_degenerate_problems_compile():
    """No variables, no factors, everything forbidden: a graph all the same."""
    assert FactorGraph.from_problem(Problem([])).num_edges == 0
    empty = FactorGraph.from_problem(Problem([2, 1]))
    assert (empty.num_edges, empty.num_messages, empty.groups) == (0, 0, ())
    closed = Problem([2, 2], [0, 1], [0, 2], [np.inf] * 4, [0, 4])
    assert np.isfinite(FactorGraph.from_problem(closed).groups[0].tables).all()


def test_wrong_parameters_are_refused():
    """A maximisation problem or a senseless parameter is an error in words."""
    with pytest.raises(ParameterError, match="minimisation"):
        FactorGraph.from_problem(mixed_problem(maximize=True))
    with pytest.raises(ParameterError, match="split_ratio"):
        FactorGraph.from_problem(mixed_problem(), split_ratio=1.5)
    with pytest.raises(ParameterError, match="cost_scale"):
        FactorGraph.from_problem(mixed_problem(), cost_scale=0.0)


@pytest.mark.parametrize("scale", [1e-36, 1e-300])
def test_a_scale_that_makes_sums_overflow_is_refused(scale: float) -> None:
    """In a sentence, instead of with messages beyond what pads domains, which decode to values that do not exist."""
    with pytest.raises(ParameterError, match=f"{scale:g} is too small"):
        FactorGraph.from_problem(mixed_problem(), cost_scale=scale)


def test_tables_of_any_magnitudes_fit_beside_each_other() -> None:
    """Most factors near 1e-300 and one near 1e12: the scale of the many would make the one infinite."""
    tables = [np.array([[0.0, 1.0], [2.0, 3.0]]) * size for size in (1e-300, 2e-300, 1e-299, 1e12)]
    problem = Problem.from_tables([2] * 4, [((i, (i + 1) % 4), table) for i, table in enumerate(tables)])
    graph = FactorGraph.from_problem(problem)
    assert max(float(group.tables.max()) for group in graph.groups) < 1e20


def test_the_default_perturbation_follows_thesmallest_difference_within_a_table():
    """Between any two costs of one table that may be paid, whatever sizes tables have; it is looked for once."""
    rng = np.random.default_rng(0)
    for seed in range(3):
        whole = mixed_problem(seed, forbidden=0.2)
        problem = whole.replace(pool=whole.pool + np.round(rng.normal(size=len(whole.pool)), 3))
        tables = (problem.pool[a:b] for a, b in itertools.pairwise(problem.pool_offsets))
        steps = [abs(a - b) for table in tables for a, b in itertools.combinations(table[np.isfinite(table)], 2)]
        assert derived(problem, smallest_difference) == min(step for step in steps if step > 0)
    constant = Problem([2, 2], [0, 1], [0, 2], [0.5] * 4, [0, 4])
    assert smallest_difference(constant) == 1.0

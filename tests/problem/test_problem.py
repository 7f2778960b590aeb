"""Problem: the definition of cost, validation, views."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.problem.facts import derived, minimized


def small(maximize: bool = False) -> Problem:
    """Three variables of 2, 3, 2 values; factors of arity 0, 1, 2, 3, one table shared."""
    bad = -np.inf if maximize else np.inf
    return Problem(
        [2, 3, 2],
        [0, 0, 1, 1, 2, 0, 1, 2],
        [0, 0, 1, 3, 5, 8],
        np.concatenate([[7.0], [1.0, -2.0], [0, 1, 2, 3, 4, bad], np.arange(12.0)]),
        [0, 1, 3, 9, 21],
        [0, 1, 2, 2, 3],
        constant=0.5,
        maximize=maximize,
    )


@pytest.mark.parametrize("maximize", [False, True])
def test_cost_is_the_sum_over_tables(maximize: bool) -> None:
    """One assignment and a batch agree with a sum written out by hand."""
    problem = small(maximize)
    everything = np.array(list(itertools.product(range(2), range(3), range(2))))
    expected = [
        0.5 + sum(problem.table(f)[tuple(row[v] for v in problem.scope(f))] for f in range(problem.num_factors))
        for row in everything
    ]
    assert problem.cost(everything).tolist() == expected
    assert [problem.cost(row) for row in everything] == expected
    assert problem.cost(everything.reshape(4, 3, 3)).shape == (4, 3)


def test_explain_puts_the_violated_first() -> None:
    """Violated factors come first, then the costliest."""
    lines = small().explain([1, 2, 1])
    assert lines[0].violated
    assert [line.cost for line in lines] == sorted((line.cost for line in lines), reverse=True)
    assert [line.scope for line in lines[:2]] == [("x0", "x1"), ("x1", "x2")]
    assert lines[2].values == (1, 2, 1)
    assert small(maximize=True).explain([1, 2, 1])[0].violated


def test_minimized_negates() -> None:
    """The minimisation of a maximisation has the opposite cost everywhere."""
    problem = small(maximize=True)
    assert minimized(problem).cost([0, 1, 1]) == -problem.cost([0, 1, 1])
    assert not minimized(problem).maximize


def test_columns_cannot_be_changed() -> None:
    """A problem is immutable, and independent of the arrays it was made from."""
    sizes = np.array([2, 3])
    problem = Problem(sizes)
    sizes[0] = 5
    assert problem.domain_sizes[0] == 2
    with pytest.raises(ValueError, match="read-only"):
        problem.domain_sizes[0] = 5


def test_equality_ignores_sharing() -> None:
    """Two problems with the same costs are equal, whether tables are shared or not."""
    problem = small()
    tables = [problem.table(f).ravel() for f in range(problem.num_factors)]
    unshared = problem.replace(
        pool=np.concatenate(tables),
        pool_offsets=np.concatenate([[0], np.cumsum([len(t) for t in tables])]),
        factor_table=None,
    )
    assert problem == unshared
    assert problem != unshared.replace(constant=1.0)
    assert len({problem.replace(**change).facts.digest for change in ({}, {"constant": 1.0}, {"limit": 9.0})}) == 3


def test_whole_costs_are_recognised_in_large_pools() -> None:
    """Costs are looked at in blocks; one that is not whole counts wherever it stands, forbidden ones do not."""
    pool = np.full(2**20 + 3, np.inf)
    assert Problem([len(pool)], [0], [0, 1], pool, [0, len(pool)]).facts.integral
    pool[-1] = 0.5
    assert not Problem([len(pool)], [0], [0, 1], pool, [0, len(pool)]).facts.integral


def test_tables_are_reduced_one_by_one() -> None:
    """Empty tables, which nobody uses, give 0 and take nothing from their neighbours, wherever they stand."""
    problem = Problem([2, 2], [0, 1], [0, 1, 2], [3.0, 1.0, 5.0, 4.0], [0, 0, 2, 2, 4, 4], [1, 3])
    assert problem.facts.per_table(np.minimum).tolist() == [0.0, 1.0, 0.0, 4.0, 0.0]
    assert problem.facts.per_table(np.add, np.array([1, 2, 3, 4])).tolist() == [0, 3, 0, 7, 0]
    assert problem.facts.magnitude == 8.0
    for solver in ("dual", "neighbourhood", "tabu", "dbp-scfg", "mbe"):
        assert solve(problem, solver, max_iterations=5).cost == 5.0


def test_no_variables_and_no_factors() -> None:
    """The empty problem has a cost."""
    assert Problem([], constant=3.0).cost([]) == 3.0
    assert Problem([], constant=3.0).cost(np.zeros((4, 0), dtype=np.int64)).tolist() == [3.0] * 4
    assert Problem([4, 4]).cost([[0, 1], [2, 3]]).tolist() == [0.0, 0.0]


def test_a_cost_does_not_depend_on_the_batch() -> None:
    """Real costs are added up in one order, however many assignments are asked about at once."""
    problem = generate("graph-coloring", variables=60, density=0.25, seed=0)
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 7, 40, 300):
        rows = rng.integers(0, problem.domain_sizes, (count, 60))
        assert problem.cost(rows).tolist() == [problem.cost(row) for row in rows]


def test_a_pickle_gives_the_same_read_only_problem() -> None:
    """What comes back from a pickle or a deep copy has the same columns, and they cannot be changed either."""
    problem = small().replace(variable_names=["a", "b", "c"], limit=40.0)
    derived(problem, len_of_pool)
    for copy in (pickle.loads(pickle.dumps(problem)), deepcopy(problem)):
        assert copy == problem
        assert copy.facts.digest == problem.facts.digest
        assert not copy.pool.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            copy.domain_sizes[0] = 7


def len_of_pool(problem: Problem) -> list[int]:
    """Something that is computed from a problem, a new object each time."""
    return [len(problem.pool)]


def test_what_is_derived_is_computed_once_by_many_threads() -> None:
    """Every thread gets the one object; a changed copy computes its own."""
    problem = small()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: derived(problem, len_of_pool), range(64)))
    assert all(one is found[0] for one in found)
    assert derived(problem.replace(constant=1.0), len_of_pool) is not found[0]

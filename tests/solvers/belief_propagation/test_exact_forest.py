"""Forests are recognised and solved exactly, whatever the arity, the domains and what is forbidden."""

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.problem.facts import minimized
from dabp.solvers.belief_propagation.exact_forest import Forest


def random_forest(seed: int, forbidden: float = 0.25, maximize: bool = False) -> Problem:
    """Up to 7 variables, arities 0 to 4, integer costs 0..3 with ties, forbidden combinations."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 8))
    sizes = rng.integers(1, 4, size=count)
    order = rng.permutation(count)
    scopes: list[list[int]] = []
    hung = [int(order[0])]
    rest = [int(v) for v in order[1:]]
    while rest:
        take = min(len(rest), int(rng.integers(1, 4)))
        fresh, rest = rest[:take], rest[take:]
        if rng.random() < 0.85:
            scope = [hung[int(rng.integers(len(hung)))], *fresh]
            rng.shuffle(scope)
            scopes.append([int(v) for v in scope])
        hung += fresh
    scopes += [[int(rng.integers(count))] for _ in range(int(rng.integers(0, 4)))]
    if rng.random() < 0.2:
        scopes.append([])
    rng.shuffle(scopes)
    worst = -np.inf if maximize else np.inf
    pools = []
    for scope in scopes:
        cells = rng.integers(0, 4, size=int(np.prod(sizes[scope]))).astype(float) if scope else np.array([2.0])
        if scope:
            cells[rng.random(len(cells)) < forbidden] = worst
        pools.append(cells)
    return Problem(
        sizes,
        [v for scope in scopes for v in scope],
        np.cumsum([0, *map(len, scopes)]),
        np.concatenate([np.zeros(0), *pools]),
        np.cumsum([0, *map(len, pools)]),
        maximize=maximize,
    )


def exhaustive(problem: Problem) -> float:
    """The least cost over every assignment, infinite if none is allowed."""
    everything = np.array(list(itertools.product(*(range(d) for d in problem.domain_sizes))), dtype=np.int64)
    return float(problem.cost(everything).min())


def test_forests_are_solved_exactly():
    """200 random forests, both directions, against exhaustive search; infeasible ones are proved infeasible."""
    infeasible = 0
    for seed in range(200):
        problem = minimized(random_forest(seed, forbidden=0.1 * (seed % 5), maximize=seed % 2 == 1))
        forest = Forest.of(problem)
        assert forest is not None
        assignment = forest.solve()
        best = exhaustive(problem)
        if assignment is None:
            infeasible += 1
            assert best == np.inf
        else:
            assert problem.cost(assignment) == best
    assert 0 < infeasible < 100


def test_cycles_are_recognised():
    """A cycle through two binary factors, through a ternary one, or beside a tree is not a forest."""

    def problem(sizes, *scopes):
        pool = [np.zeros(int(np.prod([sizes[v] for v in scope]))) for scope in scopes]
        return Problem(
            sizes,
            [v for scope in scopes for v in scope],
            np.cumsum([0, *map(len, scopes)]),
            np.concatenate(pool),
            np.cumsum([0, *map(len, pool)]),
        )

    assert Forest.of(problem([2, 2], (0, 1), (1, 0))) is None
    assert Forest.of(problem([2, 2, 2, 2], (0, 1, 2), (2, 3), (3, 0))) is None
    assert Forest.of(problem([2] * 7, (0, 1), (1, 2), (2, 0), (3, 4))) is None
    assert Forest.of(problem([2] * 5, (0, 1, 2), (2, 3), (0,), (0,), (3, 4))) is not None


@pytest.mark.parametrize("sizes", [[], [1], [3, 2]])
def test_problems_without_factors_are_forests(sizes):
    """Nothing to decide is decided."""
    forest = Forest.of(Problem(sizes))
    assert forest is not None
    assert forest.solve() is not None


def test_a_long_chain_is_no_recursion():
    """A path of 20,000 variables has its known optimum: alternate values for free."""
    n = 20_000
    scope = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    problem = Problem(
        np.full(n, 2), scope.ravel(), 2 * np.arange(n), [1.0, 0.0, 0.0, 1.0], [0, 4], np.zeros(n - 1, dtype=int)
    )
    forest = Forest.of(problem)
    assert forest is not None
    assignment = forest.solve()
    assert problem.cost(assignment) == 0.0


def test_the_diameter_is_the_longest_way():
    """As many factors as lie between the two variables farthest from each other, by a search from each."""
    for seed in range(60):
        problem = random_forest(seed)
        scopes = [problem.scope(f).tolist() for f in range(problem.num_factors) if problem.arities[f] >= 2]
        longest = 0
        for start in range(problem.num_variables):
            reached, steps = {start}, 0
            while (further := reached.union(*(s for s in scopes if reached & set(s)))) != reached:
                reached, steps = further, steps + 1
            longest = max(longest, steps)
        assert Forest.of(problem).diameter() == longest

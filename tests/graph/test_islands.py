"""Two answers put together island by island."""

import numpy as np
import pytest

from dabp.graph.islands import crossed, has_islands
from dabp.lab.generators import generate
from dabp.problem import Problem


def sparse_problem(rng: np.random.Generator, count: int, forbidden: float) -> Problem:
    """Random factors on one to three variables of mixed domains, some combinations forbidden."""
    sizes = rng.integers(1, 5, count)
    scopes = [rng.choice(count, size=rng.integers(1, 4), replace=False) for _ in range(count)]
    tables = [rng.normal(size=sizes[scope]).ravel() for scope in scopes]
    pool = np.concatenate(tables)
    pool[rng.random(len(pool)) < forbidden] = np.inf
    lengths = [len(table) for table in tables]
    return Problem(
        sizes,
        np.concatenate(scopes),
        np.concatenate([[0], np.cumsum([len(scope) for scope in scopes])]),
        pool,
        np.concatenate([[0], np.cumsum(lengths)]),
        np.arange(count),
    )


def islands_of(problem: Problem, variables: np.ndarray) -> list[set[int]]:
    """By following factors from variable to variable."""
    scopes = [set(map(int, problem.scope(factor))) for factor in range(problem.num_factors)]
    left, found = set(map(int, variables)), []
    while left:
        island, border = set(), {min(left)}
        while border:
            island |= border
            border = {v for scope in scopes if scope & border for v in scope if v in left} - island
        found.append(island)
        left -= island
    return found


@pytest.mark.parametrize("forbidden", [0.0, 0.1])
def test_it_is_the_best_of_all_choices_of_islands(forbidden: float) -> None:
    """Every choice of islands is tried: none has fewer violations, or as many and a lower cost."""
    rng = np.random.default_rng(7)
    several = 0
    for _ in range(60):
        problem = sparse_problem(rng, 14, forbidden)
        first, second = (rng.integers(0, problem.domain_sizes) for _ in range(2))
        second = np.where(rng.random(14) < 0.5, first, second)
        islands = islands_of(problem, np.flatnonzero(first != second))
        several += len(islands) > 1

        def rank(values: np.ndarray, problem: Problem = problem) -> tuple[int, float]:
            costs = problem.factor_costs(values)
            return int(np.isinf(costs).sum()), round(float(costs[np.isfinite(costs)].sum()), 9)

        choices = []
        for bits in range(2 ** len(islands)):
            values = first.copy()
            for place, island in enumerate(islands):
                if bits >> place & 1:
                    values[list(island)] = second[list(island)]
            choices.append(rank(values))
        assert rank(crossed(problem, first, second)) == min(choices)
    assert several > 20


def test_equal_answers_stay_and_ties_are_the_first_ones() -> None:
    """Nothing differs; or it makes no difference."""
    free = Problem([2, 2, 2])
    first, second = np.array([0, 1, 0]), np.array([1, 1, 1])
    assert crossed(free, first, first).tolist() == [0, 1, 0]
    assert crossed(free, first, second).tolist() == [0, 1, 0]


def test_dense_problems_have_one_island() -> None:
    """Grids have many; small problems and dense ones are left alone."""
    assert has_islands(generate("ising", row_count=20, col_count=20, seed=0))
    assert not has_islands(generate("ising", row_count=5, col_count=5, seed=0))
    assert not has_islands(generate("random-cop", variables=250, density=0.1, seed=0))

"""What members share: the best of each component, and a first guess."""

from __future__ import annotations

import itertools

import numpy as np

from dabp.solvers.portfolio.incumbent import Incumbent, cheapest_values
from tests.problems import drawn_problem
from tests.solvers.portfolio.shapes import cliques


def test_the_incumbent_takes_the_better_part_of_each_candidate() -> None:
    """Two candidates, each good on another component, make a better one together."""
    problem = cliques(2, 3, 2)
    rows = np.array(list(itertools.product(range(2), repeat=6)))
    costs = problem.cost(rows)
    best = rows[costs.argmin()]
    incumbent = Incumbent(problem)
    incumbent.offer(np.concatenate([best[:3], rows[costs.argmax()][3:]]), "a", 0.0)
    incumbent.offer(np.concatenate([rows[costs.argmax()][:3], best[3:]]), "b", 0.0)
    assert incumbent.cost == costs.min()


def test_bounds_only_rise() -> None:
    """A lower bound below the best one gains nothing; the one who raised it last is remembered."""
    incumbent = Incumbent(cliques(1, 3, 2))
    assert incumbent.raise_bound(3.0, "a") == np.inf
    assert incumbent.raise_bound(5.0, "b") == 2.0
    assert incumbent.raise_bound(4.0, "c") == 0.0
    assert (incumbent.bound, incumbent.bound_by) == (5.0, "b")


def test_the_first_guess_is_the_cheapest_by_unary_costs() -> None:
    """No single change of a value lowers the sum of unary costs."""
    for seed in range(30):
        problem = drawn_problem(np.random.default_rng(seed))
        guess = cheapest_values(problem)
        own = problem.arities == 1
        least = problem.factor_costs(guess)[own].sum()
        for variable, size in enumerate(problem.domain_sizes):
            for value in range(size):
                other = guess.copy()
                other[variable] = value
                assert problem.factor_costs(other)[own].sum() >= least - 1e-9

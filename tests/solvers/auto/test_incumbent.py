"""What members share: the best of each component, and a first guess."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dabp
from dabp.lab.generators import generate
from dabp.problem.columns import cheapest_values
from dabp.problem.facts import minimized
from dabp.solvers.auto.incumbent import Incumbent, least_of_tables
from tests.problems import drawn_problem, exhaustive_optimum, random_problem
from tests.solvers.auto.shapes import cliques


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


@pytest.mark.parametrize("seed", range(20))
def test_the_least_of_each_table_is_a_bound(seed: int) -> None:
    """It is the first bound of a solve, and never lies above the optimum."""
    problem = minimized(random_problem(seed))
    optimum = exhaustive_optimum(problem)
    assert optimum is None or least_of_tables(problem) <= optimum


def test_an_answer_that_costs_the_least_of_each_table_is_proved_at_once() -> None:
    """A satisfied constraint problem needs no proof by search: no member is set to work."""
    model = dabp.Model()
    names = model.add_variables([f"x{v}" for v in range(30)], 4)
    for x, y in itertools.pairwise(names):
        model.add_cost([x, y], np.where(np.eye(4) > 0, 2.5, 0.0))
    model.add_cost([names[0], names[-1]], np.where(np.eye(4) > 0, 2.5, 0.1))
    result = dabp.solve(model, params={"prove": False}, presolve=False, time_limit=20)
    assert result.status is dabp.Status.OPTIMAL
    assert result.cost == result.bound == pytest.approx(0.1)
    assert not any("time:" in note for note in result.notes)


def test_a_worse_candidate_lends_its_better_islands() -> None:
    """Two candidates, each with another spin of a grid turned the wrong way, make one without either."""
    problem = generate("ising", row_count=40, col_count=40, seed=1)
    result = dabp.solve(problem, "annealing", max_iterations=200, seed=0)
    known = np.array(result.assignment)
    one, other = known.copy(), known.copy()
    one[0], other[820] = 1 - one[0], 1 - other[820]
    assert result.cost < min(problem.cost(one), problem.cost(other))
    incumbent = Incumbent(problem)
    incumbent.offer(one, "a", 0.0)
    incumbent.offer(other, "b", 1.0)
    assert incumbent.cost == pytest.approx(result.cost)
    assert incumbent.finds[-1].member == "b"

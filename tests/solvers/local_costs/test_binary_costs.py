"""Problems of binary variables compiled for flips."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers.local_costs.binary_costs import BinaryCosts
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.binary_problems import binary_problem, torus
from tests.problems import exhaustive_optimum


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
@pytest.mark.parametrize("seed", range(40))
def test_finds_the_optimum_of_small_problems(solver: str, seed: int) -> None:
    """Integer and real costs, parallel factors, values forbidden by themselves, single values: the optimum, exactly."""
    problem = binary_problem(seed)
    assert BinaryCosts.fits(problem)
    optimum = exhaustive_optimum(problem)
    result = dabp.solve(problem, solver, max_iterations=400, seed=seed, presolve=False)
    if optimum is None:
        assert result.cost is None
    else:
        assert result.cost == pytest.approx(optimum, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_one_field_is_two_local_costs(seed: int) -> None:
    """A flip costs what the general table says that the other value costs."""
    problem = binary_problem(seed)
    binary, table = BinaryCosts(problem), LocalCosts(problem)
    assert binary.infeasible == table.infeasible
    if binary.infeasible:
        return
    x = np.random.default_rng(seed).integers(0, problem.domain_sizes)
    flips, rows = binary.state(0), table.state(0)
    binary.put(flips, x)
    table.put(rows, x)
    start = table.costs.rows.start
    for i in range(problem.num_variables):
        assert (1 - flips.x[i]) // 2 == rows.x[i]
        if table.allowed[start[i] : start[i] + 2].all():
            local = rows.local[start[i] : start[i] + 2]
            assert flips.x[i] * flips.field[i] == local[1 - rows.x[i]] - local[rows.x[i]]


def test_what_does_not_fit_is_left_to_rows() -> None:
    """A third value, a factor of three variables, a forbidden pair: the general table; annealing still solves it."""
    clash = [np.inf, 1.0, 2.0, np.inf]
    for problem in (
        Problem([3, 2], [0, 1], [0, 2], np.arange(6.0), [0, 6]),
        Problem([2, 2, 2], [0, 1, 2], [0, 3], np.arange(8.0), [0, 8]),
        Problem([2, 2], [0, 1], [0, 2], clash, [0, 4]),
    ):
        assert not BinaryCosts.fits(problem)
        assert dabp.solve(problem, "annealing", max_iterations=50).cost == exhaustive_optimum(problem)


def test_a_forbidden_table_that_no_pair_uses_does_not_matter() -> None:
    """Only tables in use decide whether a problem fits."""
    tables = [0.0, 1.0, 1.0, 0.0, np.inf, np.inf, np.inf, np.inf]
    assert BinaryCosts.fits(Problem([2, 2], [0, 1], [0, 2], tables, [0, 4, 8], [0]))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_the_unit_of_cost_changes_nothing(scale: float) -> None:
    """Costs times a power of two are the same search: temperatures follow from the differences of cost."""
    weights = np.random.default_rng(1).choice([-1.0, 1.0], 2 * 8**2)
    factor = 2.0 ** np.round(np.log2(scale))
    plain, scaled = (
        dabp.solve(torus(8, weights * f), "annealing", max_iterations=300, seed=2, presolve=False)
        for f in (1.0, factor)
    )
    np.testing.assert_allclose(scaled.trace.iteration_costs, plain.trace.iteration_costs * factor, rtol=1e-9)

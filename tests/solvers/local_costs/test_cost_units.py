"""Costs as integers."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers.local_costs.cost_units import Units


def test_large_integers_stay_exact() -> None:
    """Costs that do not fit 32 bits are taken in 64, without rounding."""
    problem = Problem([3, 3], [0, 1], [0, 2], np.arange(9) * 10.0**12 + 1, [0, 9])
    units = Units(problem)
    assert units.dtype == np.int64
    assert units.cost(units.of(np.array([2, 1]))) == problem.cost([2, 1])


@pytest.mark.parametrize(("largest", "narrow"), [(32_767, True), (-32_767, True), (32_768, False), (1_000_000, False)])
def test_small_tables_take_16_bits(largest: int, narrow: bool) -> None:
    """Tables of two variables are kept in 16 bits where all costs fit; the answer does not depend on it."""
    problem = Problem([3, 3], [0, 1], [0, 2], [5, largest, 7, 1, 2, 9, largest, 4, 3], [0, 9])
    units = Units(problem)
    assert (units.dtype == np.int32, units.table_dtype == np.int16) == (narrow, narrow)
    assert Units(problem, small_tables=False).dtype == np.int32
    for solver in ("annealing", "tabu"):
        assert dabp.solve(problem, solver, max_iterations=50).cost == min(largest, 1)


@pytest.mark.parametrize("table", [[0.0] * 4, [0.0, 1e-250, 2e-250, 0.0], [0.5, 1e15, 0.25, 7.0]])
def test_extreme_scales(table: list[float]) -> None:
    """No costs, tiny ones and very different ones are scaled without overflow; the optimum is found."""
    problem = Problem([2, 2], [0, 1], [0, 2], table, [0, 4], constant=0.5)
    assert dabp.solve(problem, "tabu", max_iterations=50).cost == min(table) + 0.5
    assert dabp.solve(problem, "annealing", max_iterations=50).cost == min(table) + 0.5


@pytest.mark.parametrize("constant", [0.0, 1e12])
def test_totals_of_many_variables_do_not_overflow(constant: float) -> None:
    """Real costs are scaled so that the total, too, has room in 64 bits."""
    count = 1_100_000
    variables = np.arange(count)
    problem = Problem(
        np.full(count, 2), variables, np.arange(count + 1), [0.9, 0.8], [0, 2], 0 * variables, constant=constant
    )
    units = Units(problem)
    for values in (0 * variables, 0 * variables + 1):
        assert units.cost(units.of(values)) == pytest.approx(problem.cost(values))


def test_tiny_costs_are_scaled_as_far_as_floats_go() -> None:
    """Near 1e-300 a larger scale is no number; the order of the costs stays."""
    for exponent in (-290, -305):
        problem = Problem([3], [0], [0, 1], np.array([3.0, 1.0, 2.0]) * 10.0**exponent, [0, 3])
        units = Units(problem)
        assert np.isfinite(units.scale)
        assert [int(each) for each in np.argsort(units.cells)] == [1, 2, 0]
        assert dabp.solve(problem, "dsa", max_iterations=20, presolve=False).assignment.tolist() == [1]


@pytest.mark.parametrize("solver", ["tabu", "annealing", "dsa", "mgm"])
def test_what_no_variable_moves_has_no_part_in_the_scale(solver: str) -> None:
    """A fixed variable's cost may be larger than the finest scale has room for."""
    tables = [1e9 / 3, 2e9 / 7, 1e-6 / 3, 2e-6, 3e-6 / 7, 5e-6]
    problem = Problem([2, 2, 2], [2, 0, 1], [0, 1, 3], tables, [0, 2, 6])
    result = dabp.solve(problem, solver, max_iterations=20, presolve=False, fix={"x2": 1})
    assert result.cost == 2e9 / 7 + 1e-6 / 3


def test_tables_without_a_factor_do_not_choose_the_scale() -> None:
    """Fixing a variable may leave a table that no factor has: its costs overflow nothing and weigh nothing."""
    costs = np.array([1e-6, 3e-6, 2e-6, 5e12])
    lone = Problem([3], [0], [0, 1], costs[:3], [0, 3])
    beside = Problem([3], [0], [0, 1], costs, [0, 3, 4], [0])
    assert Units(beside).scale == Units(lone).scale
    assert Units(beside).first_weight == Units(lone).first_weight
    assert np.array_equal(Units(beside).cells[:3], Units(lone).cells)

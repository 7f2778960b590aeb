"""dabp as a solver of CPMpy."""

from __future__ import annotations

import itertools
from typing import Any

import cpmpy as cp
import numpy as np
import pytest
from cpmpy.expressions.utils import argval

import dabp
from dabp.integrations.cpmpy_solver import CPM_dabp


def best(variables: list[Any], constraints: list[Any], objective: Any) -> int | None:
    """The least value of the objective over all assignments, evaluated by CPMpy."""
    values = []
    for row in itertools.product(*(range(v.get_bounds()[0], v.get_bounds()[1] + 1) for v in variables)):
        for variable, value in zip(variables, row, strict=True):
            variable._value = bool(value) if variable.is_bool() else value
        if all(argval(constraint) for constraint in constraints):
            values.append(argval(objective))
    return min(values, default=None)


def check(variables: list[Any], constraints: list[Any], objective: Any) -> None:
    """The same optimum, or the same contradiction, as exhaustive search."""
    expected = best(variables, constraints, objective)
    solver = CPM_dabp(cp.Model(constraints, minimize=objective))
    assert solver.solve(time_limit=20) == (expected is not None)
    assert solver.objective_value() == expected
    if expected is not None:
        assert all(argval(constraint) for constraint in constraints)
        assert solver.status().exitstatus.name == "OPTIMAL"
    else:
        assert solver.status().exitstatus.name == "UNSATISFIABLE"


CASES = {
    "arithmetic": lambda i, b: ([i[0] * i[1] - cp.abs(i[2]) >= -2, i[0] + i[3] != 2 * i[1]], i[2] - i[0] * i[3]),
    "logic": lambda i, b: ([b[0].implies(i[0] > i[1]), b[0] ^ b[1], (i[2] == 1) | ~b[1]], cp.sum(i) + 2 * b[0]),
    "undefined": lambda i, b: ([i[0] > i[1] // i[2], ~(i[3] % i[2] == 1)], i[0] - i[2]),
    "element": lambda i, b: ([cp.Element([3, 1, 2], i[0]) == i[1] + 2], i[0] + i[2] + i[3]),
    "all different": lambda i, b: ([cp.AllDifferent(i), b[0] == (cp.max(i) == i[0])], i[0] - 3 * b[0] + i[1] * i[2]),
    "half-reified": lambda i, b: ([b[1].implies(cp.AllDifferent(i)), b[0] | b[1], ~b[0]], -cp.sum(i)),
    "counts": lambda i, b: ([cp.GlobalCardinalityCount(list(i), [0, 1], [2, 1]), i[0] < i[3]], cp.max(i) + i[1]),
    "table": lambda i, b: ([cp.Table(list(i[:3]), [[0, 1, 1], [1, -1, 0]])], i[3] - i[0]),
    "contradiction": lambda i, b: ([i[0] + i[1] >= 3, i[0] < 0, b[0]], i[0]),
    "powers": lambda i, b: ([i[0] ** 2 + i[1] ** 2 == 2, cp.any([b[0], i[2] > 0, i[3] == -1])], i[0] + i[1] - b[1]),
}


@pytest.mark.parametrize("name", CASES)
def test_optimum_equals_exhaustive_search(name: str) -> None:
    """Every kind of expression means what CPMpy means by it, undefined values included."""
    i, b = cp.intvar(-1, 2, shape=4, name="i"), cp.boolvar(shape=2, name="b")
    constraints, objective = CASES[name](i, b)
    check([*i, *b], constraints, objective)


def test_large_constraints_are_decomposed() -> None:
    """Sums, clauses, reified sums and all-different over more values than one table holds."""
    i, b = cp.intvar(0, 6, shape=6, name="i"), cp.boolvar(name="b")
    constraints = [
        cp.AllDifferent(i),
        cp.sum(i[:5]) >= 15,
        b == (cp.sum(i) * 2 >= 36),
        cp.any([i[k] == 6 - k for k in range(6)]),
    ]
    solver = CPM_dabp(cp.Model(constraints, minimize=3 * i[0] + i[5] + 5 * b))
    assert solver.solve(time_limit=30)
    assert all(argval(constraint) for constraint in constraints)
    assert solver.objective_value() == argval(3 * i[0] + i[5] + 5 * b)
    reference = cp.Model(constraints, minimize=3 * i[0] + i[5] + 5 * b)
    assert reference.solve("ortools")
    assert solver.objective_value() == reference.objective_value()


def test_maximum_assumptions_and_repeated_solves() -> None:
    """Assumptions hold for one call alone; constraints added later hold from then on."""
    x, b = cp.intvar(0, 5, shape=2, name="x"), cp.boolvar(name="b")
    solver = CPM_dabp(cp.Model(x[0] + x[1] <= 6, b.implies(x[0] <= 2), maximize=2 * x[0] + x[1]))
    assert solver.solve()
    assert solver.objective_value() == 11
    assert solver.solve(assumptions=[b])
    assert solver.objective_value() == 8
    solver += x[0] != 5
    assert solver.solve(assumptions=[~b])
    assert (solver.objective_value(), b.value()) == (10, False)


@pytest.mark.filterwarnings("ignore:Adding constraints to solver object")
def test_all_solutions_are_counted() -> None:
    """Also with a limit; no solution is found twice."""
    x = cp.intvar(0, 3, shape=3, name="x")
    found: list[tuple[int, ...]] = []
    count = CPM_dabp(cp.Model(cp.AllDifferent(x), x[0] < x[1])).solveAll(display=lambda: found.append(tuple(x.value())))
    assert count == 12 == len(set(found))
    assert CPM_dabp(cp.Model(cp.AllDifferent(x))).solveAll(solution_limit=5) == 5


def test_what_is_too_large_is_refused_with_its_size() -> None:
    """A variable of too many values is an error in a sentence."""
    x = cp.intvar(0, 10**9, name="x")
    with pytest.raises(dabp.ProblemError, match=r"'x' has 1,000,000,001 values"):
        CPM_dabp(cp.Model(x >= 3)).solve()


def test_a_model_takes_the_class_as_its_solver() -> None:
    """`model.solve` of CPMpy with solvers that are not in its table is the class itself."""
    x = cp.intvar(1, 4, shape=2, name="x")
    solver = dabp.CPM_dabp(cp.Model(x[0] > x[1]))
    assert solver.solve(seed=3, threads=1)
    assert np.diff(x.value())[0] < 0


def test_truth_constants_are_numbers() -> None:
    """Beside numbers, in weighted sums and in objectives, by the values that CPMpy computes itself."""
    x = cp.intvar(-3, 5, shape=3, name="x")
    for constraint in (
        cp.sum(x) != cp.BoolVal(True),
        cp.BoolVal(True) >= x[0] ** 3,
        cp.expressions.core.Operator("wsum", [[True, cp.BoolVal(False), 1], x]) == cp.BoolVal(True),
    ):
        assert dabp.CPM_dabp(cp.Model(constraint)).solve()
        assert constraint.value()
    with pytest.raises(ValueError, match="time_limit"):
        dabp.CPM_dabp(cp.Model(x[0] > 1)).solve(time_limit=-1)

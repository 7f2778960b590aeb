"""Linear relaxations contain every assignment at its cost, and the bounds computed from them lie below all of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from dabp.problem import Problem
from dabp.problem.facts import minimized
from dabp.problem.model import Model
from dabp.solvers.linear.bound import lower_bound
from dabp.solvers.linear.program import Program, Tables, program_of
from tests.problems import exhaustive_optimum, random_problem


def counting_problem(seed: int) -> Problem:
    """Counts, sums and all-different, hard and soft, with costs."""
    rng = np.random.default_rng(seed)
    model = Model(maximize=bool(seed % 2))
    names = model.add_variables((f"x{i}" for i in range(5)), [0, 1, 2])
    price = [None, 2.5][seed // 2 % 2]
    model.at_least(names, 1, int(rng.integers(1, 4)), price=price)
    model.linear(dict(zip(names, rng.integers(-2, 4, 5).tolist(), strict=True)), "<=", int(rng.integers(0, 6)))
    if rng.random() < 0.4:
        model.all_different(names[:3], price=price)
    for name in names:
        model.add_cost(name, rng.integers(-3, 4, 3).tolist())
    model.add_cost(names[:2], rng.integers(0, 5, (3, 3)).tolist())
    return model.build()


def _solved(program: Program, *, integral: bool) -> float:
    """SciPy's optimum, inf without a solution."""
    count = len(program.upper)
    sizes = np.diff(program.starts)
    row = np.concatenate([program.row, len(program.low) + np.repeat(np.arange(len(sizes)), sizes)])
    column = np.concatenate([program.column, np.arange(program.num_values)])
    entry = np.concatenate([program.entry, np.ones(program.num_values)])
    matrix = csr_array((entry, (row, column)), shape=(len(program.low) + len(sizes), count))
    low, high = (np.concatenate([part, np.ones(len(sizes))]) for part in (program.low, program.high))
    kinds = np.concatenate([np.ones(program.num_values), np.zeros(count - program.num_values)]) * integral
    found = milp(
        program.costs,
        constraints=LinearConstraint(matrix, low, high),
        bounds=(np.zeros(count), program.upper),
        integrality=kinds,
    )
    return math.inf if found.x is None else float(found.fun) + program.constant


@pytest.mark.parametrize("seed", range(60))
def test_relaxation(seed: int) -> None:
    """With whole values the program has the optimum of the problem, otherwise no more; fewer tables bound less."""
    problem = counting_problem(seed) if seed % 2 else random_problem(seed, max_variables=6)
    best = exhaustive_optimum(problem)
    best = math.inf if best is None else -best if problem.maximize else best
    programs = {tables: program_of(problem, tables=tables) for tables in Tables}
    if programs[Tables.ALL].constant == math.inf:
        assert best == math.inf
        return
    assert _solved(programs[Tables.ALL], integral=True) == pytest.approx(best, abs=1e-6)
    bounds = [_solved(programs[tables], integral=False) for tables in Tables]
    for lower, upper in itertools.pairwise([*bounds, best]):
        assert lower <= upper + 1e-6


@pytest.mark.parametrize("seed", range(60))
def test_bounds_are_safe(seed: int) -> None:
    """Whatever the multipliers, nothing costs less than the bound."""
    problem = counting_problem(seed)
    program, rng = program_of(problem), np.random.default_rng(seed)
    best = exhaustive_optimum(problem)
    best = math.inf if best is None else -best if problem.maximize else best
    for scale in (0.1, 1.0, 1e6):
        assert lower_bound(program, scale * rng.standard_normal(len(program.low))) <= best
        if best < math.inf:
            assert lower_bound(program, scale * rng.standard_normal(len(program.low)), costs=False) <= 0
    assert lower_bound(program, np.full(len(program.low), np.nan)) <= best


def test_exclusions_replace_the_tables_that_they_contain() -> None:
    """Pairs that differ become a row for each value; a table that costs something else stays."""
    model = Model()
    names = model.add_variables("abcd", 3)
    model.all_different(names)
    model.add_cost(names[:2], [[0, 1, 2], [3, 4, 5], [6, 7, 8]])
    problem = minimized(model.build()).replace(statements=())
    program = program_of(problem)
    assert len(program.costs) == 12 + 9
    assert (program.high == 1).sum() == 3
    assert _solved(program, integral=False) == math.inf


def test_large_tables_count_with_their_least_cost() -> None:
    """A table of more cells than fit has no columns, and the bound remains one."""
    rng = np.random.default_rng(0)
    problem = Problem.from_tables([120, 120], [((0, 1), rng.integers(3, 9, (120, 120)))])
    program = program_of(problem)
    assert len(program.costs) == 240
    assert lower_bound(program, np.zeros(0)) == pytest.approx(3)


def test_linprog_agrees() -> None:
    """SciPy's dual values give its own optimum as the bound."""
    problem = next(one for one in map(counting_problem, range(99)) if exhaustive_optimum(one) is not None)
    program = program_of(problem)
    equal = program.low == program.high
    dense = np.zeros((len(program.low), len(program.costs)))
    dense[program.row, program.column] = program.entry
    values = np.zeros((len(program.starts) - 1, len(program.costs)))
    for v, (start, end) in enumerate(itertools.pairwise(program.starts.tolist())):
        values[v, start:end] = 1
    below, above = np.isfinite(program.high) & ~equal, np.isfinite(program.low) & ~equal
    found = linprog(
        program.costs,
        A_ub=np.concatenate([dense[below], -dense[above]]),
        b_ub=np.concatenate([program.high[below], -program.low[above]]),
        A_eq=np.concatenate([values, dense[equal]]),
        b_eq=np.concatenate([np.ones(len(values)), program.low[equal]]),
        bounds=list(zip(np.zeros(len(program.upper)), program.upper, strict=True)),
    )
    multipliers = np.zeros(len(program.low))
    multipliers[below] += found.ineqlin.marginals[: below.sum()]
    multipliers[above] -= found.ineqlin.marginals[below.sum() :]
    multipliers[equal] = found.eqlin.marginals[len(values) :]
    assert lower_bound(program, multipliers) == pytest.approx(found.fun + program.constant)

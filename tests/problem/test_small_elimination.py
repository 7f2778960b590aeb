"""Small problems eliminated in NumPy: the least cost as exhaustive search finds it, or none."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.small_elimination import MOST_CELLS, Eliminated, cheap_order


def _drawn(seed: int) -> Problem:
    """Scopes of up to three variables in any order, domains of one to four values, forbidden combinations."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rng.integers(1, 7)).tolist()
    tables = []
    for _ in range(rng.integers(0, 9)):
        scope = rng.permutation(len(sizes))[: rng.integers(0, 4)].tolist()
        table = rng.integers(-20, 20, [sizes[v] for v in scope]).astype(float)
        tables.append((scope, np.where(rng.random(table.shape) < 0.15, np.inf, table)))
    return Problem.from_tables(sizes, tables, constant=float(seed), maximize=False)


@pytest.mark.parametrize("seed", range(60))
def test_the_least_cost_is_that_of_exhaustive_search(seed: int) -> None:
    """Computed one assignment at a time by the problem itself."""
    problem = _drawn(seed)
    order = cheap_order(problem)
    assert order is not None
    solved = Eliminated(problem, order)
    least = min(float(problem.cost(np.array(x))) for x in itertools.product(*map(range, problem.domain_sizes)))
    assert solved.infeasible == (least == np.inf)
    if not solved.infeasible:
        nothing = solved.project(np.zeros(problem.num_variables, dtype=np.int64))
        assert float(solved.problem.cost(nothing)) == least
        assert float(problem.cost(solved.lift(nothing))) == least
        result = dabp.solve(problem)
        assert (result.status, result.cost, result.bound) == (dabp.Status.OPTIMAL, least, least)


def test_what_is_not_exact_or_not_tiny_is_left_to_others() -> None:
    """Real costs, sums beyond what floats count, tables too large, too many axes, an upper limit, nothing at all."""
    tables = [((0, 1), np.arange(4.0).reshape(2, 2))]
    assert cheap_order(Problem.from_tables([2, 2], tables)) == [0, 1]
    assert cheap_order(Problem.from_tables([2, 2], [((0, 1), np.full((2, 2), 0.3))])) is None
    assert cheap_order(Problem.from_tables([MOST_CELLS + 1, 1], [])) is None
    assert cheap_order(Problem.from_tables([1] * 31, [])) is None
    assert cheap_order(Problem.from_tables([2, 2], tables).replace(limit=2.0)) is None
    assert cheap_order(Problem.from_tables([], [])) is None


def test_a_tiny_problem_is_solved_without_loading_numba() -> None:
    """Which takes longer than everything else together."""
    script = """
import sys
import numpy as np
import dabp
problem = dabp.Problem.from_tables([3] * 6, [((i, j), np.eye(3)) for i in range(6) for j in range(i)])
assert dabp.solve(problem).cost == 3
assert dabp.solve(problem, fix={"x0": 1}).cost == 3
ring = dabp.Problem.from_tables([2] * 21, [((i, (i + 1) % 21), np.eye(2)) for i in range(21)])
assert dabp.solve(ring).cost == 1
print("numba" in sys.modules, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]

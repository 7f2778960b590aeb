"""Values that no feasible assignment can take."""

from __future__ import annotations

import numpy as np

from dabp.presolve import presolve
from dabp.presolve.consistency import supported_values
from dabp.presolve.effort import Effort
from dabp.problem import Problem
from tests.presolve.shapes import ascending
from tests.problems import drawn_problem


def test_propagation_reads_each_table_a_few_times_only() -> None:
    """Along a chain of x < y every bound moves many times; the work is still a few looks at each cell."""
    count, size = 40, 100
    effort = Effort()
    before = effort.left
    kept = supported_values(ascending(count, size), effort)
    values = np.arange(size)
    expected = [(values >= i) & (values <= size - count + i) for i in range(count)]
    assert kept is not None
    assert np.array_equal(kept, np.concatenate(expected))
    assert before - effort.left < 8 * (count - 1) * size**2


def test_propagation_removes_all_that_is_inconsistent() -> None:
    """The same values as a plain fixpoint over dense tables."""
    for seed in range(200):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.6, dense=seed % 2 == 0)
        alive = [np.ones(size, dtype=bool) for size in problem.domain_sizes]
        changed, empty = True, False
        while changed and not empty:
            changed = False
            for factor in problem.factors:
                possible = np.isfinite(factor.table)
                for axis, variable in enumerate(factor.scope):
                    possible = possible & np.expand_dims(
                        alive[variable], [k for k in range(possible.ndim) if k != axis]
                    )
                empty = empty or not possible.any()
                for axis, variable in enumerate(factor.scope):
                    some = possible.any(axis=tuple(k for k in range(possible.ndim) if k != axis))
                    changed = changed or bool((some != alive[variable]).any())
                    alive[variable] = some
        kept = supported_values(problem)
        if empty:
            assert kept is None
        else:
            assert kept is not None
            assert np.array_equal(kept, np.concatenate([*alive, np.zeros(0, dtype=bool)]))


def test_a_problem_without_a_solution_is_proved_infeasible_by_propagation() -> None:
    """Of three variables with two values each, x < y < z has no solution: found by arc consistency alone."""
    less = np.array([[np.inf, 0.0], [np.inf, np.inf]])
    problem = Problem([2, 2, 2], [0, 1, 1, 2], [0, 2, 4], np.tile(less.ravel(), 2), [0, 4, 8])
    assert supported_values(problem) is None
    reduced = presolve(problem)
    assert reduced.infeasible
    assert "no feasible" in reduced.summary[0]

"""Small infeasible problems for tests, and what exhaustive search says of them."""

from __future__ import annotations

import functools

import numpy as np

from dabp.problem import Problem
from dabp.problem.model import Model
from tests.problems import all_assignments


@functools.cache
def infeasible_problem(seed: int) -> Problem:
    """Constraints of one factor and of several, costs and statements, in either direction; nothing satisfies all."""
    for attempt in range(1000):
        rng = np.random.default_rng([seed, attempt])
        model = Model(f"infeasible-{seed}", maximize=bool(rng.random() < 0.5))
        sizes = rng.integers(2, 4, rng.integers(3, 6))
        names = [model.add_variable(f"x{i}", int(size)) for i, size in enumerate(sizes)]
        for _ in range(rng.integers(3, 9)):
            scope = [str(one) for one in rng.permutation(names)[: rng.integers(1, 4)]]
            shape = tuple(model.build().domain_sizes[[names.index(one) for one in scope]])
            table = rng.integers(-5, 6, shape) * float(rng.choice([0, 1, 0.5]))
            table = np.where(rng.random(shape) < 0.55, -np.inf if model.maximize else np.inf, table)
            model.add_cost(scope, table, name=f"c{rng.integers(0, 7)}")
        if rng.random() < 0.5:
            model.all_different(names)
        if rng.random() < 0.5:
            model.exactly(names, 1, int(rng.integers(0, 4)), name="count")
        problem = model.build()
        if not np.isfinite(problem.cost(all_assignments(problem))).any():
            return problem
    raise AssertionError("no infeasible problem was drawn")


def broken_names(problem: Problem) -> tuple[np.ndarray, list[frozenset[str]]]:
    """Every assignment, and the names of the factors that forbid it."""
    rows = all_assignments(problem)
    return rows, [
        frozenset(problem.names.factor(f) for f in np.flatnonzero(np.isinf(problem.factor_costs(row)))) for row in rows
    ]


def amounts_of(rows: np.ndarray, broken: list[frozenset[str]]) -> list[dict[str, float]]:
    """By how much each assignment violates each constraint: the count by how many it is off, others by 1."""
    ones = (rows == 1).sum(axis=1)
    wanted = {int(count) for count, names in zip(ones, broken, strict=True) if "count" not in names}
    return [
        {name: min(abs(int(count) - each) for each in wanted) if name == "count" and wanted else 1.0 for name in names}
        for count, names in zip(ones, broken, strict=True)
    ]

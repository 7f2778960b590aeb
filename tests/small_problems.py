"""Small random problems of every shape, and their optimum by exhaustive search: the oracle of several tests."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem


def random_problem(
    rng: np.random.Generator, *, integral: bool = True, hard: float = 0.2, dense: bool = False
) -> Problem:
    """Any arity from 0, any domain size from 1, repeated and nested scopes, forbidden combinations, negative costs.

    A dense one has 5 or 6 variables and nearly all pairs, so that eliminating variables does not solve it.
    """
    n = int(rng.integers(5, 7)) if dense else int(rng.integers(0, 6))
    sizes = rng.integers(2, 4, n) if dense else rng.integers(1, 4, n)
    scopes = [rng.permutation(n)[: rng.integers(0, min(4, n) + 1)] for _ in range(rng.integers(0, 8))]
    if dense:
        scopes += [rng.permutation(pair) for pair in itertools.combinations(range(n), 2) if rng.random() < 0.9]
    largest = rng.choice([3, 12])
    tables = []
    for scope in scopes:
        table = rng.integers(-2, largest, int(np.prod(sizes[scope]))).astype(float)
        table += 0.0 if integral else rng.random(table.shape)
        if len(scope) and rng.random() < 0.5:
            table[rng.random(table.shape) < hard] = np.inf
        tables.append(table)
    return Problem(
        sizes,
        np.concatenate([*scopes, np.zeros(0, dtype=np.int64)]),
        np.concatenate([[0], np.cumsum([len(s) for s in scopes], dtype=np.int64)]),
        np.concatenate([*tables, np.zeros(0)]),
        np.concatenate([[0], np.cumsum([len(t) for t in tables], dtype=np.int64)]),
        constant=float(rng.integers(-5, 5)),
    )


def all_assignments(problem: Problem) -> NDArray[np.int64]:
    """Every assignment, [B, N]."""
    rows = list(itertools.product(*[range(d) for d in problem.domain_sizes]))
    return np.array(rows, dtype=np.int64).reshape(len(rows), problem.num_variables)


def exhaustive(problem: Problem) -> tuple[float, NDArray[np.int64]]:
    """The optimum (inf if infeasible) and an assignment that has it."""
    rows = all_assignments(problem)
    costs = problem.cost(rows)
    return float(costs.min()), rows[costs.argmin()]

"""Small problems for tests: random ones that cover what a `Problem` can be, and their optima by exhaustive search."""

from __future__ import annotations

import itertools
import math

import numpy as np

from dabp.problem import Problem

LARGEST = 20_000
"""Assignments that `random_problem` allows at most, so that exhaustive search stays instant."""


def random_problem(seed: int, *, max_variables: int = 8, max_arity: int = 4, maximize: bool | None = None) -> Problem:
    """A random small problem: mixed arity (0 included) and domains (1 included), every kind of cost.

    By seed: integer, decimal or real costs, also negative; none, some or many forbidden combinations (some problems
    are infeasible); isolated variables; several factors on one scope; tables shared between factors; a constant;
    minimisation or maximisation (unless chosen).
    """
    rng = np.random.default_rng([seed, 1])
    sizes = rng.integers(1, 5, size=rng.integers(1, max_variables + 1))
    while math.prod(sizes.tolist()) > LARGEST:
        sizes = sizes[:-1]
    n = len(sizes)
    maximize = bool(rng.random() < 0.5) if maximize is None else maximize
    forbidden_rate = rng.choice([0.0, 0.0, 0.15, 0.4])
    kind = rng.choice(["integer", "few", "decimal", "real"])
    scopes: list[list[int]] = []
    tables: list[np.ndarray] = []
    factor_table: list[int] = []
    for _ in range(rng.integers(0, 2 * n + 2)):
        arity = min(int(rng.choice([0, 1, 2, 2, 2, 3, 4])), n, max_arity)
        scope = rng.permutation(n)[:arity].tolist()
        if scopes and rng.random() < 0.1:
            scope = list(scopes[rng.integers(len(scopes))])
        shape = tuple(sizes[scope].tolist())
        same_shape = [t for t, table in enumerate(tables) if table.shape == shape]
        if same_shape and rng.random() < 0.2:
            factor_table.append(int(rng.choice(same_shape)))
        else:
            factor_table.append(len(tables))
            tables.append(_random_table(rng, shape, str(kind), float(forbidden_rate), -np.inf if maximize else np.inf))
        scopes.append(scope)
    return Problem(
        sizes,
        np.array([v for scope in scopes for v in scope], dtype=np.int64),
        np.cumsum([0] + [len(scope) for scope in scopes]),
        np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(0),
        np.cumsum([0] + [table.size for table in tables]),
        np.array(factor_table, dtype=np.int64),
        constant=float(rng.choice([0, 0, -7, 12])),
        maximize=maximize,
        name=f"random-{seed}",
    )


def _random_table(
    rng: np.random.Generator, shape: tuple[int, ...], kind: str, forbidden_rate: float, forbidden: float
) -> np.ndarray:
    if kind == "integer":
        table = rng.integers(-20, 101, shape).astype(float)
    elif kind == "few":  # many ties
        table = rng.integers(0, 4, shape).astype(float)
    elif kind == "decimal":
        table = np.round(rng.uniform(-5, 5, shape), 2)
    else:
        table = rng.normal(0, 10, shape)
    if shape:  # a forbidden constant would make most problems infeasible
        table = np.where(rng.random(shape) < forbidden_rate, forbidden, table)
    return table


def drawn_problem(
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


def all_assignments(problem: Problem) -> np.ndarray:
    """Every assignment, a row each."""
    sizes = problem.domain_sizes.tolist()
    return np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), dtype=np.int64)


def exhaustive_optimum(problem: Problem) -> float | None:
    """The best cost over all assignments in the problem's own direction, None if none is feasible.

    Independent of `Problem.cost`: it adds up dense tables, an axis per variable.
    """
    sizes = problem.domain_sizes.tolist()
    total = np.full(sizes, problem.constant)
    for factor in problem.factors:
        order = np.argsort(factor.scope)
        table = factor.table.transpose(order)
        shape = [1] * len(sizes)
        for variable in factor.scope:
            shape[variable] = sizes[variable]
        total = total + table.reshape(shape)
    best = float(total.max() if problem.maximize else total.min())
    return best if np.isfinite(best) else None


def exhaustive(problem: Problem) -> tuple[float, np.ndarray]:
    """The optimum (inf if infeasible) and an assignment that has it."""
    rows = all_assignments(problem)
    costs = problem.cost(rows)
    return float(costs.min()), rows[costs.argmin()]

"""Problems of many kinds, solved one after the other; prints what Numba compiled meanwhile, which should be nothing.

``python -m tests.solvers.compiled_kinds``, in a process of its own: what an earlier test compiled would not count.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator

import numpy as np
from numba.core import event

import dabp
from dabp.problem import Problem
from dabp.problem.grid import grid
from dabp.solvers import SOLVERS
from tests.problems import random_problem

OTHERS = ("toulbar2", "bp-plain", "auto")
"""Solvers without kernels, and the one that is tried on every kind."""


def drawn(
    sizes: list[int],
    arities: tuple[int, ...] = (1, 2),
    *,
    factors: int = 12,
    real: bool = False,
    forbidden: bool = False,
    scale: float = 50.0,
    maximize: bool = False,
) -> Problem:
    """Random factors of these arities on variables of these sizes."""
    rng = np.random.default_rng(len(sizes) + sum(arities))
    tables = []
    for number in range(factors):
        scope = tuple(rng.permutation(len(sizes))[: arities[number % len(arities)]].tolist())
        table = rng.random([sizes[v] for v in scope]) * scale
        table = table if real else np.floor(table)
        if forbidden:
            table[rng.random(table.shape) < 0.1] = -np.inf if maximize else np.inf
        tables.append((scope, table))
    return Problem.from_tables(sizes, tables, maximize=maximize)


def chain(count: int, domain: int, *, closed: bool = False) -> Problem:
    """A path of variables, or a ring."""
    table = np.arange(float(domain * domain)).reshape(domain, domain) % 7
    links = count if closed else count - 1
    return Problem.from_tables([domain] * count, [((i, (i + 1) % count), table) for i in range(links)])


def kinds() -> Iterator[tuple[str, Problem]]:
    """A problem of each kind, by name."""
    for domain in (2, 3, 5, 8, 9, 15, 16, 17, 33):
        yield f"{domain} values", drawn([domain] * 8)
        yield f"{domain} values, real, maximised", drawn([domain] * 8, real=True, maximize=True)
    yield "300 values", drawn([300, 300, 4, 300], (1, 2), factors=6)
    yield "300 values, real, forbidden", drawn([300, 2, 300, 5], (1, 2), factors=6, real=True, forbidden=True)
    for arity in (3, 4, 5):
        yield f"arity {arity}", drawn([3] * 7, (2, arity), factors=8)
        yield f"arity {arity}, forbidden", drawn([3] * 7, (1, arity), factors=8, forbidden=True, real=arity == 4)
    yield "unary alone", drawn([4] * 5, (1,), factors=5)
    yield "mixed sizes", drawn([2, 3, 20, 1, 9, 70], (2, 3), factors=9)
    yield "mixed sizes, forbidden, maximised", drawn([2, 3, 20, 4, 9], (1, 2, 3), forbidden=True, maximize=True)
    yield "large costs", drawn([4] * 8, scale=1e9)
    yield "large costs, forbidden", drawn([4] * 8, scale=1e9, forbidden=True)
    yield "small costs", drawn([2] * 10, factors=20, real=True, scale=1e-6)
    yield "two values, large costs", drawn([2] * 10, factors=20, scale=1e9)
    yield "two values, forbidden", drawn([2] * 10, factors=20, forbidden=True)
    yield "a path", chain(9, 4)
    yield "a long ring", chain(3000, 2, closed=True)
    yield "a star", Problem.from_tables([3] * 31, [((0, i), np.eye(3) * i) for i in range(1, 31)] * 2)
    rng = np.random.default_rng(0)
    yield "an image", grid(rng.random((21, 20, 4)), "potts")
    yield (
        "an image with a truncated linear prior",
        grid(rng.integers(0, 9, (21, 20, 5)).astype(float), "truncated-linear", cap=2.0),
    )
    for seed in range(4):
        yield f"drawn {seed}", random_problem(seed)


def attempts() -> Iterator[tuple[str, Problem, str]]:
    """Every solver on some of the kinds, and `auto` with and without presolve on all."""
    every = list(kinds())
    solvers = [name for name in SOLVERS if not name.startswith(OTHERS)]
    for number, (name, problem) in enumerate(every):
        yield name, problem, "auto"
        small = problem.num_variables < 100
        for place, solver in enumerate(solvers):
            if small and (number + place) % 3 == 0:
                yield name, problem, solver


def main() -> None:
    """Solve all, and print the names of what was compiled with the kind and the solver, and how many were solved."""
    warnings.simplefilter("ignore")
    compiled, solved = [], 0
    with event.install_recorder("numba:compile") as recorder:
        for name, problem, solver in attempts():
            before = len(recorder.buffer)
            try:
                options = {"max_iterations": 12} if solver != "auto" else {"time_limit": 0.15, "threads": 2}
                dabp.solve(problem, solver, **options)
                if solver == "auto":
                    dabp.solve(problem, solver, max_iterations=30, presolve=False)
            except dabp.DabpError as error:
                if "binary factors" not in str(error):
                    raise
            solved += 1
            for _, one in recorder.buffer[before:]:
                if one.is_start:
                    compiled.append([one.data["dispatcher"].py_func.__qualname__, name, solver])
    sys.stdout.write(json.dumps([compiled, solved, len(dict(kinds()))]))


if __name__ == "__main__":
    main()

"""Problems of many kinds, solved one after the other; fails if Numba compiles anything meanwhile, and prints what.

``python -m tests.solvers.compiled_kinds [N]`` solves every N-th; with an empty folder for compiled kernels
(``DABP_CACHE_DIR``), whatever is compiled is what the build has missed.
"""

from __future__ import annotations

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

OTHERS = ("toulbar2", "auto")
"""Solvers without kernels, and the one that is tried on every kind."""

SPARSE = range(200, 1000)
"""Variables of problems on which runs are long enough for islands."""


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


def torus(side: int, domain: int, tables: np.ndarray) -> Problem:
    """A square whose ends meet, with a table for each pair: sparse enough for answers to be put together by islands."""
    here = np.arange(side * side).reshape(side, side)
    pairs = [(here, np.roll(here, -1, axis)) for axis in (0, 1)]
    scopes = np.concatenate([np.stack(pair, axis=-1).reshape(-1, 2) for pair in pairs])
    return Problem.from_tables([domain] * side**2, list(zip(map(tuple, scopes.tolist()), tables, strict=True)))


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
    yield "a large image", grid(rng.integers(0, 20, (200, 200, 16)).astype(float), "potts", weights=9.0)
    yield "a torus of whole numbers", torus(18, 2, rng.integers(0, 2, (648, 2, 2)) * 1.0)
    yield "a torus of real numbers", torus(18, 5, rng.random((648, 5, 5)))
    yield "a torus with forbidden pairs", torus(18, 4, np.where(rng.random((648, 4, 4)) < 0.1, np.inf, 3.0))
    yield "a large torus", torus(230, 2, rng.integers(0, 2, (105_800, 2, 2)) * 1.0)
    yield "a large torus of real numbers", torus(230, 3, rng.random((105_800, 3, 3)))
    for seed in (*range(4), *range(700, 712)):
        yield f"drawn {seed}", random_problem(seed)


def attempts() -> Iterator[tuple[str, Problem, str]]:
    """Every solver on some of the kinds, and `auto` with and without presolve on all."""
    every = list(kinds())
    solvers = [name for name in SOLVERS if not name.startswith(OTHERS)]
    for number, (name, problem) in enumerate(every):
        yield name, problem, "auto"
        small = problem.num_variables < 100
        if problem.num_variables in SPARSE:
            yield name, problem, "bp-learned"
        for place, solver in enumerate(solvers):
            if small and (number + place) % 3 == 0:
                yield name, problem, solver


def main(every: int) -> None:
    """Solve each n-th, and print the names of what was compiled with its types, the kind and the solver."""
    warnings.simplefilter("ignore")
    compiled, solved = [], 0
    with event.install_recorder("numba:compile") as recorder:
        for name, problem, solver in list(attempts())[::every]:
            before = len(recorder.buffer)
            try:
                _solve(problem, solver)
            except dabp.DabpError as error:
                if "binary factors" not in str(error):
                    raise
            solved += 1
            for _, one in recorder.buffer[before:]:
                if one.is_start:
                    kernel = one.data["dispatcher"].py_func.__qualname__
                    compiled.append(f"{kernel} for {solver} on {name}: {one.data['args']}")
    sys.stdout.write("\n".join([*compiled, f"{len(compiled)} functions were compiled in {solved} solves\n"]))
    sys.exit(bool(compiled))


def _solve(problem: Problem, solver: str) -> None:
    """For a moment, or for long enough that runs end and answers are put together."""
    long = problem.num_variables >= SPARSE[0]
    if solver != "auto":
        dabp.solve(problem, solver, max_iterations=900 if long or solver == "bp-learned" else 12)
    else:
        dabp.solve(problem, solver, time_limit=1.0 if long else 0.15, threads=2)
        dabp.solve(problem, solver, max_iterations=30, presolve=False)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)

"""Problems by kind: the kind is drawn first, so that what is rare in the world is not rare here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from checks.torture import tables
from checks.torture.oracle import Oracle
from dabp.errors import ProblemError
from dabp.problem import Problem

MOST = 20_000
"""Assignments of a problem, so that enumeration stays quick."""


@dataclass
class Shape:
    """What a kind decides: domains, scopes, how costs are drawn and how often they are forbidden."""

    sizes: list[int]
    scopes: list[list[int]]
    draw: tables.Draw = tables.integers
    forbidden: float = 0.0
    constant: float = 0.0


@dataclass
class Case:
    """A problem, the options of its solves, and its exact answer."""

    seed: int
    kind: str
    problem: Problem
    oracle: Oracle
    fix: dict[str, Any] = field(default_factory=dict)
    initial: np.ndarray[Any, Any] | None = None

    def __str__(self) -> str:
        return f"seed {self.seed}, {self.kind}: {self.problem!r}"


def case(seed: int) -> Case:
    """The problem of a seed; kinds come in turn."""
    rng = np.random.default_rng([seed, 7])
    kind = list(KINDS)[seed % len(KINDS)]
    while True:
        shape = KINDS[kind](rng)
        try:
            problem = _problem(rng, shape, f"torture-{seed}")
        except ProblemError as error:
            if "beyond 2^53" not in str(error):  # what is refused is drawn again
                raise
            continue
        return _with_options(rng, seed, kind, problem)


def _with_options(rng: np.random.Generator, seed: int, kind: str, problem: Problem) -> Case:
    """A limit next to the optimum, fixed variables and a start that need not be feasible, each now and then."""
    fix: dict[str, Any] = {}
    if problem.num_variables and (kind == "evidence" or rng.random() < 0.15):
        for v in rng.permutation(problem.num_variables)[: rng.integers(1, problem.num_variables + 1)].tolist():
            fix[problem.names.variable(v)] = int(rng.integers(problem.domain_sizes[v]))
    if kind == "limit" or rng.random() < 0.2:
        problem = problem.replace(limit=_limit(rng, problem, Oracle(problem, fix).float_optimum))
    initial = None
    if kind == "warm" or rng.random() < 0.2:
        initial = rng.integers(0, problem.domain_sizes)
    return Case(seed, kind, problem, Oracle(problem, fix), fix, initial)


def _limit(rng: np.random.Generator, problem: Problem, optimum: float | None) -> float:
    """On the optimum, or a little to either side: a unit in the last place, a hundredth, one, a thousand."""
    centre = 0.0 if optimum is None else optimum
    step = float(rng.choice([0.0, float(np.spacing(abs(centre) or 1.0)), 1e-9, 0.01, 1.0, 1e3]))
    return centre + step * float(rng.choice([-1.0, 1.0, 2.0]))


def _problem(rng: np.random.Generator, shape: Shape, name: str) -> Problem:
    maximize = bool(rng.random() < 0.4)
    sizes = np.array(shape.sizes, dtype=np.int64)
    pool, factor_table, known = [], [], {}
    for scope in shape.scopes:
        key = tuple(sizes[scope].tolist())
        if key in known and rng.random() < 0.15:  # shared
            factor_table.append(known[key])
            continue
        cells = math.prod(key)
        table = shape.draw(rng, cells)
        if scope:
            table[rng.random(cells) < shape.forbidden] = np.inf
        if maximize:
            table[np.isinf(table)] = -np.inf
        known[key] = len(pool)
        factor_table.append(len(pool))
        pool.append(table)
    return Problem(
        sizes,
        np.array([v for scope in shape.scopes for v in scope], dtype=np.int64),
        np.cumsum([0, *(len(scope) for scope in shape.scopes)]),
        np.concatenate([*pool, np.zeros(0)]),
        np.cumsum([0, *(len(table) for table in pool)]),
        np.array(factor_table, dtype=np.int64),
        constant=shape.constant,
        maximize=maximize,
        name=name,
    )


# ---- shapes --------------------------------------------------------------------------------------


def _sizes(rng: np.random.Generator, most: int = 7, largest: int = 5, least: int = 1) -> list[int]:
    sizes = rng.integers(least, largest + 1, rng.integers(1, most + 1)).tolist()
    while math.prod(sizes) > MOST:
        sizes.pop()
    return [int(size) for size in sizes]


def _scopes(rng: np.random.Generator, n: int, arities: tuple[int, ...] = (1, 2, 2, 2, 3), least: int = 1) -> list:
    count = int(rng.integers(least, 2 * n + 3))
    return [rng.permutation(n)[: min(int(rng.choice(arities)), n)].tolist() for _ in range(count)]


def _plain(draw: tables.Draw, **changes: Any) -> Callable[[np.random.Generator], Shape]:
    """Any scopes, costs of one kind."""

    def make(rng: np.random.Generator) -> Shape:
        sizes = _sizes(rng)
        forbidden = float(rng.choice([0.0, 0.0, 0.2]))
        return Shape(sizes, _scopes(rng, len(sizes)), draw, **{"forbidden": forbidden, **changes})

    return make


def _any_draw(rng: np.random.Generator) -> tables.Draw:
    kinds = (tables.integers, tables.negative, tables.few, tables.decimals, tables.reals)
    return kinds[int(rng.integers(len(kinds)))]


def _arity(rng: np.random.Generator) -> Shape:
    sizes = _sizes(rng, largest=3)
    return Shape(sizes, _scopes(rng, len(sizes), (0, 1, 2, 3, 4, 5)), _any_draw(rng), float(rng.choice([0.0, 0.15])))


def _wide(rng: np.random.Generator) -> Shape:
    """Domains up to 300, few variables."""
    sizes = [int(rng.integers(100, 301)), int(rng.integers(1, 12)), int(rng.integers(1, 5))]
    sizes = [sizes[i] for i in rng.permutation(3)[: rng.integers(1, 4)]]
    return Shape(sizes, _scopes(rng, len(sizes), (1, 2, 2)), _any_draw(rng), float(rng.choice([0.0, 0.3])))


def _differences(rng: np.random.Generator) -> Shape:
    """Large tables of two variables that few numbers say."""
    size = int(rng.integers(64, 100))
    some = [[0, 1], [1, 0], [0], [1], [0, 1], [2], [0, 2]]
    return Shape([size, size, 2], some[: rng.integers(1, len(some) + 1)], tables.by_difference)


def _hard(rng: np.random.Generator) -> Shape:
    """Forbidden nearly everywhere: few assignments are left, or none."""
    sizes = _sizes(rng, largest=4, least=2)
    return Shape(sizes, _scopes(rng, len(sizes)), _any_draw(rng), float(rng.choice([0.4, 0.6, 0.9, 1.0])))


def _duplicates(rng: np.random.Generator) -> Shape:
    """The same variables again and again, in other orders."""
    sizes = _sizes(rng, most=5)
    scopes = _scopes(rng, len(sizes))
    again = [rng.permutation(scopes[int(rng.integers(len(scopes)))]).tolist() for _ in range(6)]
    return Shape(sizes, scopes + again, _any_draw(rng), float(rng.choice([0.0, 0.1])))


def _constants(rng: np.random.Generator) -> Shape:
    """A constant next to which the costs are small; nullary factors too."""
    sizes = _sizes(rng)
    scopes = [*_scopes(rng, len(sizes)), *([[]] if rng.random() < 0.5 else [])]
    constant = float(rng.choice([-1.0, 1.0])) * float(np.round(10.0 ** rng.uniform(6, 13), int(rng.integers(0, 3))))
    return Shape(sizes, scopes, _any_draw(rng), float(rng.choice([0.0, 0.1])), constant)


def _disconnected(rng: np.random.Generator) -> Shape:
    """Islands, some of a single variable."""
    sizes = _sizes(rng, most=9, largest=3)
    n = len(sizes)
    island = rng.integers(0, 4, n)
    scopes = []
    for _ in range(2 * n):
        members = np.flatnonzero(island == rng.integers(0, 4))
        if len(members) > 1:
            scopes.append(rng.permutation(members)[: rng.integers(1, 3)].tolist())
    return Shape(sizes, scopes, _any_draw(rng), float(rng.choice([0.0, 0.1])))


def _single(rng: np.random.Generator) -> Shape:
    """Most domains have one value."""
    sizes = np.where(rng.random(8) < 0.7, 1, rng.integers(2, 5, 8)).tolist()
    return Shape([int(s) for s in sizes], _scopes(rng, 8, (1, 2, 3, 4)), _any_draw(rng), float(rng.choice([0.0, 0.1])))


def _nothing(rng: np.random.Generator) -> Shape:
    """No factors, or no variables."""
    sizes = [] if rng.random() < 0.4 else _sizes(rng)
    scopes: list[list[int]] = [[] for _ in range(int(rng.integers(0, 3)))]
    return Shape(sizes, scopes, tables.decimals, constant=float(rng.choice([0.0, -3.5])))


def _tree(rng: np.random.Generator) -> Shape:
    """Forests, on which several methods are exact."""
    sizes = _sizes(rng, most=9, largest=3, least=2)
    scopes = [rng.permutation([v, int(rng.integers(v))]).tolist() for v in range(1, len(sizes))]
    scopes += [[v] for v in range(len(sizes)) if rng.random() < 0.5]
    return Shape(sizes, scopes, _any_draw(rng), float(rng.choice([0.0, 0.1])))


def _dense(rng: np.random.Generator) -> Shape:
    """Every pair, so that elimination does not solve it by itself."""
    sizes = _sizes(rng, most=8, largest=3, least=2)
    n = len(sizes)
    scopes = [rng.permutation([u, v]).tolist() for u in range(n) for v in range(u) if rng.random() < 0.9]
    return Shape(sizes, scopes, _any_draw(rng), float(rng.choice([0.0, 0.05])))


def _all_kinds_of_cost(rng: np.random.Generator) -> Shape:
    """Tables of different kinds beside each other."""
    sizes = _sizes(rng)
    several = (tables.mixed, tables.integers, tables.near_ties, tables.zero, tables.equal, tables.decimals)

    def draw(rng: np.random.Generator, cells: int) -> tables.Table:
        return several[int(rng.integers(len(several)))](rng, cells)

    return Shape(sizes, _scopes(rng, len(sizes)), draw, float(rng.choice([0.0, 0.1])))


KINDS: dict[str, Callable[[np.random.Generator], Shape]] = {
    "arity": _arity,
    "wide": _wide,
    "integers": _plain(tables.integers),
    "decimals": _plain(tables.decimals),
    "reals": _plain(tables.reals),
    "negative": _plain(tables.negative),
    "ties": _plain(tables.few),
    "mixed magnitudes": _plain(tables.mixed),
    "a magnitude each": _plain(tables.one_magnitude),
    "near ties": _plain(tables.near_ties),
    "all equal": _plain(tables.equal),
    "zero": _plain(tables.zero),
    "tiny": _plain(tables.tiny),
    "huge": _plain(tables.huge, forbidden=0.0),
    "hard": _hard,
    "duplicates": _duplicates,
    "constants": _constants,
    "disconnected": _disconnected,
    "single values": _single,
    "nothing": _nothing,
    "tree": _tree,
    "dense": _dense,
    "all kinds of cost": _all_kinds_of_cost,
    "limit": lambda rng: _plain(_any_draw(rng))(rng),
    "evidence": lambda rng: _plain(_any_draw(rng))(rng),
    "warm": _hard,
    "differences": _differences,
}

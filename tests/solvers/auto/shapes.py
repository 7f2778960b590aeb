"""Problems whose components are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.line_up import LineUp, Place
from dabp.solvers.auto.member import Member, Run, Situation

QUICK_MEMBERS = "neighbourhood,dual"
"""Members that need little time to start."""


def cliques(count: int, size: int, domain: int, seed: int = 0) -> Problem:
    """Separate cliques with random costs."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(size), 2)))
    scopes = (np.arange(count)[:, None, None] * size + pairs).reshape(-1, 2)
    cells = domain * domain
    return Problem(
        np.full(count * size, domain),
        scopes.ravel(),
        np.arange(0, 2 * len(scopes) + 1, 2),
        rng.integers(0, 100, len(scopes) * cells).astype(float),
        np.arange(0, cells * len(scopes) + 1, cells),
    )


def beside(first: Problem, second: Problem, constant: float = 0.0) -> Problem:
    """Two problems as one that has them as components; each factor with a table of its own."""
    return Problem(
        np.concatenate([first.domain_sizes, second.domain_sizes]),
        np.concatenate([first.scope_variables, second.scope_variables + first.num_variables]),
        np.concatenate([first.scope_offsets, first.scope_offsets[-1] + second.scope_offsets[1:]]),
        np.concatenate([first.pool, second.pool]),
        np.concatenate([first.pool_offsets, first.pool_offsets[-1] + second.pool_offsets[1:]]),
        constant=constant,
    )


def from_pairs(side: int, domain: int, table: Callable[[], np.ndarray]) -> Problem:
    """A square grid whose pairs of neighbours have the tables that `table` makes."""
    number = np.arange(side * side).reshape(side, side)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    scopes = np.concatenate([np.stack(pair, axis=-1).reshape(-1, 2) for pair in pairs])
    ends = np.arange(len(scopes) + 1)
    pool = np.concatenate([np.asarray(table(), dtype=float).ravel() for _ in scopes])
    return Problem(np.full(side * side, domain), scopes.ravel(), 2 * ends, pool, domain**2 * ends)


def placed(name: str, plan: Callable[[Situation], Run] | None = None, *, weight: float = 1.0, **more: object) -> Place:
    """A member that always runs the solver of its name, or as planned."""
    member = Member(
        solver=name,
        plan=plan or (lambda situation: Run(make_solver(name))),
        weights={},
        turn=int(more.pop("turn", 100)),  # type: ignore[call-overload]
        patient=bool(more.pop("patient", False)),
        polishing=bool(more.pop("polishing", False)),
        opens=bool(more.pop("opens", False)),
    )
    return Place(member, "small", weight, **more)  # type: ignore[arg-type]


def line_of(problem: Problem, *places: Place) -> LineUp:
    """A line-up of these members."""
    return LineUp(features_of(problem), list(places), [])

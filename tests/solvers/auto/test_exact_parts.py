"""What is narrow is eliminated, alone or beside what is searched."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dabp
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.auto import Auto
from dabp.solvers.auto.exact_parts import ExactElimination, exact_search, narrow_components
from dabp.solvers.base import Budget
from dabp.solvers.status import Status
from tests.solvers.auto.shapes import QUICK_MEMBERS, beside, cliques


@pytest.mark.parametrize(
    "problem",
    [Problem([]), Problem([], constant=2.0), Problem([3]), Problem([1, 1]), Problem([4, 2]), Problem([2] * 50)],
)
def test_odd_problems(problem: Problem) -> None:
    """No variables, one variable, no factors, domains of one value."""
    result = dabp.solve(problem, "auto", time_limit=5)
    assert result.status is Status.OPTIMAL
    assert result.cost == problem.constant


def test_many_components_are_solved_apart() -> None:
    """Two thousand cliques are eliminated, however many assignments they have together."""
    problem = cliques(2000, 4, 3)
    result = dabp.solve(problem, "auto", time_limit=20)
    assert result.status is Status.OPTIMAL
    for first in range(0, 40, 4):
        rows = np.array(list(itertools.product(range(3), repeat=4)))
        whole = np.tile(result.assignment, (len(rows), 1))
        whole[:, first : first + 4] = rows
        assert problem.cost(whole).min() == result.cost


def test_narrow_components_beside_a_wide_one() -> None:
    """What elimination solves and what is searched are put together into one assignment at the right cost."""
    wide = cliques(1, 30, 6)
    narrow = cliques(3, 5, 3, seed=1)
    whole = beside(narrow, wide, constant=5.0)
    solver = Auto(members=QUICK_MEMBERS, prove=False)
    result = dabp.solve(whole, solver, time_limit=60, max_iterations=200, presolve=False)
    best = dabp.solve(narrow, "auto", time_limit=5)
    assert narrow.cost(result.assignment[: narrow.num_variables]) == best.cost
    assert any("elimination" in note for note in result.notes)


def test_a_long_elimination_is_left_to_the_search() -> None:
    """Messages that fit the memory can still take long to compute; then members search instead."""
    band = [(i, j) for i in range(40) for j in range(i + 1, min(i + 4, 40))]
    scopes = np.array(band)
    domain, cells = 40, 1600
    problem = Problem(
        np.full(40, domain),
        scopes.ravel(),
        np.arange(0, 2 * len(band) + 1, 2),
        np.random.default_rng(0).integers(0, 100, len(band) * cells).astype(float),
        np.arange(0, cells * len(band) + 1, cells),
    )
    assert exact_search(problem) is not None
    assert exact_search(problem, 1e7) is None
    result = dabp.solve(problem, "auto", time_limit=0.3)
    assert result.cost is not None
    assert result.status is Status.LIMIT


def test_a_contradiction_without_variables_is_seen_without_presolve() -> None:
    """A factor that forbids everything proves infeasibility, beside narrow and wide components."""
    wide = generate("random-cop", variables=40, seed=0)
    count = wide.num_factors
    problem = wide.replace(
        domain_sizes=[*wide.domain_sizes, 2],
        scope_variables=[*wide.scope_variables, 40],
        scope_offsets=[0, *wide.scope_offsets, wide.scope_offsets[-1] + 1],
        pool=[*wide.pool, np.inf, 1.0, 2.0],
        pool_offsets=[*wide.pool_offsets, wide.pool_offsets[-1] + 1, wide.pool_offsets[-1] + 3],
        factor_table=[count, *wide.factor_table, count + 1],
        variable_names=None,
        factor_names=None,
    )
    for presolve in (False, True):
        assert dabp.solve(problem, "auto", time_limit=5, presolve=presolve).status is Status.INFEASIBLE


def test_the_smallest_components_are_taken_as_long_as_they_fit() -> None:
    """Of cliques of growing size those are eliminated that the work allows, whichever come first in the problem."""
    problem = beside(cliques(1, 9, 4), beside(cliques(1, 3, 4), cliques(1, 5, 4)))
    assert narrow_components(problem, 0.0).tolist() == []
    assert narrow_components(problem, 2e4).tolist() == [1, 2]


def test_elimination_beside_the_members_proves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the search for an order would take too long to wait for, it is made beside the members, and proves."""
    monkeypatch.setattr("dabp.solvers.auto.solver.FEW_VARIABLES", 0)
    monkeypatch.setattr("dabp.solvers.auto.solver.ORDER_SECONDS", 1.0)
    problem = cliques(40, 5, 3)
    result = dabp.solve(problem, Auto(members=QUICK_MEMBERS, prove=False), time_limit=20, presolve=False)
    assert any(note.startswith("mbe") and "proved it" in note for note in result.notes)
    assert result.status is Status.OPTIMAL
    assert result.cost == dabp.solve(problem, "mbe").cost


def test_an_elimination_too_wide_ends_at_once() -> None:
    """As a member it says that there is nothing to do, and nothing wrong."""
    wide = cliques(1, 30, 6)
    step = ExactElimination(horizon=10.0).start(wide, seed=0, budget=Budget()).step()
    assert step.finished is Status.CONVERGED
    assert step.bound is None

"""Bounds that files put on the total: what reaches them is no answer."""

from __future__ import annotations

import io
import itertools

import pytest

import dabp
from dabp.solvers.status import Status

EDGES = list(itertools.combinations(range(4), 2))


def clique(top: int) -> dabp.Problem:
    """Four variables of two values, one unit for each equal pair: the optimum is 2."""
    functions = "".join(f"2 {i} {j} 0 2\n0 0 1\n1 1 1\n" for i, j in EDGES)
    return dabp.read(io.StringIO(f"p 4 2 6 {top}\n2 2 2 2\n{functions}"), "wcsp")


@pytest.mark.parametrize(("top", "cost"), [(100, 2.0), (3, 2.0), (2, None), (1, None)])
@pytest.mark.parametrize("solver", ["toulbar2", "mbe", "auto"])
def test_the_optimum_must_be_strictly_below_top(top: int, cost: float | None, solver: str) -> None:
    """As for toulbar2, a solution of a .wcsp file costs less than its top."""
    result = dabp.solve(clique(top), solver, time_limit=20)
    assert result.cost == cost
    assert result.status is (Status.INFEASIBLE if cost is None else Status.OPTIMAL)


@pytest.mark.parametrize(
    ("text", "format", "status"),
    [
        ("p 1 2 2 5\n2\n0 3 0\n0 3 0\n", "wcsp", Status.INFEASIBLE),
        ("p 1 2 2 7\n2\n0 3 0\n0 3 0\n", "wcsp", Status.OPTIMAL),
        ("p 1 2 0 0\n2\n", "wcsp", Status.INFEASIBLE),
        ('{problem:{name:p,mustbe:"<5"},variables:{x:2},functions:{f:{scope:[],costs:[7]}}}', "cfn", Status.INFEASIBLE),
        ('{problem:{name:p,mustbe:">5"},variables:{x:2},functions:{f:{scope:[],costs:[3]}}}', "cfn", Status.INFEASIBLE),
        ('{problem:{name:p,mustbe:">5"},variables:{x:2},functions:{f:{scope:[],costs:[7]}}}', "cfn", Status.OPTIMAL),
    ],
)
def test_a_bound_binds_constants_too(text: str, format: str, status: Status) -> None:
    """Without any factor left the constant alone may reach the bound."""
    assert dabp.solve(dabp.read(io.StringIO(text), format)).status is status


def test_the_limit_is_kept_only_where_it_can_bind() -> None:
    """No total reaches 100; below 1 every unit is forbidden already."""
    assert [clique(top).limit for top in (100, 3, 2, 1)] == [None, 3.0, 2.0, None]


def test_writing_says_that_the_bound_is_left_out() -> None:
    """A format that cannot keep the bound loses it with a note, never silently."""
    notes = dabp.write(clique(3), io.StringIO(), "uai")
    assert any("3" in note and "left out" in note for note in notes)

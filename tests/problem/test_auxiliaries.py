"""Auxiliary variables: completed as defined, never worse than any other completion, and left out of answers."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ProblemError
from dabp.problem import Problem
from tests.problems import all_assignments


def parity(count: int, *, maximize: bool = False) -> Problem:
    """Binary variables, auxiliary ones that are their running parity, and a cost of 5 for an odd total."""
    bad = -np.inf if maximize else np.inf
    table = np.array([[[0 if (a + b) % 2 == c else bad for c in (0, 1)] for b in (0, 1)] for a in (0, 1)])
    scopes, last = [], 0
    for i in range(1, count):
        scopes.append([last, i, count + i - 1])
        last = count + i - 1
    return Problem(
        [2] * (2 * count - 1),
        [v for scope in scopes for v in scope] + [last],
        [*range(0, 3 * count - 2, 3), 3 * count - 2],
        [*table.ravel(), 0, 5],
        [0, 8, 10],
        [0] * (count - 1) + [1],
        maximize=maximize,
        definitions=list(range(count - 1)),
    )


@pytest.mark.parametrize("maximize", [False, True])
def test_completions_are_the_best_ones(maximize: bool) -> None:
    """One by one and as a batch, against all assignments of all variables."""
    problem = parity(4, maximize=maximize)
    assert (problem.auxiliaries.num_visible, problem.auxiliaries.count) == (4, 3)
    rows = all_assignments(problem)
    costs = problem.cost(rows)
    visible = np.unique(rows[:, :4], axis=0)
    whole = problem.auxiliaries.completed(visible)
    for seen, completed, cost in zip(visible, whole, problem.cost(visible), strict=True):
        among = costs[(rows[:, :4] == seen).all(axis=1)]
        assert cost == (among.max() if maximize else among.min()) == 5 * (seen.sum() % 2)
        assert problem.auxiliaries.completed(seen).tolist() == completed.tolist()
        assert problem.cost(completed) == cost
    assert problem.auxiliaries.completed(np.zeros((0, 4), dtype=np.int64)).shape == (0, 7)


def test_a_variable_may_have_several_definitions() -> None:
    """It takes the first value that all of them allow: here the larger of two numbers."""
    at_least = np.where(np.arange(3)[:, None] <= np.arange(3), 0.0, np.inf)
    problem = Problem([3, 3, 3], [0, 2, 1, 2], [0, 2, 4], at_least.ravel(), [0, 9], [0, 0], definitions=[0, 1])
    for seen in all_assignments(Problem([3, 3])):
        assert problem.auxiliaries.completed(seen).tolist() == [*seen, max(seen)]


def test_answers_leave_them_out_and_take_assignments_without() -> None:
    """Names, labels, explanations and assignments by name are about the visible variables."""
    problem = parity(3).replace(variable_names=["a", "b", "c", "aux1", "aux2"], definitions=[0, 1])
    assert problem.names.labelled([1, 1, 0]) == {"a": 1, "b": 1, "c": 0}
    assert problem.names.assignment({"a": 1, "b": 0, "c": 0}).tolist() == [1, 0, 0, 1, 1]
    assert problem.cost({"a": 1, "b": 0, "c": 0}) == 5
    lines = problem.explain([1, 0, 0])
    assert [(line.scope, line.values, line.cost) for line in lines] == [(("a", "b", "c"), (1, 0, 0), 5.0)]
    with pytest.raises(ProblemError, match="3 expected"):
        problem.cost([1, 0])
    with pytest.raises(ProblemError, match="no value for 'c'"):
        problem.cost({"a": 1, "b": 0})


@pytest.mark.parametrize("solver", ["auto", "toulbar2", "bp", "annealing", "tabu", "dsa"])
def test_solves_hide_them(solver: str) -> None:
    """Whatever the solver, start and fixed values go by visible variables, and so do answers and progress."""
    problem, seen = parity(5), []
    result = dabp.solve(
        problem,
        solver,
        initial=[1, 0, 0, 0, 0],
        fix={"x0": 1},
        max_iterations=50,
        time_limit=20,
        callbacks=[lambda progress: seen.append(progress.assignment) and None],
    )
    assert result.assignment is not None
    assert len(result.assignment) == 5
    assert result.assignment[0] == 1
    assert result.cost == problem.cost(result.assignment)
    assert result.values is not None
    assert list(result.values) == [f"x{i}" for i in range(5)]
    assert all(each is None or len(each) == 5 for each in seen)
    with pytest.raises(ProblemError, match="'x6' is auxiliary"):
        dabp.solve(problem, fix={"x6": 1})


@pytest.mark.parametrize(
    ("definitions", "words"),
    [
        ([7], "factors 0 to 2"),
        ([0, 0], "each once"),
        ([2], "looks at variables before"),
        ([0], "last of a problem"),
    ],
)
def test_definitions_that_define_nothing_are_refused(definitions: list[int], words: str) -> None:
    """In one sentence each."""
    with pytest.raises(ProblemError, match=words):
        Problem(
            [2, 2, 2],
            [0, 1, 0, 2, 2, 0],
            [0, 2, 4, 6],
            [0.0, 1, 1, 0],
            [0, 4],
            [0, 0, 0],
            definitions=definitions,
        )


def test_long_clauses_are_answered_as_the_file_counts_them() -> None:
    """MaxSAT's auxiliary variables are hidden in the same way, and every assignment costs what its clauses say."""
    import io

    clauses = [(3, [1, 2, 3, 4, 5, 6, 7]), (2, [-1, -2, 3, -4, 5, -6]), (None, [-3, 4, -5, 6, 7, -2]), (4, [-7])]
    text = "".join(f"{'h' if w is None else w} {' '.join(map(str, row))} 0\n" for w, row in clauses)
    problem = dabp.read(io.StringIO(text), "wcnf")
    assert problem.auxiliaries.num_visible == 7 < problem.num_variables
    for values in all_assignments(Problem([2] * 7)):
        false = [weight for weight, row in clauses if not any((values[abs(x) - 1] == 1) == (x > 0) for x in row)]
        assert problem.cost(values) == (np.inf if None in false else sum(filter(None, false)))

"""What linear rows show first: contradictions with the statements that they need, bounds, answers by diving."""

from __future__ import annotations

import math
from contextlib import closing

import pytest

from dabp.problem.guard import Guard
from dabp.problem.model import Model
from dabp.solvers.linear.highs import Highs
from dabp.solvers.linear.look import first_look, look
from tests.problems import exhaustive_optimum
from tests.solvers.linear.test_program import counting_problem

pytest.importorskip("highspy")


def crowded() -> Model:
    """Three days need two of three persons each, who work once; the fourth day has nothing to do with it."""
    model = Model("crowded")
    days = [model.add_variables((f"p{n}d{d}" for n in range(3)), ["on", "off"]) for d in range(4)]
    for d, names in enumerate(days):
        model.at_least(names, "on", 2 if d < 3 else 0, name=f"day {d}")
    for n in range(3):
        model.at_most([names[n] for names in days[:3]], "on", 1, name=f"person {n}")
    return model


def test_contradiction_names_its_statements() -> None:
    """Days and persons that contradict each other, and not the day that asks for nothing."""
    problem = crowded().build()
    with closing(Highs()) as highs:
        found = look(problem, highs, Guard(30.0), {})
    assert found.names is not None
    assert found.names <= {"day 0", "day 1", "day 2", "person 0", "person 1", "person 2"}
    assert len(found.names) >= 4


def test_fixed_values_count() -> None:
    """What two persons leave out the third cannot do."""
    model = Model()
    names = model.add_variables("abc", ["on", "off"])
    model.at_least(names, "on", 2, name="two")
    problem = model.build()
    guard = Guard(30.0)
    assert first_look(problem, {}, guard).names is None
    assert first_look(problem, {0: 1, 1: 1}, guard).names == {"two"}
    assert first_look(problem, {0: 1}, guard).assignment.tolist()[:3] == [1, 0, 0]  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(20))
def test_bounds_and_answers(seed: int) -> None:
    """No bound is above the optimum, a contradiction means that there is none, and an answer has all variables."""
    problem = counting_problem(seed)
    best = exhaustive_optimum(problem)
    found = first_look(problem, {}, Guard(30.0))
    if found.names is not None:
        assert best is None
    elif best is not None:
        assert found.bound <= (-best if problem.maximize else best) + 1e-9
        assert found.bound > -math.inf
        assert found.assignment is not None
        assert len(found.assignment) == problem.num_variables


def test_without_statements_or_time_there_is_nothing() -> None:
    """No process is started then."""
    problem = crowded().build()
    assert first_look(problem.replace(statements=()), {}, Guard(30.0)).names is None
    assert first_look(problem, {}, Guard()).bound == -math.inf

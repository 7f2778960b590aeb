"""What notebooks show of problems: counts that are right, and names that are text."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem.cards import facts_of
from tests.driver.test_summary import HOSTILE, read
from tests.problems import random_problem


def test_facts_are_counted() -> None:
    """By hand: sizes, arities, tables, forbidden cells and the range of the others."""
    model = dabp.Model("m")
    model.add_variable("a", 2)
    model.add_variable("b", 3)
    model.add_cost(["a", "b"], [[0, 1, np.inf], [2, -4, 3]])
    model.add_constant(7)
    facts = dict(facts_of(model.build()))
    assert facts["variables"] == "2 of 2 to 3 values"
    assert facts["cost functions"] == "1 of 2 variables"
    assert facts["costs"] == "6 in 1 tables, 1 forbidden; integers from -4 to 3"
    assert facts["constant"] == "7"


@pytest.mark.parametrize("seed", range(20))
def test_every_problem_has_a_card(seed: int) -> None:
    """Mixed arities, empty ones, forbidden ones: well formed, and the number of variables is on it."""
    problem = random_problem(seed)
    assert f"{problem.num_variables}" in read(problem._repr_html_()).text


def test_problems_without_anything_have_a_card() -> None:
    """No variables, no factors, nothing allowed."""
    read(dabp.Problem([])._repr_html_())
    text = read(dabp.Problem([2], [0], [0, 1], [np.inf, np.inf], [0, 2])._repr_html_()).text
    assert "nothing allowed" in text


def test_names_are_text() -> None:
    """Whatever a file calls a problem, a variable, a value or a function."""
    problem = dabp.Problem(
        [2], [0], [0, 1], [1, 2], [0, 2], variable_names=[HOSTILE], factor_names=[HOSTILE], name=HOSTILE,
        labels=[(HOSTILE, "b")],
    )  # fmt: skip
    tags = read(problem._repr_html_())
    assert tags.seen <= {"div", "b", "details", "summary", "table", "tr", "th", "td"}
    assert "<script>" in tags.text
    assert len(tags.text) < 2000


def test_cards_of_large_problems_are_short() -> None:
    """Twenty rows of each, and how many more there are."""
    problem = dabp.Problem.grid(np.zeros((50, 50, 4)), "potts")
    card = problem._repr_html_()
    assert "… and 2,480 more" in read(card).text
    assert len(card) < 20_000


def test_models_show_what_they_hold_so_far() -> None:
    """Counts in a line, the problem's card, and why there is none where it cannot be built."""
    model = dabp.Model("m")
    assert repr(model) == "Model('m', minimise, 0 variables, 0 cost functions)"
    read(model._repr_html_())
    model.add_variables("abc", 3)
    model.add_costs([[0, 1], [1, 2]], np.eye(3))
    assert repr(model) == "Model('m', minimise, 3 variables, 2 cost functions)"
    text = read(model._repr_html_()).text
    assert text.startswith("Model m")
    assert "3 of 3 values" in text
    model.add_cost("a", [2.0**60, 0, 0])
    assert "cannot be built yet" in read(model._repr_html_()).text

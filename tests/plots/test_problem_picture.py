"""Pictures of problems: small ones node by node, large ones as a matrix, empty ones too."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.plots.problem_picture import plot_problem


def test_a_small_problem_shows_every_node() -> None:
    """Variables and large factors are one point each, binary factors one line each."""
    model = dabp.Model("m")
    model.add_variables("abcd", 2)
    model.add_cost(["a", "b"], [[0, 1], [2, 3]])
    model.add_cost(["b", "c", "d"], np.zeros((2, 2, 2)))
    ax = plot_problem(model.build())
    lines, spokes, factors, variables = ax.collections
    assert (len(lines.get_segments()), len(spokes.get_segments())) == (1, 3)
    assert (len(factors.get_offsets()), len(variables.get_offsets())) == (1, 4)
    assert [text.get_text() for text in ax.texts] == list("abcd")


def test_lines_are_as_wide_as_their_costs_differ() -> None:
    """Forbidden combinations do not count; a factor of equal costs is the thinnest."""
    model = dabp.Model("m")
    model.add_variables("abc", 2)
    model.add_cost(["a", "b"], [[0, np.inf], [2, 4]])
    model.add_cost(["b", "c"], np.full((2, 2), 7.0))
    widths = plot_problem(model.build()).collections[0].get_linewidths()
    assert widths == pytest.approx([2.0, 0.3])


def test_a_large_problem_becomes_a_matrix() -> None:
    """Every pair of a scope is counted once in each direction."""
    ax = plot_problem(dabp.generate("small-world", variables=400, domain=2, k=4, p=0, seed=0))
    assert round(float(ax.images[0].get_array().sum())) == 2 * 800


def test_many_lines_are_thin_and_translucent() -> None:
    """Of hundreds of lines each is seen through the others; of a few each is seen."""
    few = plot_problem(dabp.generate("random-cop", variables=10, domain=2, density=0.5, seed=0)).collections[0]
    many = plot_problem(dabp.generate("random-cop", variables=80, domain=2, density=0.5, seed=0)).collections[0]
    assert few.get_alpha() > 0.7
    assert many.get_alpha() < 0.35
    assert max(many.get_linewidths()) < max(few.get_linewidths()) / 2


def test_a_legend_says_what_widths_mean() -> None:
    """The least, the middle and the largest range of costs, as wide as their lines; nothing where all are alike."""
    model = dabp.Model("m")
    model.add_variables("abc", 2)
    model.add_cost(["a", "b"], [[0, 0], [0, 4]])
    same = plot_problem(model.build())
    assert same.get_legend() is None
    model.add_cost(["b", "c"], [[0, 0], [0, 10]])
    ax = plot_problem(model.build())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"costs differ by {value}" for value in (4, 7, 10)
    ]
    widths = [line.get_linewidth() for line in ax.get_legend().get_lines()]
    assert widths[0] == pytest.approx(min(ax.collections[0].get_linewidths()))
    assert widths[-1] == pytest.approx(max(ax.collections[0].get_linewidths()))


def test_nothing_to_draw() -> None:
    """Problems without variables or factors have a picture with their title."""
    assert "0 variables, 0 factors" in plot_problem(dabp.Problem([])).get_title()
    assert "1 variables, 0 factors" in plot_problem(dabp.Problem([3])).get_title()


def test_auxiliary_variables_are_counted_and_drawn_apart() -> None:
    """Names and circles are those of the model; what its statements added is small and grey."""
    model = dabp.Model("m")
    names = model.add_variables([f"x{i}" for i in range(30)], 2)
    model.linear(dict.fromkeys(names, 1), "==", 11)
    problem = model.build()
    ax = plot_problem(problem)
    assert problem.auxiliaries.count > 20
    assert ax.get_title().startswith(f"m: 30 variables and {problem.auxiliaries.count} auxiliary, ")
    assert sorted(text.get_text() for text in ax.texts) == sorted(names)
    circles = {collection.get_label(): len(collection.get_offsets()) for collection in ax.collections}
    assert (circles["variables"], circles["auxiliary"]) == (30, problem.auxiliaries.count)

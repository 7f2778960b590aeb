"""Pictures of problems and traces: drawn from what they are given, small and large, empty too."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import dabp
from dabp.driver.trace import Trace
from dabp.plots.compare import plot_compare
from dabp.plots.layout import spring_layout
from dabp.plots.problem import plot_problem
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture

mpl.use("agg")


@pytest.fixture(autouse=True)
def _closed() -> object:
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


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


def test_a_large_problem_becomes_a_matrix() -> None:
    """Every pair of a scope is counted once in each direction."""
    ax = plot_problem(dabp.generate("small-world", variables=400, domain=2, k=4, p=0, seed=0))
    counts = np.expm1(ax.images[0].get_array())
    assert round(float(counts.sum())) == 2 * 800


def test_nothing_to_draw() -> None:
    """Problems and traces without anything in them are drawn all the same."""
    plot_problem(dabp.Problem([]))
    plot_problem(dabp.Problem([3]))
    plot_compare({"nothing": Trace()})


def test_layout_brings_neighbours_together() -> None:
    """On a path, neighbours end up nearer than the ends."""
    places = spring_layout(6, np.array([[i, i + 1] for i in range(5)]))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < np.linalg.norm(places[0] - places[-1])


def test_command_line(run: Run, tmp_path: Path) -> None:  # noqa: F811
    """The three commands write pictures, and refuse what is no trace."""
    trace = Trace()
    trace.add_block(0.1, np.array([3.0, np.inf, 2.0]))
    trace.improvements += [(0.05, 1, 3.0), (0.1, 3, 2.0)]
    trace.bounds.append((0.1, 3, 1.0))
    trace.save(tmp_path / "t.jsonl")
    dabp.write(dabp.generate("random-cop", variables=5, domain=2, seed=0), tmp_path / "p.xml")
    picture = tmp_path / "x.png"
    for words in (["problem", "p.xml"], ["trace", "t.jsonl"], ["compare", "one={}", "t.jsonl"]):
        picture.unlink(missing_ok=True)
        files = [str(tmp_path / word) if "." in word else word.format(tmp_path / "t.jsonl") for word in words[1:]]
        assert run("plot", words[0], *files, "-o", picture) == (0, "", "")
        assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("plot", "trace", tmp_path / "p.xml", "-o", picture).code == 2
    assert run("plot", "problem", tmp_path / "p.xml", "-o", tmp_path / "x.doc").code == 2

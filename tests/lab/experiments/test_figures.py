"""The numbers of figures against a second computation, and that Matplotlib draws each."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.figures import FIGURES, draw, figure
from dabp.plots.drawing import draw_figure, label_order

mpl.use("Agg")


def test_cost_curves_are_means_of_running_bests(results):
    """A curve ends at the table's mean cost, never rises, and is right in the middle."""
    made = figure("cost-iterations", results, results.plan())
    assert [panel.title for panel in made.panels] == ["Random COPs", "Colouring"]
    curve = {c.label: c for c in made.panels[0].curves}["long (steps=100)"]
    runs = [r for r in results.plan().runs if r.group == "Random COPs" and r.label == "long (steps=100)"]
    place = len(curve.x) // 2
    expected = []
    for run in runs:
        rows = [r for r in results.trace(run.key) if r["type"] == "improvement" and r["iteration"] <= curve.x[place]]
        expected.append(min(r["value"] for r in rows) / results.summary(run.key)["constraints"])
    assert curve.y[place] == pytest.approx(np.mean(expected), rel=1e-5)
    finals = [results.summary(r.key)["cost"] / results.summary(r.key)["constraints"] for r in runs]
    assert curve.y[-1] == pytest.approx(np.mean(finals), rel=1e-5)
    assert np.all(np.diff(curve.y) <= 1e-4)


def test_convergence_counts_restarts(results):
    """The test's solver says it converges after 3 iterations: none at 0, all at the end."""
    made = figure("convergence", results, results.plan())
    curve = made.panels[0].curves[0]
    assert curve.y[0] == 0
    assert curve.y[-1] == 1


def test_sweep_has_a_point_per_value(results):
    """X is the swept parameter; solvers without it are left out."""
    made = figure("sweep", results, results.plan())
    assert made.x_label == "steps"
    assert [(c.label, c.x) for c in made.panels[0].curves] == [("long", [10, 100])]


def test_tuning_time_adds_what_is_swept(results):
    """Trying both values costs the sum of their mean times."""
    made = figure("tuning-time", results, results.plan())
    times = {}
    for o in results.outcomes(results.plan()):
        if o.run.group == "Random COPs" and not o.failed:
            times.setdefault(o.run.label, []).append(o.summary["cpu"])
    expected = np.mean(times["long (steps=10)"]) + np.mean(times["long (steps=100)"])
    assert {c.label: c.y[0] for c in made.panels[0].curves}["long"] == pytest.approx(expected)


@pytest.mark.parametrize("name", [n for n in FIGURES if n not in ("damping", "effective-iterations")])
def test_every_figure_is_drawn(results, name, tmp_path):
    """Whole figures save as SVG with a panel per group and the solvers named."""
    made = figure(name, results, results.plan())
    draw_figure(made, label_order(made)).savefig(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 2000


def test_a_group_is_drawn_into_given_axes(results):
    """Axes that are given come back; without any it makes its own."""
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    assert draw("cost-iterations", results, "Colouring", ax=ax) is ax
    assert ax.get_title() == "Colouring"
    assert len(ax.lines) == 3
    assert draw("memory", results.path).get_xlabel() == "MB"
    with pytest.raises(ParameterError, match="did you mean 'Colouring'"):
        draw("ablation", results, "Coloring")
    with pytest.raises(ParameterError, match="nothing to show"):
        draw("damping", results)
    plt.close("all")

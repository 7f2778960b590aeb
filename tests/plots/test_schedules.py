"""What bp-learned chose is drawn below its costs."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import dabp
from dabp.driver.trace import Trace
from dabp.plots.schedules import FEW_RUNS, runs_of
from dabp.plots.trace import plot_trace

RUN = {"kind": "soft", "iterations": 100, "damping": 0.3, "reinforcement": 0.8, "beta_start": 2.0, "beta_end": 32.0}


def panels(records: list[dict[str, Any]]) -> tuple[Any, Any]:
    """The two panels below the costs."""
    trace = Trace()
    trace.records += [{"restart": number, **record} for number, record in enumerate(records)]
    _, temperatures, others = plot_trace(trace).figure.axes
    return temperatures, others


def spans(ax: Any) -> list[list[float]]:
    """From where to where a panel is grey."""
    return [[patch.get_x(), patch.get_x() + patch.get_width()] for patch in ax.patches]


def test_a_trace_of_bp_learned_has_panels_of_its_schedules() -> None:
    """Two more panels: a line of β for each soft run, from start to end as recorded, and λ and g for each of all."""
    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=1)
    result = dabp.solve(problem, "bp-learned", params={"restarts": 3, "iterations": 30})
    figure = plot_trace(result.trace).figure
    _, temperatures, others = figure.axes
    soft = [record for record in result.trace.records if record["kind"] == "soft"]
    assert 0 < len(soft) < 3
    for line, record in zip(temperatures.lines[: len(soft)], soft, strict=True):
        assert line.get_ydata() == pytest.approx([record["beta_start"], record["beta_end"]])
        assert line.get_xdata()[1] == 30 * (record["restart"] + 1)
    assert [line.get_xdata()[1] for line in others.lines[:6:2]] == [30, 60, 90]
    assert [text.get_text() for text in others.get_legend().get_texts()] == ["damping λ", "reinforcement g"]
    plt.close(figure)


def test_where_a_run_is_min_sum_it_is_grey() -> None:
    """Beyond the iterations that had a temperature, up to which β is on its way; and where no β was recorded."""
    without = {key: value for key, value in RUN.items() if not key.startswith("beta")}
    temperatures, _ = panels([{**RUN, "soft_iterations": 75}, without, {**RUN, "soft_iterations": 0}, RUN])
    assert spans(temperatures) == [[75, 100], [100, 200], [200, 300]]
    first, last = temperatures.lines[:2]
    assert first.get_xdata() == pytest.approx([0, 75])
    assert first.get_ydata() == pytest.approx([2.0, 16.0])
    assert last.get_xdata() == pytest.approx([300, 400])
    assert last.get_ydata() == pytest.approx([2.0, 32.0])


def test_without_a_temperature_all_is_grey() -> None:
    """Of a solve that was min-sum throughout no β is drawn."""
    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=1)
    params = {"restarts": 3, "iterations": 30, "temperature": False}
    result = dabp.solve(problem, "bp-learned", params=params)
    _, temperatures, _ = plot_trace(result.trace).figure.axes
    assert spans(temperatures) == [[0, 30], [30, 60], [60, 90]]
    assert np.isnan(runs_of(result.trace.records).hottest).all()


@pytest.mark.parametrize(
    "damage",
    [
        {"beta_end": None},
        {"beta_start": None},
        {"beta_end": "x"},
        {"beta_start": 0.0},
        {"beta_end": -1.0},
        {"damping": None},
        {"reinforcement": float("nan")},
    ],
)
def test_a_damaged_record_leaves_a_gap(damage: dict[str, Any]) -> None:
    """It is passed over, and the runs after it stay where they were."""
    wrong = {key: value for key, value in {**RUN, **damage}.items() if value is not None}
    temperatures, others = panels([RUN, wrong, RUN])
    assert [line.get_xdata()[0] for line in temperatures.lines[:2]] == [0, 200]
    assert len(others.lines[:4]) == 4
    assert runs_of([RUN, wrong, RUN]).begin.tolist() == [0, 200]


@pytest.mark.parametrize("iterations", [None, "x", 0, -5, 1e299])
def test_lengths_that_are_none_are_passed_over(iterations: object) -> None:
    """Whatever a file has there, a picture is made of the rest."""
    assert runs_of([RUN, {**RUN, "iterations": iterations}, RUN]).begin.tolist() == [0, 100]
    panels([RUN, {**RUN, "iterations": iterations}])[0].figure.canvas.draw()


def test_many_runs_are_means() -> None:
    """A few artists whatever their number, no line for a restart; parts that are min-sum throughout are grey."""
    hard = {"kind": "min-sum", "iterations": 100, "damping": 0.5, "reinforcement": 0.4}
    soft = {**RUN, "soft_iterations": 50}
    temperatures, others = panels([hard] * 1000 + [soft, hard] * 1000)
    assert len(temperatures.lines) == 2
    assert len(others.lines) == 3
    assert len(temperatures.patches) <= FEW_RUNS
    assert max(right for _, right in spans(temperatures)) == pytest.approx(100_000, rel=0.05)
    starts, ends = (line.get_ydata()[-1] for line in temperatures.lines)
    assert (starts, ends) == pytest.approx((2.0, 8.0))
    share, damping, gain = (line.get_ydata()[[0, -1]].tolist() for line in others.lines)
    assert share == pytest.approx([1.0, 0.75], abs=0.01)
    assert damping == pytest.approx([0.5, 0.4], abs=0.01)
    assert gain == pytest.approx([0.4, 0.6], abs=0.01)


def test_a_part_between_two_without_a_temperature_is_filled() -> None:
    """Where soft runs are rare each of them is still seen: β is filled there and nowhere else."""
    hard = {"kind": "min-sum", "iterations": 100, "damping": 0.5, "reinforcement": 0.4}
    temperatures, _ = panels(([hard] * 39 + [RUN]) * 10)
    (filled,) = temperatures.collections
    assert len(filled.get_paths()) == 10

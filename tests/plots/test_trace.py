"""A trace as a picture: costs, the best so far, restarts, and what DABP learned."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.driver.trace import Trace
from dabp.plots.compare import plot_compare
from dabp.plots.schedules import FEW_RUNS
from dabp.plots.trace import DOTS, best_so_far, plot_trace, restarts
from dabp.solvers import SOLVERS, parameters


def test_costs_and_the_best_so_far() -> None:
    """A dot per feasible iteration, a line that falls with each improvement and lasts to the end."""
    trace = Trace()
    trace.add_block(0.1, np.array([3.0, np.inf, 2.0, 4.0]))
    trace.improvements += [(0.05, 1, 3.0), (0.1, 3, 2.0)]
    dots, best = plot_trace(trace).lines
    assert dots.get_xydata().tolist() == [[1, 3], [3, 2], [4, 4]]
    assert best.get_xydata().tolist() == [[1, 3], [3, 2], [4, 2]]


def test_restarts_are_marked_where_they_change() -> None:
    """The last iteration of each restart but the last."""
    trace = Trace()
    trace.records += [{"restart": r, "iteration": i} for r, i in ((0, 5), (0, 9), (1, 12), (2, 20))]
    assert restarts(trace) == [9, 12]


def test_what_dabp_learned_has_panels_of_its_own() -> None:
    """The loss, and damping and weights, each the range and mean of its windows; no loss where none is recorded."""
    problem = dabp.generate("random-cop", variables=6, domain=3, density=0.5, seed=0)
    trace = dabp.solve(problem, "dabp", max_iterations=40, params={"restarts": 1}).trace
    ax = plot_trace(trace)
    assert [each.get_ylabel() for each in ax.figure.axes] == [
        "cost",
        "loss (scaled units)",
        "damping λ",
        "weight × (degree − 1)",
    ]
    windows = [record for record in trace.records if "damping_min" in record]
    for panel, key in ((1, "loss"), (2, "damping_mean"), (3, "weight_mean")):
        drawn = ax.figure.axes[panel].lines[0].get_ydata()
        assert drawn == pytest.approx([window[key] for window in windows])
    windows[0]["loss"] = None
    assert len(plot_trace(trace).figure.axes[1].lines[0].get_xdata()) == len(windows) - 1
    for window in windows:
        window["loss"] = None
    labels = [each.get_ylabel() for each in plot_trace(trace).figure.axes]
    assert labels == ["cost", "damping λ", "weight × (degree − 1)"]


def test_an_empty_trace_is_drawn() -> None:
    """Nothing happened, and that is what it shows."""
    assert len(plot_trace(Trace()).lines[0].get_xydata()) == 0


@pytest.mark.parametrize("name", SOLVERS)
def test_the_trace_of_every_solver_is_drawn(name: str, tmp_path: Path) -> None:
    """Whatever a solver records about itself, also after a file: restarts lie within the iterations."""
    problem = dabp.generate("random-cop", variables=8, domain=3, density=0.6, seed=2)
    quick = {key: value for key, value in {"restarts": 3, "steps": 200}.items() if key in parameters(name)}
    result = dabp.solve(problem, name, max_iterations=60, time_limit=3, params=quick, seed=1, presolve=False)
    result.trace.save(tmp_path / "t.jsonl")
    trace = Trace.load(tmp_path / "t.jsonl")
    ax = plot_trace(trace)
    ax.figure.savefig(tmp_path / "t.png")
    at, best = best_so_far(trace)
    if len(at):
        assert best[-1] == result.cost
        assert ax.lines[1].get_ydata()[-1] == result.cost
    assert len(plot_compare({name: trace, "again": trace}).lines) >= 2 * (result.cost is not None)
    assert all(0 < place <= trace.iterations for place in restarts(trace))


def test_restarts_of_bp_are_where_its_iterations_end() -> None:
    """It records how long each was: the marks are their sums."""
    trace = Trace()
    trace.records += [{"restart": r, "iterations": n, "converged": True} for r, n in ((0, 5), (1, 7), (2, 4))]
    assert restarts(trace) == [5, 12]


def test_records_that_say_something_else_are_passed_over() -> None:
    """Those of a portfolio's members, and whatever a file has instead of numbers."""
    trace = Trace()
    trace.records += [{"restart": 0, "iteration": 3, "member": "dabp"}, {"restart": 1, "iteration": 9, "member": "x"}]
    trace.records += [{"restart": "x", "iteration": 3}, {"restart": 0}, {"restart": 1, "iteration": 10**400}, {}]
    trace.records += [{"damping_min": "x", "iteration": 1}]
    trace.improvements += [(0.1, 1, math.inf), (0.2, 2, 3.0)]
    assert restarts(trace) == []
    assert len(plot_trace(trace).figure.axes) == 1


def test_the_best_is_by_iteration_and_no_guess() -> None:
    """Not by block, in which the driver sees improvements; what was known before the first iteration is left out."""
    trace = Trace()
    trace.add_block(1.0, np.array([9.0, 8.0, 8.5, 5.0]))
    trace.improvements += [(0.0, 0, 100.0), (1.0, 4, 5.0)]
    at, best = best_so_far(trace)
    assert (at.tolist(), best.tolist()) == ([1, 2, 4], [9.0, 8.0, 5.0])
    given = Trace()
    given.improvements.append((0.0, 0, 100.0))
    assert [part.tolist() for part in best_so_far(given)] == [[1], [100.0]]


def test_iterations_are_whole() -> None:
    """No tick at 2.5, however few iterations there are."""
    for count in (1, 2, 3, 7, 20):
        trace = Trace()
        trace.add_block(1.0, np.arange(count, 0, -1.0))
        trace.improvements.append((1.0, count, 1.0))
        ax = plot_trace(trace)
        ax.figure.canvas.draw()
        assert all(tick == round(tick) for tick in ax.get_xticks())


def test_very_many_iterations_are_a_range() -> None:
    """Between the least and the largest of each part, with its median; the axis leaves out the most extreme."""
    trace = Trace()
    costs = np.tile([10.0, 20.0, 12.0], DOTS)
    costs[5] = 1e6
    trace.add_block(1.0, costs)
    trace.improvements.append((1.0, 1, 10.0))
    ax = plot_trace(trace)
    assert len(ax.collections) == 1
    assert set(ax.lines[0].get_ydata()) == {12.0}
    assert ax.get_ylim()[1] < 30


@pytest.mark.parametrize(("count", "marks"), [(5, 4), (FEW_RUNS, FEW_RUNS - 1), (FEW_RUNS + 1, 0), (5000, 0)])
def test_many_restarts_are_not_marked(count: int, marks: int) -> None:
    """Their lines would hide everything else, and take long."""
    trace = Trace()
    trace.add_block(1.0, np.arange(10.0))
    trace.records += [{"restart": number, "iterations": 2} for number in range(count)]
    assert len(plot_trace(trace).lines) == 2 + marks

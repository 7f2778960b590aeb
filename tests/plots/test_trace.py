"""A trace as a picture: costs, the best so far, restarts, and what DABP learned."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.driver.trace import Trace
from dabp.plots.trace import plot_trace, restarts


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
    """Damping and weights, each the range and mean of its windows."""
    problem = dabp.generate("random-cop", variables=6, domain=3, density=0.5, seed=0)
    trace = dabp.solve(problem, "dabp", max_iterations=40, params={"restarts": 1}).trace
    ax = plot_trace(trace)
    assert [each.get_ylabel() for each in ax.figure.axes] == ["cost", "damping λ", "weight × (degree − 1)"]
    windows = [record for record in trace.records if "damping_min" in record]
    means = ax.figure.axes[1].lines[0].get_ydata()
    assert means == pytest.approx([window["damping_mean"] for window in windows])


def test_an_empty_trace_is_drawn() -> None:
    """Nothing happened, and that is what it shows."""
    assert len(plot_trace(Trace()).lines[0].get_xydata()) == 0

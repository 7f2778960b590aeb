"""Several traces in one picture."""

from __future__ import annotations

import pytest

from dabp.driver.trace import Trace
from dabp.plots.compare import plot_compare


def test_each_run_is_a_step_curve_up_to_the_common_end() -> None:
    """A run that ended early keeps its cost until the last one ends; its bound is a thin line."""
    early, late = Trace(), Trace()
    early.improvements += [(0.1, 1, 9.0), (0.5, 3, 7.0)]
    early.bounds.append((0.5, 3, 5.0))
    late.improvements += [(2.0, 8, 8.0)]
    ax = plot_compare({"early": early, "late": late})
    first, bound, second = ax.lines
    assert first.get_xydata().tolist() == [[0.1, 9.0], [0.5, 7.0], [2.0, 7.0]]
    assert set(bound.get_ydata()) == {5.0}
    assert second.get_xydata().tolist() == [[2.0, 8.0], [2.0, 8.0]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["early", "late"]


def test_a_run_without_an_answer_is_left_out() -> None:
    """No curve and no legend."""
    ax = plot_compare({"nothing": Trace()})
    assert len(ax.lines) == 0
    assert ax.get_legend() is None
    assert len(plot_compare({}).lines) == 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_axis_shows_the_answers(sign: float) -> None:
    """A first guess of a million does not press the answers into a line, and the far bound is named at the edge."""
    one, two = Trace(maximize=sign < 0), Trace(maximize=sign < 0)
    one.improvements += [(0.0, 0, sign * 1e6), (0.1, 5, sign * 120), (0.2, 9, sign * 100)]
    two.improvements += [(0.0, 0, sign * 1e6), (0.3, 5, sign * 130), (0.4, 9, sign * 110)]
    one.bounds.append((0.2, 9, sign * -5000.0))
    ax = plot_compare({"one": one, "two": two})
    low, high = sorted(sign * limit for limit in ax.get_ylim())
    assert 60 < low < 100
    assert 110 < high < 400
    assert ax.get_ylim()[0] < ax.get_ylim()[1]
    assert [text.get_text().strip("↓↑ ") for text in ax.texts] == [f"bound {sign * -5000:.0f} (one)"]


def test_a_near_bound_is_named_on_its_line() -> None:
    """The best of several, inside of the axis."""
    one, two = Trace(), Trace()
    for trace, bound in ((one, 90.0), (two, 95.5)):
        trace.improvements += [(0.1, 1, 120.0), (0.2, 2, 100.0)]
        trace.bounds.append((0.2, 2, bound))
    ax = plot_compare({"one": one, "two": two})
    assert [text.get_text() for text in ax.texts] == ["bound 95.5 (two)"]
    assert ax.get_ylim()[0] < 95.5


def test_seconds_are_plain_numbers() -> None:
    """0.01, 0.1, 1, and no powers of ten."""
    trace = Trace()
    trace.improvements += [(0.001, 1, 9.0), (50.0, 3, 7.0)]
    ax = plot_compare({"a": trace})
    ax.figure.canvas.draw()
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert {"0.01", "0.1", "1", "10"} <= set(labels)


def test_a_solve_of_an_instant_has_one_decade_of_labels() -> None:
    """Two moments a microsecond apart are no reason for labels that overlap."""
    trace = Trace()
    trace.improvements += [(0.254805, 1, 9.0), (0.254806, 2, 7.0)]
    ax = plot_compare({"a": trace})
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    labels = [t.get_text() for t in ax.get_xticklabels(which="both") if low <= t.get_position()[0] <= high]
    assert [label for label in labels if label] == ["0.1"]

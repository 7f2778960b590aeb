"""Several traces in one picture."""

from __future__ import annotations

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

"""What bp-learned chose is drawn below its costs."""

import matplotlib.pyplot as plt
import pytest

import dabp
from dabp.plots.trace import plot_trace


def test_a_trace_of_bp_learned_has_panels_of_its_schedules():
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

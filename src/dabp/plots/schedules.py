"""What `bp-learned` chose for each of its runs: temperature, damping and reinforcement over the iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dabp.plots.style import colour, finish, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHOSEN = ("iterations", "damping", "reinforcement")
"""What a record of a run has; and one that is not min-sum β at its start and end."""


def plot_schedules(runs: list[dict[str, Any]], temperatures: Axes, others: Axes) -> None:
    """β from start to end of each run, on a logarithmic axis; below it damping, and the reinforcement it rises to.

    Runs of min-sum have no temperature: the upper panel is grey there.
    """
    begin = 0.0
    for number, run in enumerate(runs):
        span = [begin, begin + run["iterations"]]
        if "beta_start" in run:
            temperatures.plot(span, [run["beta_start"], run["beta_end"]], color=colour(1))
        else:
            temperatures.axvspan(*span, color="0.9", linewidth=0)
        others.plot(span, [run["damping"]] * 2, color=colour(1), label=None if number else "damping λ")
        label = None if number else "reinforcement g"
        others.plot(span, [0.0, run["reinforcement"]], color=colour(2), label=label)
        begin = span[1]
    temperatures.set_yscale("log")
    temperatures.set_ylabel("inverse temperature β")
    others.set_ylabel("λ and g")
    others.legend(framealpha=0.85, edgecolor="none")
    for ax in (temperatures, others):
        whole_numbers(ax)
        finish(ax)

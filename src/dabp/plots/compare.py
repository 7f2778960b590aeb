"""Several runs in one picture: cost against time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dabp.driver.trace import Trace
from dabp.plots.style import HUGE, colour, dash, marker
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_compare(traces: Mapping[str, Trace], ax: Axes | None = None) -> Axes:
    """The incumbent's cost against seconds, a step curve per run; the best bound as a thin line."""
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    end = max((_end(trace) for trace in traces.values()), default=1.0)
    for index, (name, trace) in enumerate(traces.items()):
        shown_costs = [(time, cost) for time, _, cost in trace.improvements if abs(cost) < HUGE]
        if not shown_costs:
            continue
        times, costs = np.array(shown_costs).T
        times, costs = np.append(np.maximum(times, 1e-3), end), np.append(costs, costs[-1])
        style = {"color": colour(index), "linestyle": dash(index), "marker": marker(index), "markersize": 4}
        ax.step(times, costs, where="post", label=shown(name), **style)
        if trace.bounds and abs(trace.bounds[-1][2]) < HUGE:
            ax.axhline(trace.bounds[-1][2], color=colour(index), linewidth=0.7, linestyle=":")
    ax.set_xscale("log")
    ax.set_xlabel("seconds")
    ax.set_ylabel("cost of the best assignment")
    ax.grid(alpha=0.3)
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    return ax


def _end(trace: Trace) -> float:
    moments = [time for time, *_ in (*trace.blocks[-1:], *trace.improvements[-1:], *trace.bounds[-1:])]
    return max([1e-3, *moments])

"""One run: cost against iteration, and what a DABP run learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dabp.plots.style import colour
from dabp.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_trace(trace: Trace, ax: Axes | None = None) -> Axes:
    """Each iteration's cost as a dot, the best so far as a line."""
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    costs = trace.iteration_costs
    iterations = np.arange(1, len(costs) + 1)
    finite = np.isfinite(costs)
    ax.plot(iterations[finite], costs[finite], ".", color="0.7", markersize=3, label="each iteration")
    if trace.improvements:
        at = np.array([max(iteration, 1) for _, iteration, _ in trace.improvements] + [max(len(costs), 1)])
        best = np.array([cost for *_, cost in trace.improvements] + [trace.improvements[-1][2]])
        ax.step(at, best, where="post", color=colour(0), label="best so far")
    ax.set_xlabel("iteration")
    ax.set_ylabel("cost")
    ax.grid(alpha=0.3)
    ax.legend()
    return ax

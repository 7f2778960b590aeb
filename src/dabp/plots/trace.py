"""One run: cost against iteration, and what a DABP run learned."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dabp.driver.trace import Trace
from dabp.plots.style import HUGE, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WINDOW = ("iteration", *(f"{what}_{part}" for what in ("damping", "weight") for part in ("min", "mean", "max")))
"""What a record of a DABP window has."""


def plot_trace(trace: Trace, ax: Axes | None = None) -> Axes:
    """Each iteration's cost as a dot, the best so far as a line, restarts as dotted lines.

    A DABP trace gets two more panels when no axes are given: damping factors, and weights × (degree − 1), each as the
    range and mean of a window. The axes of the costs are returned.
    """
    windows = [record for record in trace.records if _has_numbers(record, *WINDOW)]
    panels: list[Axes] = []
    if ax is None:
        from matplotlib import pyplot as plt

        if windows:
            _, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 7), layout="constrained", height_ratios=[2.2, 1, 1])
            ax, panels = axes[0], list(axes[1:])
        else:
            _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    _plot_costs(trace, ax)
    for panel, kind, label in zip(panels, ("damping", "weight"), ("damping λ", "weight × (degree − 1)"), strict=False):
        _plot_range(windows, kind, panel)
        panel.set_ylabel(label)
    marked = [ax, *panels]
    for iteration in restarts(trace):
        for each in marked:
            each.axvline(iteration + 0.5, color="0.6", linestyle=":", linewidth=0.8)
    marked[-1].set_xlabel("iteration")
    return ax


def restarts(trace: Trace) -> list[int]:
    """The last iteration of each restart but the last, as far as the solver records it.

    BP tells how many iterations each restart had, DABP where each of its windows ended. What members of a portfolio
    record counts their own iterations, which are not the trace's.
    """
    numbered: list[tuple[float, int]] = []
    passed = 0.0
    for record in trace.records:
        if "member" in record or not _has_numbers(record, "restart"):
            continue
        if _has_numbers(record, "iteration"):
            passed = record["iteration"]
        elif _has_numbers(record, "iterations"):
            passed += record["iterations"]
        else:
            continue
        numbered.append((record["restart"], int(passed)))
    return [done for (before, done), (after, _) in pairwise(numbered) if after != before]


def _has_numbers(record: dict[str, Any], *keys: str) -> bool:
    """Whether a record, which may come from a file, has numbers under these keys."""
    return all(isinstance(record.get(key), int | float) and abs(record[key]) < HUGE for key in keys)


def _plot_costs(trace: Trace, ax: Axes) -> None:
    iterations, costs = trace.points
    finite = np.abs(costs) < HUGE
    ax.plot(iterations[finite], costs[finite], ".", color="0.7", markersize=3, label="each iteration")
    improvements = [(iteration, cost) for _, iteration, cost in trace.improvements if abs(cost) < HUGE]
    if improvements:
        at = np.array([max(iteration, 1) for iteration, _ in improvements] + [max(trace.iterations, 1)])
        best = np.array([cost for _, cost in improvements] + [improvements[-1][1]])
        ax.step(at, best, where="post", color=colour(0), label="best so far")
    ax.set_ylabel("cost")
    ax.grid(alpha=0.3)
    ax.legend()


def _plot_range(windows: list[dict[str, Any]], kind: str, ax: Axes) -> None:
    at = [window["iteration"] for window in windows]
    low, mean, high = ([window[f"{kind}_{part}"] for window in windows] for part in ("min", "mean", "max"))
    ax.fill_between(at, low, high, color=colour(1), alpha=0.25, linewidth=0)
    ax.plot(at, mean, color=colour(1))
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.grid(alpha=0.3)

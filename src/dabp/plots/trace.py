"""One run: cost against iteration, and what a run of DABP or of bp-learned learned."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dabp.driver.trace import Trace
from dabp.plots.schedules import FEW_RUNS, has_numbers, plot_schedules, runs_of
from dabp.plots.style import HUGE, colour, finish, new_figure, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DOTS = 5000
"""Iterations up to which each is a dot."""


def plot_trace(trace: Trace, ax: Axes | None = None) -> Axes:
    """Each iteration's cost as a dot, the best so far as a line, restarts as dotted lines unless they are many.

    A DABP trace gets more panels when no axes are given: the loss in scaled units, where it is recorded; damping
    factors, and weights × (degree − 1), each as the range and mean of a window. A trace of bp-learned gets panels of
    the temperature, damping and reinforcement of each run. The axes of the costs are returned.
    """
    keys = [f"{what}_{part}" for what in ("damping", "weight") for part in ("min", "mean", "max")]
    windows = [record for record in trace.records if has_numbers(record, "iteration", *keys)]
    losses = [window for window in windows if has_numbers(window, "loss")]
    chosen = runs_of(trace.records)
    panels: list[Axes] = []
    if ax is None:
        if windows or len(chosen.begin):
            heights = [2.2, 1, 1, 1] if losses else [2.2, 1, 1]
            _, axes = new_figure(len(heights), 1, sharex=True, figsize=(7, 5 / 3 * sum(heights)), height_ratios=heights)
            ax, panels = axes[0], list(axes[1:])
        else:
            _, ax = new_figure(figsize=(7, 4.2))
    _plot_costs(trace, ax)
    if panels and not windows:
        plot_schedules(chosen, *panels)
    elif panels:
        if losses:
            _plot_losses(losses, panels[0])
        _plot_range(windows, "damping", panels[-2], "damping λ")
        _plot_range(windows, "weight", panels[-1], "weight × (degree − 1)")
    marked = [ax, *panels]
    ends = restarts(trace)
    for iteration in ends if len(ends) < FEW_RUNS else ():  # of more nothing could be seen but their lines
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
        if "member" in record or not has_numbers(record, "restart"):
            continue
        if has_numbers(record, "iteration"):
            passed = record["iteration"]
        elif has_numbers(record, "iterations"):
            passed += record["iterations"]
        else:
            continue
        numbered.append((record["restart"], int(passed)))
    return [done for (before, done), (after, _) in pairwise(numbered) if after != before]


def _plot_costs(trace: Trace, ax: Axes) -> None:
    iterations, costs = trace.points
    finite = np.abs(costs) < HUGE
    _plot_each(iterations[finite], costs[finite], ax)
    at, best = best_so_far(trace)
    if len(at):
        ax.step(np.append(at, max(trace.iterations, 1)), np.append(best, best[-1]), where="post", color=colour(0))
        ax.lines[-1].set_label("best so far")
        _focus(ax, costs[finite], best)
    ax.set_ylabel("cost")
    whole_numbers(ax)
    finish(ax)
    ax.legend(framealpha=0.85, edgecolor="none")


def best_so_far(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Where the best cost changed, and to what; what was known before the first iteration only if there is no other."""
    found = [(iteration, cost) for _, iteration, cost in trace.running_best()]
    given = [(max(iteration, 1), cost) for _, iteration, cost in trace.improvements]
    later = [(iteration, cost) for _, iteration, cost in trace.improvements if iteration > 0]
    events = sorted([*found, *later] or given, key=lambda event: event[0])
    events = [event for event in events if abs(event[1]) < HUGE]
    if not events:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    costs = np.array([cost for _, cost in events])
    rises = trace.maximize or (len(costs) > 1 and costs[-1] > costs[0])
    best = (np.maximum if rises else np.minimum).accumulate(costs)
    first = np.flatnonzero(np.diff(best, prepend=np.nan) != 0)
    return np.array([iteration for iteration, _ in events])[first], best[first]


def _plot_each(iterations: NDArray[np.int64], costs: NDArray[np.float64], ax: Axes) -> None:
    if len(costs) <= DOTS:
        ax.plot(iterations, costs, ".", color="0.7", markersize=3, label="each iteration")
        return
    starts = np.linspace(0, len(costs), 500, endpoint=False).astype(np.int64)
    low, high = np.minimum.reduceat(costs, starts), np.maximum.reduceat(costs, starts)
    medians = [np.median(part) for part in np.split(costs, starts[1:])]
    ax.plot(iterations[starts], medians, color="0.6", linewidth=0.8, label="median of iterations")
    ax.fill_between(iterations[starts], low, high, step="post", color="0.85", linewidth=0, label="range of iterations")


def _focus(ax: Axes, costs: NDArray[np.float64], best: NDArray[np.float64]) -> None:
    """Limit the axis to what is worth seeing: the line of the best, and all but the most extreme iterations."""
    if len(costs) < 20:
        return
    low, high = np.percentile(costs, [1.0, 99.0])
    kept = best[len(best) // 4 :]
    low, high = min(low, kept.min()), max(high, kept.max())
    margin = 0.05 * (high - low)
    if 0 < margin < HUGE:
        ax.set_ylim(low - margin, high + margin)


def _plot_losses(windows: list[dict[str, Any]], ax: Axes) -> None:
    at, values = [window["iteration"] for window in windows], [window["loss"] for window in windows]
    ax.plot(at, values, ".-", color=colour(2))
    _finish_panel(ax, "loss (scaled units)")


def _plot_range(windows: list[dict[str, Any]], kind: str, ax: Axes, label: str) -> None:
    at = [window["iteration"] for window in windows]
    low, mean, high = ([window[f"{kind}_{part}"] for window in windows] for part in ("min", "mean", "max"))
    ax.fill_between(at, low, high, color=colour(1), alpha=0.25, linewidth=0)
    ax.plot(at, mean, color=colour(1))
    _finish_panel(ax, label)


def _finish_panel(ax: Axes, label: str) -> None:
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.set_ylabel(label)
    whole_numbers(ax)
    finish(ax)

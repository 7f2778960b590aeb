"""Several runs in one picture: cost against time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dabp.driver.trace import Trace
from dabp.driver.wording import number
from dabp.plots.style import HUGE, colour, dash, finish, marker, new_figure, plain_numbers
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FIRST_SECONDS = 1e-3
"""The beginning of the axis; earlier improvements are drawn there."""


def plot_compare(traces: Mapping[str, Trace], ax: Axes | None = None) -> Axes:
    """The incumbent's cost against seconds, a step curve per run; each run's bound as a thin line, the best one named.

    The axis of costs shows where the answers are: first guesses, however bad, may lie outside of it.
    """
    if ax is None:
        _, ax = new_figure(figsize=(8, 4.6))
    end = max((_end(trace) for trace in traces.values()), default=1.0)
    begin = max(min((time for trace in traces.values() for time, *_ in trace.improvements), default=end), FIRST_SECONDS)
    answers: list[list[float]] = []
    bounds: list[tuple[float, str]] = []
    for index, (name, trace) in enumerate(traces.items()):
        shown_costs = [(time, cost) for time, _, cost in trace.improvements if abs(cost) < HUGE]
        if not shown_costs:
            continue
        times, costs = np.array(shown_costs).T
        answers.append(costs.tolist())
        times, costs = np.append(np.maximum(times, FIRST_SECONDS), end), np.append(costs, costs[-1])
        marks = {"marker": marker(index), "markersize": 4} if len(costs) <= 12 else {}
        ax.step(times, costs, where="post", label=shown(name), color=colour(index), linestyle=dash(index), **marks)
        if trace.bounds and abs(trace.bounds[-1][2]) < HUGE:
            ax.axhline(trace.bounds[-1][2], color=colour(index), linewidth=0.9, linestyle=":")
            bounds.append((trace.bounds[-1][2], name))
    if answers:
        maximize = any(trace.maximize or _rises(trace) for trace in traces.values())
        _focus(ax, answers, bounds, maximize)
    ax.set_xscale("log")
    if end < 10 * begin:  # at least a decade, so that a power of ten is in it
        ax.set_xlim(end / 20, 1.2 * end)
    ax.xaxis.set_major_formatter(plain_numbers())
    ax.xaxis.set_minor_formatter("")
    ax.set_xlabel("seconds")
    ax.set_ylabel("cost of the best assignment")
    finish(ax)
    if ax.get_legend_handles_labels()[0]:
        place = {} if len(answers) <= 6 else {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
        ax.legend(framealpha=0.85, edgecolor="none", **place)
    return ax


def _focus(ax: Axes, answers: list[list[float]], bounds: list[tuple[float, str]], maximize: bool) -> None:
    """Limit the axis to the last answers and half of all improvements; name the best bound, also if it lies outside."""
    sign = -1.0 if maximize else 1.0
    last = [sign * costs[-1] for costs in answers]
    every = sorted(sign * cost for costs in answers for cost in costs)
    best = min(last)
    worst = max(max(last) + 0.25 * (max(last) - best), every[len(every) // 2])
    margin = worst - best if worst > best else max(abs(best), 1.0) * 0.05
    low, high = best - 0.08 * margin, worst + 0.08 * margin
    tight = max((sign * bound for bound, _ in bounds), default=None)
    if tight is not None and tight >= best - 1.5 * margin:
        low = min(low, tight - 0.08 * margin)
    ax.set_ylim(*((low, high) if sign > 0 else (-low, -high)[::-1]))
    if tight is None:
        return
    name = next(name for bound, name in bounds if sign * bound == tight)
    text = f"bound {number(sign * tight)} ({shown(name)})"
    up, bottom = ("bottom", 0.015) if sign > 0 else ("top", 0.985)
    place, across = (0.995, sign * tight), ("axes fraction", "data")
    if not low <= tight <= high:
        text = f"{'↓' if sign > 0 else '↑'} {text}"
        place, across = (0.995, bottom), ("axes fraction", "axes fraction")
    ax.annotate(text, place, xycoords=across, ha="right", va=up, fontsize=8, color="0.35")


def _rises(trace: Trace) -> bool:
    """Whether improvements are upwards: a trace from a file does not say which way is better."""
    costs = [cost for _, _, cost in trace.improvements]
    return len(costs) > 1 and costs[-1] > costs[0]


def _end(trace: Trace) -> float:
    moments = [time for time, *_ in (*trace.blocks[-1:], *trace.improvements[-1:], *trace.bounds[-1:])]
    return max([FIRST_SECONDS, *moments])

"""The numbers behind every figure, computed once for Matplotlib (``dabp.plots.drawing``) and for the report's page.

A figure has a panel per group of instances, a panel a curve (or bars) per solver. To add one: write a function of
(results, plan) that gives a `Figure`, and add it to `FIGURES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError, suggestion
from dabp.lab.experiments.experiment_plan import Plan
from dabp.lab.experiments.statistics import mean_interval
from dabp.lab.experiments.store import Outcome, Results
from dabp.plots.drawing import Curve, Figure, Panel, draw_panel, label_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 120
"""How many points a curve is drawn with."""
LONGEST = 1000
"""The largest iteration limit of the convergence figure: the paper's T_max."""
Array = NDArray[np.float64]


def figure(name: str, results: Results, plan: Plan) -> Figure:
    """A figure by name."""
    if name not in FIGURES:
        raise ParameterError(f"there is no figure {name!r}{suggestion(name, FIGURES)}")
    made = FIGURES[name](results, plan)
    made.panels = [panel for panel in made.panels if panel.curves]
    return made


def draw(
    name: str,
    results: Results | str | Path,
    group: str | None = None,
    *,
    plan: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one group of instances (by default the first) of a figure, into `ax` or axes of its own."""
    source = results if isinstance(results, Results) else Results(results)
    made = figure(name, source, source.plan(plan))
    titles = [panel.title for panel in made.panels]
    if not titles:
        raise ParameterError(f"these results have nothing to show in figure {name!r}")
    if group is not None and group not in titles:
        raise ParameterError(f"the figure has no instances labelled {group!r}{suggestion(group, titles)}")
    panel = made.panels[titles.index(group) if group is not None else 0]
    return draw_panel(made, panel, label_order(made), ax)


def cost_per_iteration(results: Results, plan: Plan) -> Figure:
    """Mean of the best cost up to each iteration (paper Fig. 'solution quality')."""
    return _anytime(results, plan, "cost-iterations", "Cost by iteration", "iteration", "iteration", log_x=True)


def cost_per_second(results: Results, plan: Plan) -> Figure:
    """Mean of the best cost up to each moment."""
    return _anytime(results, plan, "cost-time", "Cost by time", "time", "seconds", log_x=True)


def convergence(results: Results, plan: Plan) -> Figure:
    """Share of restarts whose messages converge within a number of iterations.

    DABP also ends a restart when its costs have settled, often before its messages have; those count in a curve of
    their own, as they do in the authors' program.
    """
    panels = []
    limits = np.linspace(0, LONGEST, POINTS + 1)
    for group, by_label in _grouped(results, plan):
        curves = []
        for label, outcomes in by_label.items():
            rows = [
                row for o in outcomes if not o.failed for row in results.trace(o.run.key) if row["type"] == "restart"
            ]
            for name, ends in ((label, ("converged",)), (f"{label}, costs settled", ("converged", "settled"))):
                if rows and (ends == ("converged",) or any("settled" in row for row in rows)):
                    lengths = [row["iterations"] if any(row.get(end) for end in ends) else math.inf for row in rows]
                    rates = [(np.array(lengths) <= limit).mean() for limit in limits]
                    curves.append(Curve(name, _rounded(limits), _rounded(np.array(rates)), [], len(outcomes)))
        panels.append(Panel(group, curves))
    return Figure("convergence", "Convergence rate", "iteration limit", "share converged", "line", panels)


def sweep(parameter: str | None, name: str, title: str) -> Callable[[Results, Plan], Figure]:
    """A figure of mean cost against a swept parameter (by default whatever the plan sweeps)."""

    def build(results: Results, plan: Plan) -> Figure:
        names = dict.fromkeys(key for run in plan.runs for key in run.swept if parameter in (None, key))
        chosen = next(iter(names), parameter)
        panels = []
        for group, by_label in _grouped(results, plan):
            curves: dict[str, Curve] = {}
            for outcomes in by_label.values():
                run = outcomes[0].run
                value = run.swept.get(chosen or "")
                costs = _costs(outcomes)
                if isinstance(value, int | float) and costs:
                    curve = curves.setdefault(run.series, Curve(run.series, [], [], [], len(costs)))
                    mean, half = mean_interval(costs)
                    curve.x.append(value)
                    curve.y.append(mean)
                    curve.half.append(half)
            panels.append(Panel(group, list(curves.values())))
        return Figure(name, title, chosen or "parameter", "cost per constraint", "line", panels)

    return build


def tuning_time(results: Results, plan: Plan) -> Figure:
    """Mean processor seconds to try every swept value, or of one run for solvers that are not swept."""
    panels = []
    for group, by_label in _grouped(results, plan):
        totals: dict[str, float] = {}
        for outcomes in by_label.values():
            times = [o.summary["cpu"] for o in outcomes if not o.failed]
            series = outcomes[0].run.series
            totals[series] = totals.get(series, 0.0) + (float(np.mean(times)) if times else math.nan)
        curves = [Curve(s, [s], [total]) for s, total in totals.items() if not math.isnan(total)]
        panels.append(Panel(group, curves))
    return Figure("tuning-time", "Accumulated time of tuning", "", "processor seconds", "bars", panels)


def final_cost(results: Results, plan: Plan) -> Figure:
    """Mean final cost of each solver with its confidence interval; the ablations' figure."""
    panels = []
    for group, by_label in _grouped(results, plan):
        curves = []
        for label, outcomes in by_label.items():
            costs = _costs(outcomes)
            if costs:
                mean, half = mean_interval(costs)
                curves.append(Curve(label, [label], [mean], [half], len(costs)))
        panels.append(Panel(group, curves))
    return Figure("ablation", "Final cost", "", "cost per constraint", "dots", panels)


def memory(results: Results, plan: Plan) -> Figure:
    """Mean of the largest resident memory of the runs."""
    panels = []
    for group, by_label in _grouped(results, plan):
        curves = []
        for label, outcomes in by_label.items():
            peaks = [o.summary["peak_memory"] / 1e6 for o in outcomes if "peak_memory" in o.summary and not o.failed]
            if peaks:
                curves.append(Curve(label, [label], [float(np.mean(peaks))], [], len(peaks)))
        panels.append(Panel(group, curves))
    return Figure("memory", "Memory", "", "MB", "bars", panels)


FIGURES: dict[str, Callable[[Results, Plan], Figure]] = {
    "cost-iterations": cost_per_iteration,
    "cost-time": cost_per_second,
    "convergence": convergence,
    "damping": sweep("damping", "damping", "Damping sweep"),
    "effective-iterations": sweep("effective_iterations", "effective-iterations", "Effective iterations T_eff"),
    "sweep": sweep(None, "sweep", "Parameter sweep"),
    "tuning-time": tuning_time,
    "ablation": final_cost,
    "memory": memory,
}


def _grouped(results: Results, plan: Plan) -> Iterator[tuple[str, dict[str, list[Outcome]]]]:
    """Outcomes by group and solver label, in the order of the plan."""
    groups: dict[str, dict[str, list[Outcome]]] = {}
    for outcome in results.outcomes(plan):
        groups.setdefault(outcome.run.group, {}).setdefault(outcome.run.label, []).append(outcome)
    yield from groups.items()


def _costs(outcomes: list[Outcome]) -> list[float]:
    return [cost for cost in (o.cost for o in outcomes) if cost is not None]


def _anytime(results: Results, plan: Plan, name: str, title: str, column: str, x_label: str, log_x: bool) -> Figure:
    panels = []
    for group, by_label in _grouped(results, plan):
        curves = []
        for label, outcomes in by_label.items():
            steps = [_steps(results, o, column) for o in outcomes if o.cost is not None]
            curve = _mean_curve(label, steps)
            if curve is not None:
                curves.append(curve)
        panels.append(Panel(group, curves, _focus(curves)))
    return Figure(name, title, x_label, "cost per constraint", "line", panels, log_x)


def _focus(curves: list[Curve]) -> tuple[float, float] | None:
    """From the best end to the worst cost half way along a curve: first random assignments would flatten the rest."""
    if not curves:
        return None
    low = min(curve.y[-1] for curve in curves)
    high = max(curve.y[len(curve.y) // 2] for curve in curves)
    margin = 0.06 * (high - low or abs(high) or 1.0)
    return low - margin, high + margin


def _steps(results: Results, outcome: Outcome, column: str) -> tuple[Array, Array, float]:
    """When a run improved, to what cost per constraint, and when it ended."""
    rows = [row for row in results.trace(outcome.run.key) if row["type"] == "improvement"]
    scale = max(outcome.summary["constraints"], 1)
    where = np.array([row[column] for row in rows], dtype=np.float64)
    end = outcome.summary["runtime" if column == "time" else "iterations"]
    return where, np.array([row["value"] for row in rows]) / scale, float(end)


def _mean_curve(label: str, steps: list[tuple[Array, Array, float]]) -> Curve | None:
    """The mean of step functions from where all have an answer; a run that has ended keeps its last cost."""
    steps = [step for step in steps if len(step[0])]
    if not steps:
        return None
    first = max(float(where[0]) for where, _, _ in steps)
    end = max(max(stop, float(where[-1])) for where, _, stop in steps)
    first = max(first, 1e-3)
    grid = np.geomspace(first, max(end, first), POINTS) if end > first else np.array([first])
    grid[0], grid[-1] = first, max(end, first)
    values = np.array([costs[np.searchsorted(where, grid, side="right") - 1] for where, costs, _ in steps])
    intervals = [mean_interval(column) for column in values.T]
    means, halves = np.array(intervals).T
    return Curve(label, _rounded(grid), _rounded(means), _rounded(halves), len(steps))


def _rounded(values: Array) -> list[float]:
    """Six digits are more than a screen shows, and keep reports small."""
    return [float(f"{value:.6g}") for value in values]

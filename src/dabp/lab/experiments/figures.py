"""The numbers behind every figure, computed once for Matplotlib (``dabp.plots.drawing``) and for the report's page.

A figure has a panel per group of instances, a panel a curve (or bars) per solver. To add one: write a function of
(results, plan) that gives a `Figure`, and add it to `FIGURES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
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
"""Number of points of a curve."""

Array = NDArray[np.float64]
ByLabel = dict[str, list[Outcome]]
"""The outcomes of one group of instances by the label of their solver."""


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
    return _anytime(results, plan, "cost-iterations", "Cost by iteration", "iteration", "iteration")


def cost_per_second(results: Results, plan: Plan) -> Figure:
    """Mean of the best cost up to each moment."""
    return _anytime(results, plan, "cost-time", "Cost by time", "time", "seconds")


def convergence(results: Results, plan: Plan) -> Figure:
    """Share of restarts whose messages converge within a number of iterations, up to the paper's T_max of 1,000.

    DABP also ends a restart when its costs have settled, often before its messages have; those count in a curve of
    their own, as they do in the authors' program.
    """
    limits = np.linspace(0, 1000, POINTS + 1)

    def curves(by_label: ByLabel) -> Iterator[Curve]:
        for label, outcomes in by_label.items():
            done = [o for o in outcomes if not o.failed]
            rows = [row for o in done for row in results.trace(o.run.key) if row["type"] == "restart"]
            for name, ends in ((label, ("converged",)), (f"{label}, costs settled", ("converged", "settled"))):
                if rows and (ends == ("converged",) or any("settled" in row for row in rows)):
                    lengths = [row["iterations"] if any(row.get(end) for end in ends) else math.inf for row in rows]
                    rates = [(np.array(lengths) <= limit).mean() for limit in limits]
                    yield Curve(name, _rounded(limits), _rounded(np.array(rates)), [], len(outcomes))

    panels = _panels(results, plan, curves)
    return Figure("convergence", "Convergence rate", "iteration limit", "share converged", "line", panels)


def sweep(parameter: str | None, name: str, title: str) -> Callable[[Results, Plan], Figure]:
    """A figure of mean cost against a swept parameter (by default whatever the plan sweeps)."""

    def build(results: Results, plan: Plan) -> Figure:
        names = dict.fromkeys(key for run in plan.runs for key in run.swept if parameter in (None, key))
        chosen = next(iter(names), parameter)

        def curves(by_label: ByLabel) -> Iterable[Curve]:
            found: dict[str, Curve] = {}
            for outcomes in by_label.values():
                run, costs = outcomes[0].run, _costs(outcomes)
                value = run.swept.get(chosen or "")
                if isinstance(value, int | float) and costs:
                    curve = found.setdefault(run.series, Curve(run.series, [], [], [], len(costs)))
                    mean, half = mean_interval(costs)
                    curve.x.append(value)
                    curve.y.append(mean)
                    curve.half.append(half)
            return found.values()

        panels = _panels(results, plan, curves)
        return Figure(name, title, chosen or "parameter", "cost per constraint", "line", panels)

    return build


def tuning_time(results: Results, plan: Plan) -> Figure:
    """Mean processor seconds to try every swept value, or of one run for solvers that are not swept."""

    def curves(by_label: ByLabel) -> Iterator[Curve]:
        totals: dict[str, float] = {}
        for outcomes in by_label.values():
            times = [o.summary["cpu"] for o in outcomes if not o.failed]
            series = outcomes[0].run.series
            totals[series] = totals.get(series, 0.0) + (float(np.mean(times)) if times else math.nan)
        return (Curve(s, [s], [total]) for s, total in totals.items() if not math.isnan(total))

    panels = _panels(results, plan, curves)
    return Figure("tuning-time", "Accumulated time of tuning", "", "processor seconds", "bars", panels)


def final_cost(results: Results, plan: Plan) -> Figure:
    """Mean final cost of each solver with its confidence interval; the ablations' figure."""

    def curves(by_label: ByLabel) -> Iterator[Curve]:
        for label, outcomes in by_label.items():
            if costs := _costs(outcomes):
                mean, half = mean_interval(costs)
                yield Curve(label, [label], [mean], [half], len(costs))

    return Figure("ablation", "Final cost", "", "cost per constraint", "dots", _panels(results, plan, curves))


def memory(results: Results, plan: Plan) -> Figure:
    """Mean of the largest resident memory of the runs."""

    def curves(by_label: ByLabel) -> Iterator[Curve]:
        for label, outcomes in by_label.items():
            peaks = [o.summary["peak_memory"] / 1e6 for o in outcomes if "peak_memory" in o.summary and not o.failed]
            if peaks:
                yield Curve(label, [label], [float(np.mean(peaks))], [], len(peaks))

    return Figure("memory", "Memory", "", "MB", "bars", _panels(results, plan, curves))


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


def _panels(results: Results, plan: Plan, curves: Callable[[ByLabel], Iterable[Curve]]) -> list[Panel]:
    """A panel for each group of instances, with the curves of its outcomes."""
    return [Panel(group, list(curves(by_label))) for group, by_label in results.grouped(plan).items()]


def _costs(outcomes: list[Outcome]) -> list[float]:
    return [o.cost for o in outcomes if o.cost is not None]


def _anytime(results: Results, plan: Plan, name: str, title: str, column: str, x_label: str) -> Figure:
    def curves(by_label: ByLabel) -> Iterator[Curve]:
        for label, outcomes in by_label.items():
            curve = _mean_curve(label, [_steps(results, o, column) for o in outcomes if o.cost is not None])
            if curve is not None:
                yield curve

    panels = [Panel(panel.title, panel.curves, _focus(panel.curves)) for panel in _panels(results, plan, curves)]
    return Figure(name, title, x_label, "cost per constraint", "line", panels, log_x=True)


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
    first = max(1e-3, *(float(where[0]) for where, _, _ in steps))
    end = max(first, *(max(stop, float(where[-1])) for where, _, stop in steps))
    grid = np.geomspace(first, end, POINTS) if end > first else np.array([first])
    grid[0], grid[-1] = first, end
    values = np.array([costs[np.searchsorted(where, grid, side="right") - 1] for where, costs, _ in steps])
    means, halves = np.array([mean_interval(column) for column in values.T]).T
    return Curve(label, _rounded(grid), _rounded(means), _rounded(halves), len(steps))


def _rounded(values: Array) -> list[float]:
    """Six digits are more than a screen shows, and keep reports small."""
    return [float(f"{value:.6g}") for value in values]

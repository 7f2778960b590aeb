"""The numbers behind every figure, computed once for Matplotlib (``dabp.plots.drawing``) and for the report's page.

A figure has a panel per group of instances, a panel a curve (or bars) per solver. To add one: write a function that
gives the curves of a panel, and add a line to `FIGURES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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

PER_CONSTRAINT = "cost per constraint"


class Kind(NamedTuple):
    """A figure: its title, the label of x (None: the swept parameter), the label of y, its form, a panel's curves."""

    title: str
    x_label: str | None
    y_label: str
    form: str
    curves: Callable[[Results, ByLabel, str], Iterable[Curve]]
    """Called with the results, the outcomes of a group and the label of x."""
    parameter: str | None = None
    """The swept parameter of x, by default whatever the plan sweeps first."""
    anytime: bool = False
    """Whether curves fall with x, which is logarithmic."""


def kind_of(name: str) -> Kind:
    """The kind of a figure; raises `ParameterError` if there is none of that name."""
    if name not in FIGURES:
        raise ParameterError(f"there is no figure {name!r}{suggestion(name, FIGURES)}")
    return FIGURES[name]


def figure(name: str, results: Results, plan: Plan) -> Figure:
    """A figure by name."""
    kind = kind_of(name)
    swept = dict.fromkeys(key for run in plan.runs for key in run.swept if kind.parameter in (None, key))
    x_label = next(iter(swept), kind.parameter or "parameter") if kind.x_label is None else kind.x_label
    panels = []
    for group, by_label in results.grouped(plan).items():
        if curves := list(kind.curves(results, by_label, x_label)):
            panels.append(Panel(group, curves, _focus(curves) if kind.anytime else None))
    return Figure(name, kind.title, x_label, kind.y_label, kind.form, panels, log_x=kind.anytime)


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


def anytime(results: Results, by_label: ByLabel, x_label: str) -> Iterator[Curve]:
    """Mean of the best cost up to each iteration (paper Fig. 'solution quality'), or up to each moment."""
    for label, outcomes in by_label.items():
        curve = _mean_curve(label, [_steps(results, o, x_label) for o in outcomes if o.cost is not None])
        if curve is not None:
            yield curve


def convergence(results: Results, by_label: ByLabel, _: str) -> Iterator[Curve]:
    """Share of restarts whose messages converge within a number of iterations, up to the paper's T_max of 1,000.

    DABP also ends a restart when its costs have settled, often before its messages have; those count in a curve of
    their own, as they do in the authors' program.
    """
    limits = np.linspace(0, 1000, POINTS + 1)
    for label, outcomes in by_label.items():
        done = [o for o in outcomes if not o.failed]
        rows = [row for o in done for row in results.trace(o.run.key) if row["type"] == "restart"]
        for name, ends in ((label, ("converged",)), (f"{label}, costs settled", ("converged", "settled"))):
            if rows and (ends == ("converged",) or any("settled" in row for row in rows)):
                lengths = [row["iterations"] if any(row.get(end) for end in ends) else math.inf for row in rows]
                rates = [(np.array(lengths) <= limit).mean() for limit in limits]
                yield Curve(name, _rounded(limits), _rounded(np.array(rates)), [], len(outcomes))


def sweep(_: Results, by_label: ByLabel, parameter: str) -> Iterable[Curve]:
    """Mean cost against a swept parameter."""
    found: dict[str, Curve] = {}
    for outcomes in by_label.values():
        run, costs = outcomes[0].run, _costs(outcomes)
        value = run.swept.get(parameter)
        if isinstance(value, int | float) and costs:
            curve = found.setdefault(run.series, Curve(run.series, [], [], [], len(costs)))
            mean, half = mean_interval(costs)
            curve.x.append(value)
            curve.y.append(mean)
            curve.half.append(half)
    return found.values()


def tuning_time(_: Results, by_label: ByLabel, __: str) -> Iterator[Curve]:
    """Mean processor seconds to try every swept value, or of one run for solvers that are not swept."""
    totals: dict[str, float] = {}
    for outcomes in by_label.values():
        times = [o.summary["cpu"] for o in outcomes if not o.failed]
        series = outcomes[0].run.series
        totals[series] = totals.get(series, 0.0) + (float(np.mean(times)) if times else math.nan)
    return (Curve(s, [s], [total]) for s, total in totals.items() if not math.isnan(total))


def final_cost(_: Results, by_label: ByLabel, __: str) -> Iterator[Curve]:
    """Mean final cost of each solver with its confidence interval; the ablations' figure."""
    for label, outcomes in by_label.items():
        if costs := _costs(outcomes):
            mean, half = mean_interval(costs)
            yield Curve(label, [label], [mean], [half], len(costs))


def memory(_: Results, by_label: ByLabel, __: str) -> Iterator[Curve]:
    """Mean of the largest resident memory of the runs."""
    for label, outcomes in by_label.items():
        peaks = [o.summary["peak_memory"] / 1e6 for o in outcomes if "peak_memory" in o.summary and not o.failed]
        if peaks:
            yield Curve(label, [label], [float(np.mean(peaks))], [], len(peaks))


FIGURES: dict[str, Kind] = {
    "cost-iterations": Kind("Cost by iteration", "iteration", PER_CONSTRAINT, "line", anytime, anytime=True),
    "cost-time": Kind("Cost by time", "seconds", PER_CONSTRAINT, "line", anytime, anytime=True),
    "convergence": Kind("Convergence rate", "iteration limit", "share converged", "line", convergence),
    "damping": Kind("Damping sweep", None, PER_CONSTRAINT, "line", sweep, "damping"),
    "effective-iterations": Kind(
        "Effective iterations T_eff", None, PER_CONSTRAINT, "line", sweep, "effective_iterations"
    ),
    "sweep": Kind("Parameter sweep", None, PER_CONSTRAINT, "line", sweep),
    "tuning-time": Kind("Accumulated time of tuning", "", "processor seconds", "bars", tuning_time),
    "ablation": Kind("Final cost", "", PER_CONSTRAINT, "dots", final_cost),
    "memory": Kind("Memory", "", "MB", "bars", memory),
}


def _costs(outcomes: list[Outcome]) -> list[float]:
    return [o.cost for o in outcomes if o.cost is not None]


def _focus(curves: list[Curve]) -> tuple[float, float]:
    """From the best end to the worst cost half way along a curve: first random assignments would flatten the rest."""
    low = min(curve.y[-1] for curve in curves)
    high = max(curve.y[len(curve.y) // 2] for curve in curves)
    margin = 0.06 * (high - low or abs(high) or 1.0)
    return low - margin, high + margin


def _steps(results: Results, outcome: Outcome, x_label: str) -> tuple[Array, Array, float]:
    """When a run improved, to what cost per constraint, and when it ended."""
    rows = [row for row in results.trace(outcome.run.key) if row["type"] == "improvement"]
    scale = max(outcome.summary["constraints"], 1)
    column, end = ("time", "runtime") if x_label == "seconds" else ("iteration", "iterations")
    where = np.array([row[column] for row in rows], dtype=np.float64)
    return where, np.array([row["value"] for row in rows]) / scale, float(outcome.summary[end])


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

"""A function per figure of an experiment: each takes results and a group of instances, and draws into `ax`.

``cost_per_iteration("results", "Random COPs")`` draws that group (by default the first) on axes of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dabp.errors import ParameterError, suggestion
from dabp.experiments.figures import figure
from dabp.experiments.store import Results
from dabp.plots.drawing import draw_panel, label_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Source = Results | str | Path


def cost_per_iteration(
    results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None
) -> Axes:
    """Mean best cost per constraint by iteration, with 95 % confidence bands (the paper's solution quality)."""
    return _draw("cost-iterations", results, group, plan, ax)


def cost_per_second(
    results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None
) -> Axes:
    """Mean best cost per constraint by time, with 95 % confidence bands."""
    return _draw("cost-time", results, group, plan, ax)


def convergence_rate(
    results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None
) -> Axes:
    """Share of runs that converge within a number of iterations."""
    return _draw("convergence", results, group, plan, ax)


def damping_sweep(
    results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None
) -> Axes:
    """Mean cost per constraint against the damping factor λ."""
    return _draw("damping", results, group, plan, ax)


def effective_iterations_sweep(
    results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None
) -> Axes:
    """Mean cost per constraint against DABP's T_eff."""
    return _draw("effective-iterations", results, group, plan, ax)


def parameter_sweep(
    results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None
) -> Axes:
    """Mean cost per constraint against whatever the plan sweeps."""
    return _draw("sweep", results, group, plan, ax)


def tuning_time(results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None) -> Axes:
    """Accumulated time of trying every swept value, against solvers that need no tuning."""
    return _draw("tuning-time", results, group, plan, ax)


def ablation(results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None) -> Axes:
    """Final cost per constraint of each variant, with 95 % confidence intervals."""
    return _draw("ablation", results, group, plan, ax)


def memory(results: Source, group: str | None = None, *, plan: str | None = None, ax: Axes | None = None) -> Axes:
    """Mean of the largest resident memory of each solver's runs."""
    return _draw("memory", results, group, plan, ax)


def _draw(name: str, results: Source, group: str | None, plan: str | None, ax: Axes | None) -> Axes:
    source = results if isinstance(results, Results) else Results(results)
    made = figure(name, source, source.plan(plan))
    titles = [panel.title for panel in made.panels]
    if not titles:
        raise ParameterError(f"these results have nothing to show in figure {name!r}")
    if group is not None and group not in titles:
        raise ParameterError(f"the figure has no instances labelled {group!r}{suggestion(group, titles)}")
    panel = made.panels[titles.index(group) if group is not None else 0]
    return draw_panel(made, panel, label_order(made), ax)

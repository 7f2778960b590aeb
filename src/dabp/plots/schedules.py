"""What `bp-learned` chose for each of its runs: temperature, damping and reinforcement over the iterations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.plots.style import HUGE, colour, finish, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_RUNS = 60
"""Runs up to which each is drawn; of more, means are drawn over this number of parts of the iterations."""


class Runs(NamedTuple):
    """Columns with a number for each run."""

    begin: NDArray[np.float64]
    """Iterations before it."""
    soft: NDArray[np.float64]
    """The iteration from which on it is min-sum: its beginning, its end, or between."""
    end: NDArray[np.float64]
    hottest: NDArray[np.float64]
    """β at its beginning; NaN if it is min-sum throughout."""
    coldest: NDArray[np.float64]
    """β where it becomes min-sum or ends; NaN likewise."""
    damping: NDArray[np.float64]
    reinforcement: NDArray[np.float64]


def runs_of(records: Iterable[dict[str, Any]]) -> Runs:
    """The runs among a trace's records; one that does not say all leaves a gap, as files may be damaged."""
    rows, begin = [], 0.0
    for record in records:
        if "member" in record or not record.keys() & {"kind", "beta_start"}:
            continue
        if not has_numbers(record, "iterations") or not 0 < record["iterations"] < 10**15:
            continue
        if (row := _row(record, begin)) is not None:
            rows.append(row)
        begin += record["iterations"]
    return Runs(*np.array(rows, dtype=np.float64).reshape(len(rows), len(Runs._fields)).T)


def _row(record: dict[str, Any], begin: float) -> tuple[float, ...] | None:
    """A run's numbers; None if some of them are missing, or are none."""
    length = record["iterations"]
    if not has_numbers(record, "iterations", "damping", "reinforcement"):
        return None
    kept = record["damping"], record["reinforcement"]
    if not record.keys() & {"beta_start", "beta_end"}:
        return begin, begin, begin + length, np.nan, np.nan, *kept
    if not (has_numbers(record, "beta_start", "beta_end") and min(record["beta_start"], record["beta_end"]) > 0):
        return None
    soft = record["soft_iterations"] if has_numbers(record, "soft_iterations") else length
    soft = min(max(soft, 0), length)
    hottest, coldest = np.log([record["beta_start"], record["beta_end"]])
    betas = (np.nan, np.nan) if soft == 0 else np.exp([hottest, hottest + (coldest - hottest) * soft / length])
    return begin, begin + soft, begin + length, *betas, *kept


def has_numbers(record: dict[str, Any], *keys: str) -> bool:
    """Whether a record, which may come from a file, has numbers under these keys."""
    return all(isinstance(record.get(key), int | float) and abs(record[key]) < HUGE for key in keys)


def plot_schedules(runs: Runs, temperatures: Axes, others: Axes) -> None:
    """β from start to end of each run, on a logarithmic axis; below it damping, and the reinforcement it rises to.

    Where a run is min-sum it has no temperature: the upper panel is grey there. Of many runs means are drawn, that of
    β between those of its starts and ends, and a grey line below says which part of the iterations is min-sum.
    """
    temperatures.set_yscale("log")
    (_plot_each if len(runs.begin) <= FEW_RUNS else _plot_parts)(runs, temperatures, others)
    if np.isnan(runs.hottest).all():
        temperatures.set_yticks([])
        temperatures.minorticks_off()
    temperatures.set_ylabel("inverse temperature β")
    others.set_ylabel("λ and g")
    others.legend(framealpha=0.85, edgecolor="none")
    for ax in (temperatures, others):
        whole_numbers(ax)
        finish(ax)


def _plot_each(runs: Runs, temperatures: Axes, others: Axes) -> None:
    for number, (begin, soft, end, hottest, coldest, damping, reinforcement) in enumerate(zip(*runs, strict=True)):
        if soft > begin:
            temperatures.plot([begin, soft], [hottest, coldest], color=colour(1))
        if soft < end:
            temperatures.axvspan(soft, end, color="0.9", linewidth=0)
        others.plot([begin, end], [damping] * 2, color=colour(1), label=None if number else "damping λ")
        label = None if number else "reinforcement g"
        others.plot([begin, end], [0.0, reinforcement], color=colour(2), label=label)


def _plot_parts(runs: Runs, temperatures: Axes, others: Axes) -> None:
    """Means over the runs that begin in each of at most `FEW_RUNS` parts of the iterations."""
    place = np.minimum((runs.begin / runs.end[-1] * FEW_RUNS).astype(np.int64), FEW_RUNS - 1)
    firsts = np.flatnonzero(np.diff(place, prepend=-1))
    edges = np.append(runs.begin[firsts], runs.end[-1])
    x = np.repeat(edges, 2)[1:-1]  # both ends of each part: one between two without a β would not be filled

    def means(values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each part, at both its ends; NaN where no run has a number."""
        known = np.isfinite(values)
        counts = np.add.reduceat(known.astype(np.float64), firsts)
        return np.repeat(
            np.add.reduceat(np.where(known, values, 0.0), firsts) / np.where(counts > 0, counts, np.nan), 2
        )

    low, high = np.exp(means(np.log(runs.hottest))), np.exp(means(np.log(runs.coldest)))
    temperatures.fill_between(x, low, high, color=colour(1), alpha=0.25, linewidth=0)
    for ends in (low, high):
        temperatures.plot(x, ends, color=colour(1))
    for part in np.flatnonzero(np.isnan(low[::2])):
        temperatures.axvspan(edges[part], edges[part + 1], color="0.9", linewidth=0)
    hard = np.add.reduceat(runs.end - runs.soft, firsts) / np.add.reduceat(runs.end - runs.begin, firsts)
    others.plot(x, np.repeat(hard, 2), color="0.6", label="part that is min-sum")
    others.plot(x, means(runs.damping), color=colour(1), label="mean λ")
    others.plot(x, means(runs.reinforcement), color=colour(2), label="mean last g")

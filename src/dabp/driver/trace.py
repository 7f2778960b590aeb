"""The history of a solve: cost and time by iteration, as columns; to and from JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from dabp.problem.frames import frame
from dabp.safe_files import replacing

KEPT = 1_000_000
"""Iterations whose costs are kept one by one."""
FINE = 1e-3
"""Later blocks are joined until they take this part of the time so far: some thousands a day."""


class Point(NamedTuple):
    """One iteration of a trace: its number (from 1), the seconds then, and its own candidate's cost."""

    iteration: int
    time: float
    cost: float


@dataclass(repr=False)
class Trace:
    """Every iteration's cost, every improvement, and what solvers record about themselves.

    `iteration_costs` are of the iterations' own candidates (inf = infeasible, −inf when maximising); beyond the first
    million iterations only the best of each block is kept, and stands for all of it, and blocks become longer: a
    portfolio makes a hundred thousand a second, and may run for days. `improvements` are (time, iteration, cost) of
    each new incumbent, `bounds` (time, iteration, bound), `blocks` (time, iterations so far) of each, and
    `records` dictionaries such as a DABP window's loss and damping. Costs are in the problem's own units and direction.

    As a sequence it holds a `Point` for each iteration that is kept: ``trace[0]``, ``trace[-10:]``, ``len(trace)``.
    """

    blocks_of_costs: list[NDArray[np.float64]] = field(default_factory=list)
    blocks: list[tuple[float, int]] = field(default_factory=list)
    improvements: list[tuple[float, int, float]] = field(default_factory=list)
    bounds: list[tuple[float, int, float]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    maximize: bool = False

    @property
    def iterations(self) -> int:
        """How many iterations were recorded."""
        return self.blocks[-1][1] if self.blocks else 0

    @property
    def iteration_costs(self) -> NDArray[np.float64]:
        """The cost of each iteration's own candidate, in order."""
        counts = np.diff([0, *(end for _, end in self.blocks)])
        whole = [
            costs if len(costs) == count else np.full(count, costs[0])
            for costs, count in zip(self.blocks_of_costs, counts.tolist(), strict=True)
        ]
        return np.concatenate(whole) if whole else np.zeros(0)

    @property
    def iteration_times(self) -> NDArray[np.float64]:
        """Seconds at each iteration, interpolated inside a block."""
        if not self.blocks:
            return np.zeros(0)
        times, counts = np.array(self.blocks).T
        seconds: NDArray[np.float64] = np.interp(
            np.arange(1, int(counts[-1]) + 1), np.append(0.0, counts), np.append(0.0, times)
        )
        return seconds

    @property
    def points(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Iterations (from 1) and costs of what is kept: of a block with one cost for all, its first iteration."""
        starts = [0, *(end for _, end in self.blocks[:-1])]
        places = [start + np.arange(len(costs)) for start, costs in zip(starts, self.blocks_of_costs, strict=False)]
        empty: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        return 1 + np.concatenate([*empty, *places]), np.concatenate([np.zeros(0), *self.blocks_of_costs])

    def running_best(self) -> list[tuple[float, int, float]]:
        """(time, iteration, cost) of each iteration that was better than all before it.

        `improvements`, the driver's own list, is by block, and blocks depend on the machine's speed.
        """
        iterations, costs = self.points
        signed = -costs if self.maximize else costs
        best = np.minimum.accumulate(signed)
        better = np.flatnonzero(np.isfinite(best) & (best < np.concatenate([[np.inf], best])[:-1]))
        times, ends = np.array([(0.0, 0), *self.blocks]).T
        seconds = np.interp(iterations[better], ends, times)
        return list(zip(seconds.tolist(), iterations[better].tolist(), costs[better].tolist(), strict=True))

    def __len__(self) -> int:
        return sum(map(len, self.blocks_of_costs))

    def __bool__(self) -> bool:
        return True  # a trace of nothing is a trace

    @overload
    def __getitem__(self, key: int) -> Point: ...

    @overload
    def __getitem__(self, key: slice) -> list[Point]: ...

    def __getitem__(self, key: int | slice) -> Point | list[Point]:
        iterations, costs = self.points
        if isinstance(key, slice):
            chosen = iterations[key]
            return [
                Point(*row) for row in zip(chosen.tolist(), self._seconds(chosen), costs[key].tolist(), strict=True)
            ]
        place = range(len(iterations))[key]
        return Point(int(iterations[place]), self._seconds(iterations[place : place + 1])[0], float(costs[place]))

    def __iter__(self) -> Iterator[Point]:
        return iter(self[:])

    def _seconds(self, iterations: NDArray[np.int64]) -> list[float]:
        """When these iterations were, interpolated inside of blocks."""
        times, ends = np.array([(0.0, 0), *self.blocks]).T
        moments: list[float] = np.interp(iterations, ends, times).tolist()
        return moments

    def to_frame(self) -> Any:
        """A pandas frame, a row per kept iteration: ``iteration``, ``time``, ``cost``, ``best`` and ``bound``.

        `best` is the best cost so far, a guess or a start from before the first iteration included; `bound` what was
        proved by then, NaN before anything was.
        """
        iterations, costs = self.points
        better = np.fmax if self.maximize else np.fmin
        worst = -np.inf if self.maximize else np.inf
        known = self._known(self.improvements, iterations, worst)
        bounds = self._known(self.bounds, iterations, np.nan)
        best = better(better.accumulate(costs), known) if len(costs) else costs
        seconds = self._seconds(iterations)
        return frame({"iteration": iterations, "time": seconds, "cost": costs, "best": best, "bound": bounds})

    @staticmethod
    def _known(
        events: list[tuple[float, int, float]], iterations: NDArray[np.int64], before: float
    ) -> NDArray[np.float64]:
        """The last of these events' values by each of the iterations; `before` where there was none."""
        values = np.array([before, *(value for _, _, value in events)])
        return values[np.searchsorted([iteration for _, iteration, _ in events], iterations, side="right")]

    def __repr__(self) -> str:
        best = f", best {self.improvements[-1][2]:g}" if self.improvements else ""
        seconds = f" in {self.blocks[-1][0]:.3g} s" if self.blocks else ""
        return f"Trace({self.iterations:,} iterations{seconds}{best}, {len(self.records):,} records)"

    def add_block(self, time: float, costs: NDArray[np.float64]) -> None:
        """Record a block of iterations that ended at `time`."""
        if len(costs):
            kept = np.asarray(costs, dtype=np.float64)
            count = self.iterations + len(kept)
            if count > KEPT:
                if self.iterations > KEPT and len(self.blocks) > 1 and time - self.blocks[-2][0] < FINE * time:
                    self.blocks.pop()
                    kept = np.concatenate([self.blocks_of_costs.pop(), kept])
                kept = (np.max if self.maximize else np.min)(kept, keepdims=True)
            self.blocks_of_costs.append(kept)
            self.blocks.append((time, count))

    def so_far(self) -> Callable[[], dict[str, Any]]:
        """Remember where the trace stands; what comes back makes the columns up to here, whenever it is called."""
        earlier, improvements = max(len(self.blocks) - 1, 0), len(self.improvements)
        bounds, records = len(self.bounds), len(self.records)
        last = self.blocks[-1:], self.blocks_of_costs[-1:]  # later blocks may be joined to it

        def columns() -> dict[str, Any]:
            costs = [*self.blocks_of_costs[:earlier], *last[1]]
            return {
                "trace.costs": np.concatenate([np.zeros(0), *costs]),
                "trace.kept": np.array([len(part) for part in costs], dtype=np.int64),
                "trace.blocks": _columns([*self.blocks[:earlier], *last[0]], 2),
                "trace.improvements": _columns(self.improvements[:improvements], 3),
                "trace.bounds": _columns(self.bounds[:bounds], 3),
                "trace_records": self.records[:records],
            }

        return columns

    def restore(self, columns: dict[str, Any]) -> None:
        """Put back what `so_far` made."""
        ends = np.cumsum(columns["trace.kept"])
        self.blocks[:] = [(seconds, int(end)) for seconds, end in columns["trace.blocks"].tolist()]
        self.blocks_of_costs[:] = np.split(columns["trace.costs"], ends[:-1]) if len(ends) else []
        self.improvements[:] = [(t, int(i), c) for t, i, c in columns["trace.improvements"].tolist()]
        self.bounds[:] = [(t, int(i), c) for t, i, c in columns["trace.bounds"].tolist()]
        self.records[:] = columns["trace_records"]

    def to_lines(self) -> Iterable[str]:
        """JSON lines: one object per block, improvement, bound and record."""
        start = 0
        for (time, end), costs in zip(self.blocks, self.blocks_of_costs, strict=True):
            line = {"type": "block", "time": time, "first": start + 1, "costs": _plain(costs)}
            yield json.dumps(line if len(costs) == end - start else {**line, "count": end - start})
            start = end
        for kind, rows in (("improvement", self.improvements), ("bound", self.bounds)):
            for time, iteration, value in rows:
                yield json.dumps({"type": kind, "time": time, "iteration": iteration, "value": _number(value)})
        for record in self.records:
            yield json.dumps({"type": "record", **record})

    def save(self, target: str | Path | IO[str]) -> None:
        """Write JSON lines to a file, whole or not at all."""
        if isinstance(target, str | Path):
            with replacing(target) as stream:
                self.save(stream)
            return
        for line in self.to_lines():
            target.write(line + "\n")

    @classmethod
    def load(cls, source: str | Path) -> Trace:
        """Read what `save` wrote."""
        trace = cls()
        with open(source, encoding="utf-8") as stream:
            for line in stream:
                row = json.loads(line)
                kind = row.pop("type")
                if kind == "block":
                    costs = np.array([_float(c) for c in row["costs"]])
                    trace.blocks_of_costs.append(costs)
                    trace.blocks.append((row["time"], trace.iterations + row.get("count", len(costs))))
                elif kind == "record":
                    trace.records.append(row)
                else:
                    rows = trace.improvements if kind == "improvement" else trace.bounds
                    rows.append((row["time"], row["iteration"], _float(row["value"])))
        return trace


def _columns(rows: list[Any], width: int) -> NDArray[np.float64]:
    return np.array(rows, dtype=np.float64).reshape(-1, width)


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _plain(costs: NDArray[np.float64]) -> list[float | str]:
    return [_number(c) for c in costs.tolist()]


def _float(value: float | str) -> float:
    return float(value)

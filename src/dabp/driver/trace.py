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

KEPT_COSTS = 1_000_000
"""Number of iterations whose costs are all kept."""
JOINED_SHARE = 1e-3
"""Later blocks are joined until they take this share of the time so far, which makes some thousands a day."""


class Point(NamedTuple):
    """One iteration of a trace: its number from 1, its time in seconds, the cost of its candidate."""

    iteration: int
    time: float
    cost: float


@dataclass(repr=False)
class Trace:
    """Every iteration's cost, every improvement, and what solvers record about themselves.

    `iteration_costs` are costs of the iterations' own candidates (inf = infeasible, −inf when maximising). Beyond the
    first million iterations only the best of each block is kept and stands for the whole block. `improvements` are
    (time, iteration, cost) of each new incumbent, `bounds` (time, iteration, bound), `blocks` (time, iterations so
    far) of each block, and `records` dictionaries such as a DABP window's loss and damping. Costs are in the problem's
    own units and direction.

    As a sequence a trace has a `Point` for each kept iteration: ``trace[0]``, ``trace[-10:]``, ``len(trace)``.
    """

    blocks_of_costs: list[NDArray[np.float64]] = field(default_factory=list)
    blocks: list[tuple[float, int]] = field(default_factory=list)
    improvements: list[tuple[float, int, float]] = field(default_factory=list)
    bounds: list[tuple[float, int, float]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    maximize: bool = False

    @property
    def iterations(self) -> int:
        """Number of recorded iterations."""
        return self.blocks[-1][1] if self.blocks else 0

    @property
    def iteration_costs(self) -> NDArray[np.float64]:
        """The cost of each iteration's own candidate, in order."""
        counts = np.diff([0, *(end for _, end in self.blocks)]).tolist()
        whole = [np.resize(costs, count) for costs, count in zip(self.blocks_of_costs, counts, strict=True)]
        return np.concatenate([np.zeros(0), *whole])

    @property
    def iteration_times(self) -> NDArray[np.float64]:
        """Seconds at each iteration, interpolated inside a block."""
        return self._seconds(np.arange(1, self.iterations + 1))

    @property
    def points(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Kept iterations (from 1) and their costs; a block with one cost for all counts as its first iteration."""
        starts = [1, *(end + 1 for _, end in self.blocks[:-1])]
        places = [start + np.arange(len(costs)) for start, costs in zip(starts, self.blocks_of_costs, strict=False)]
        empty = np.zeros(0, dtype=np.int64)
        return np.concatenate([empty, *places]), np.concatenate([np.zeros(0), *self.blocks_of_costs])

    def running_best(self) -> list[tuple[float, int, float]]:
        """(time, iteration, cost) of each iteration that was better than all before it.

        `improvements`, the driver's own list, is by block, and blocks depend on the machine's speed.
        """
        iterations, costs = self.points
        signed = -costs if self.maximize else costs
        best = np.minimum.accumulate(signed)
        better = np.flatnonzero(np.isfinite(best) & (best < np.concatenate([[np.inf], best])[:-1]))
        seconds = self._seconds(iterations[better]).tolist()
        return list(zip(seconds, iterations[better].tolist(), costs[better].tolist(), strict=True))

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
        chosen = iterations[key]
        if isinstance(key, slice):
            rows = zip(chosen.tolist(), self._seconds(chosen).tolist(), costs[key].tolist(), strict=True)
            return [Point(*row) for row in rows]
        return Point(int(chosen), float(self._seconds(chosen)), float(costs[key]))

    def __iter__(self) -> Iterator[Point]:
        return iter(self[:])

    def _seconds(self, iterations: NDArray[np.int64]) -> NDArray[np.float64]:
        times, ends = np.array([(0.0, 0), *self.blocks]).T
        return np.asarray(np.interp(iterations, ends, times))

    def to_frame(self) -> Any:
        """A pandas frame, a row per kept iteration: ``iteration``, ``time``, ``cost``, ``best`` and ``bound``.

        `best` is the best cost so far, including a guess or a start from before the first iteration; `bound` is the
        proved bound by then, NaN before the first.
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
        """The last event's value at each iteration; `before` where there was no event yet."""
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
            if count > KEPT_COSTS:
                if (
                    self.iterations > KEPT_COSTS
                    and len(self.blocks) > 1
                    and time - self.blocks[-2][0] < JOINED_SHARE * time
                ):
                    self.blocks.pop()
                    kept = np.concatenate([self.blocks_of_costs.pop(), kept])
                kept = (np.max if self.maximize else np.min)(kept, keepdims=True)
            self.blocks_of_costs.append(kept)
            self.blocks.append((time, count))

    def so_far(self) -> Callable[[], dict[str, Any]]:
        """A function that returns the columns up to now, also when the trace has grown since."""
        earlier, improvements = max(len(self.blocks) - 1, 0), len(self.improvements)
        bounds, records = len(self.bounds), len(self.records)
        last = self.blocks[-1:], self.blocks_of_costs[-1:]  # later blocks may be joined to it

        def table(rows: list[Any], width: int) -> NDArray[np.float64]:
            return np.array(rows, dtype=np.float64).reshape(-1, width)

        def columns() -> dict[str, Any]:
            costs = [*self.blocks_of_costs[:earlier], *last[1]]
            return {
                "trace.costs": np.concatenate([np.zeros(0), *costs]),
                "trace.kept": np.array([len(part) for part in costs], dtype=np.int64),
                "trace.blocks": table([*self.blocks[:earlier], *last[0]], 2),
                "trace.improvements": table(self.improvements[:improvements], 3),
                "trace.bounds": table(self.bounds[:bounds], 3),
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
            line = {"type": "block", "time": time, "first": start + 1, "costs": [*map(_number, costs.tolist())]}
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
                    costs = np.array([*map(float, row["costs"])])
                    trace.blocks_of_costs.append(costs)
                    trace.blocks.append((row["time"], trace.iterations + row.get("count", len(costs))))
                elif kind == "record":
                    trace.records.append(row)
                else:
                    rows = trace.improvements if kind == "improvement" else trace.bounds
                    rows.append((row["time"], row["iteration"], float(row["value"])))
        return trace


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)

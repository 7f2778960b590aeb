"""The history of a solve: cost and time by iteration, as columns; to and from JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray


@dataclass
class Trace:
    """Every iteration's cost, every improvement, and what solvers record about themselves.

    `iteration_costs` are of the iterations' own candidates (inf = infeasible, −inf when maximising);
    `improvements` are (time, iteration, cost) of each new incumbent, `bounds` (time, iteration, bound),
    `blocks` (time, iterations so far) at the end of each block, and `records` dictionaries such as a DABP window's
    loss and damping. Costs are in the problem's own units and direction.
    """

    blocks_of_costs: list[NDArray[np.float64]] = field(default_factory=list)
    blocks: list[tuple[float, int]] = field(default_factory=list)
    improvements: list[tuple[float, int, float]] = field(default_factory=list)
    bounds: list[tuple[float, int, float]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)

    @property
    def iterations(self) -> int:
        """How many iterations were recorded."""
        return self.blocks[-1][1] if self.blocks else 0

    @property
    def iteration_costs(self) -> NDArray[np.float64]:
        """The cost of each iteration's own candidate, in order."""
        return np.concatenate(self.blocks_of_costs) if self.blocks_of_costs else np.zeros(0)

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

    def add_block(self, time: float, costs: NDArray[np.float64]) -> None:
        """Record a block of iterations that ended at `time`."""
        if len(costs):
            self.blocks_of_costs.append(np.asarray(costs, dtype=np.float64))
            self.blocks.append((time, self.iterations + len(costs)))

    def to_lines(self) -> Iterable[str]:
        """JSON lines: one object per block, improvement, bound and record."""
        start = 0
        for (time, end), costs in zip(self.blocks, self.blocks_of_costs, strict=True):
            yield json.dumps({"type": "block", "time": time, "first": start + 1, "costs": _plain(costs)})
            start = end
        for kind, rows in (("improvement", self.improvements), ("bound", self.bounds)):
            for time, iteration, value in rows:
                yield json.dumps({"type": kind, "time": time, "iteration": iteration, "value": _number(value)})
        for record in self.records:
            yield json.dumps({"type": "record", **record})

    def save(self, target: str | Path | TextIO) -> None:
        """Write JSON lines to a file."""
        if isinstance(target, str | Path):
            with open(target, "w", encoding="utf-8") as stream:
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
                    trace.add_block(row["time"], np.array([_float(c) for c in row["costs"]]))
                elif kind == "record":
                    trace.records.append(row)
                else:
                    rows = trace.improvements if kind == "improvement" else trace.bounds
                    rows.append((row["time"], row["iteration"], _float(row["value"])))
        return trace


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _plain(costs: NDArray[np.float64]) -> list[float | str]:
    return [_number(c) for c in costs.tolist()]


def _float(value: float | str) -> float:
    return float(value)

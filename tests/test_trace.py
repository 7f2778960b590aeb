"""Trace: to JSON lines and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dabp.trace import Trace


def test_round_trip(tmp_path: Path) -> None:
    """Everything in a trace survives saving, infinite costs included."""
    trace = Trace()
    trace.add_block(0.5, np.array([3.0, np.inf]))
    trace.add_block(0.7, np.zeros(0))
    trace.add_block(1.0, np.array([2.0, 1.0]))
    trace.improvements += [(0.5, 0, 3.0), (1.0, 2, 1.0)]
    trace.bounds.append((0.2, 0, -1.5))
    trace.records.append({"time": 0.1, "loss": 2.0})
    trace.save(tmp_path / "t.jsonl")
    loaded = Trace.load(tmp_path / "t.jsonl")
    assert loaded.iteration_costs.tolist() == [3.0, np.inf, 2.0, 1.0]
    assert loaded.iteration_times.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert (loaded.improvements, loaded.bounds) == (trace.improvements, trace.bounds)
    assert loaded.records == trace.records
    assert loaded.blocks == trace.blocks

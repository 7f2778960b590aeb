"""Trace: to JSON lines and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dabp.driver import trace as trace_module
from dabp.driver.trace import Trace


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


@pytest.mark.parametrize("maximize", [False, True])
def test_long_traces_keep_the_best_of_each_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maximize: bool
) -> None:
    """Beyond the limit a block is one number, counted as often as there were iterations; saved and loaded so."""
    monkeypatch.setattr(trace_module, "KEPT_COSTS", 3)
    trace = Trace(maximize=maximize)
    trace.add_block(1.0, np.array([5.0, 7.0]))
    trace.add_block(2.0, np.array([4.0, 6.0, 3.0]))
    best = 6.0 if maximize else 3.0
    trace.save(tmp_path / "t.jsonl")
    for each in (trace, Trace.load(tmp_path / "t.jsonl")):
        assert each.iterations == 5
        assert each.iteration_costs.tolist() == [5.0, 7.0, best, best, best]
        assert len(each.iteration_times) == 5
        assert sum(map(len, each.blocks_of_costs)) == 3


def test_late_blocks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit blocks grow with the time so far; what was remembered before they did stays as it was."""
    monkeypatch.setattr(trace_module, "KEPT_COSTS", 3)
    monkeypatch.setattr(trace_module, "JOINED_SHARE", 0.1)
    long = Trace()
    for time in (1.0, 1.01):  # the first block is beyond the limit by itself
        long.add_block(time, np.array([4.0, 3.0, 2.0, 5.0]))
    assert long.iteration_costs.tolist() == [2.0] * 8
    trace, lowest = Trace(), []
    trace.add_block(1.0, np.array([9.0, 8.0]))
    for step in range(400):
        trace.add_block(2.0 + step, np.array([500.0 - step, 600.0]))
        lowest += [500.0 - step] * 2
        if step == 350:
            remembered = trace.so_far()
    assert trace.iterations == 802
    assert len(trace.blocks) < 80
    assert trace.iteration_costs[:2].tolist() == [9.0, 8.0]
    assert (trace.iteration_costs[2:] <= lowest).all()
    again = Trace()
    again.restore(remembered())
    assert again.iterations == 704
    assert again.blocks[-1] == (352.0, 704)
    assert again.blocks_of_costs[-1].tolist() == [150.0]
    assert np.array_equal(again.iteration_costs[:600], trace.iteration_costs[:600])


@pytest.mark.parametrize("maximize", [False, True])
def test_the_running_best_needs_no_more_than_what_is_kept(monkeypatch: pytest.MonkeyPatch, maximize: bool) -> None:
    """Each better iteration with its time; of a block that is one number, the first."""
    monkeypatch.setattr(trace_module, "KEPT_COSTS", 4)
    monkeypatch.setattr(trace_module, "JOINED_SHARE", 0.0)
    trace, sign = Trace(maximize=maximize), -1.0 if maximize else 1.0
    trace.add_block(1.0, sign * np.array([np.inf, 5.0, 6.0, 4.0]))
    trace.add_block(2.0, sign * np.array([9.0] * 500_000 + [2.0]))
    trace.add_block(3.0, sign * np.array([3.0, 3.0]))
    assert trace.running_best() == [
        (0.5, 2, sign * 5.0),
        (1.0, 4, sign * 4.0),
        (pytest.approx(1.0, abs=1e-5), 5, sign * 2.0),
    ]
    assert trace.points[0].tolist() == [1, 2, 3, 4, 5, 500_006]
    assert Trace().running_best() == []


def test_a_trace_is_a_sequence_of_iterations() -> None:
    """Numbers, moments and costs of what is kept; slices as of a list, and an empty one is a trace, too."""
    trace = Trace()
    trace.add_block(2.0, np.array([5.0, 4.0]))
    trace.add_block(3.0, np.array([6.0]))
    assert list(trace) == [(1, 1.0, 5.0), (2, 2.0, 4.0), (3, 3.0, 6.0)]
    assert trace[-1].cost == 6.0
    assert [point.iteration for point in trace[::-2]] == [3, 1]
    assert len(trace) == 3
    with pytest.raises(IndexError):
        trace[3]
    assert (len(Trace()), list(Trace()), bool(Trace())) == (0, [], True)
    assert repr(trace) == "Trace(3 iterations in 3 s, 0 records)"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_frames_of_a_trace(sign: float) -> None:
    """A row per iteration with the best and the bound as they were known by then."""
    trace = Trace(maximize=sign < 0)
    trace.add_block(2.0, sign * np.array([5.0, np.inf, 4.0]))
    trace.add_block(3.0, sign * np.array([6.0, 1.0]))
    trace.improvements += [(0.0, 0, sign * 4.5), (2.0, 3, sign * 4.0), (3.0, 5, sign * 1.0)]
    trace.bounds.append((2.0, 3, sign * 0.5))
    frame = trace.to_frame()
    assert frame["iteration"].tolist() == [1, 2, 3, 4, 5]
    assert (sign * frame["best"]).tolist() == [4.5, 4.5, 4.0, 4.0, 1.0]
    assert frame["bound"].isna().tolist() == [True, True, False, False, False]
    assert len(Trace().to_frame()) == 0

"""What the trace tells of a window."""

from __future__ import annotations

import json

import dabp
from tests.problems import random_problem

SHORT = {"restarts": 2, "max_iterations_per_restart": 10, "update_interval": 5}


def test_trace_holds_what_a_window_learned() -> None:
    """Each window records its loss, Theorem 1's bound, damping and weights, which the bounds hold for."""
    result = dabp.solve(dabp.generate("random-cop", variables=8, domain=4, density=0.6, seed=3), "dabp", params=SHORT)
    records = result.trace.records
    assert [record["window"] for record in records] == list(range(len(records)))
    assert records[-1]["restart"] == 1
    for record in records:
        assert abs(record["smoothed_cost"] - record["cost"]) <= record["bound_theorem1"] + 1e-3
        assert 0.269 < record["damping_min"] <= record["damping_mean"] <= record["damping_max"] < 0.731
        assert 0 < record["weight_min"] <= 1.0 + 1e-5
        assert record["weight_max"] >= 1.0 - 1e-5
        assert record["loss"] > 0
    assert len(result.trace.iteration_costs) == result.iterations


def test_records_are_json_for_any_problem() -> None:
    """Infinite costs, problems without factors and windows of one iteration leave nothing that JSON does not know."""
    for seed in range(12):
        result = dabp.solve(random_problem(seed), "dabp", params={**SHORT, "max_iterations_per_restart": 6}, seed=seed)
        json.dumps(result.trace.records, allow_nan=False)

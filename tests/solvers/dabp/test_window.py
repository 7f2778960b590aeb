"""A window: costs of decoded assignments, effective iterations, when costs have settled, and its record."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers.dabp.window import Window
from tests.problems import random_problem
from tests.solvers.dabp.graphs import backends, parameters_of, start, structure_of

PROBLEM = Problem([2, 3], [0, 1], [0, 2], [5.0, 3.0, 4.0, 3.0, 9.0, 8.0], [0, 6])


def window_of(*assignments: tuple[int, int]) -> Window:
    """A window whose beliefs decode to these."""
    structure = structure_of(PROBLEM)
    unrolled = backends(structure)[0].window(parameters_of(structure), start(structure), False)
    window = Window(PROBLEM, unrolled, len(assignments), learns=False)
    for assignment in assignments:
        beliefs = np.full((2, 3), 7.0)
        beliefs[[0, 1], list(assignment)] = 1.0
        beliefs[0, 2] = np.inf
        window.add(beliefs)
    return window


def test_blocks_tell_each_iteration_once() -> None:
    """Costs come in order, and the best of a block is the first of its equals."""
    window = window_of((0, 0), (0, 1))
    step = window.block()
    assert step.costs.tolist() == [5.0, 3.0]
    assert (step.best.tolist(), step.best_cost) == ([0, 1], 3.0)
    window.add(window_of((1, 2)).beliefs[0])
    assert window.block().costs.tolist() == [8.0]
    assert window.costs.tolist() == [5.0, 3.0, 8.0]


def test_effective_iterations_are_the_best_but_the_first() -> None:
    """The first is never effective, of equal ones the earlier is taken (Alg. 1, line 11)."""
    window = window_of((0, 1), (0, 2), (1, 0), (0, 1), (1, 2))  # 3, 4, 3, 3, 8
    window.block()
    assert window.effective(2) == [2, 3]
    assert window.effective(9) == [2, 3, 1, 4]
    assert window_of((0, 1)).effective(2) == []


@pytest.mark.parametrize(
    ("costs", "settled"),
    [([9.0, 1.0, 1.0, 1.0], True), ([1.0, 1.0, 2.0], False), ([1.0, 1.0], False), ([1.0, np.inf, np.inf], False),
     ([0.0, 1e6, 1e6 + 900.0], True), ([0.0, 1e-4, 2e-4], True)],
)  # fmt: skip
def test_settled_is_relative_to_the_mean(costs: list[float], settled: bool) -> None:
    """The standard deviation without the first is at most a thousandth of the mean, of at least 1."""
    window = window_of((0, 0))
    window.costs = np.array(costs)
    assert window.settled is settled


SHORT = {"restarts": 2, "max_iterations_per_restart": 10, "update_interval": 5}


@pytest.mark.parametrize("constant", [0.0, 1e5])
def test_trace_holds_what_a_window_learned(constant: float) -> None:
    """Each window records its loss, Theorem 1's bound, damping and weights, which the bounds hold for.

    A large constant in every table, which the factor graph leaves out, is part of the recorded costs.
    """
    problem = dabp.generate("random-cop", variables=8, domain=4, density=0.6, seed=3)
    problem = problem.replace(pool=problem.pool + constant)
    result = dabp.solve(problem, "dabp", params=SHORT, presolve=False)
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
        params = {**SHORT, "max_iterations_per_restart": 6}
        result = dabp.solve(random_problem(seed), "dabp", params=params, seed=seed, time_limit=300)
        json.dumps(result.trace.records, allow_nan=False)

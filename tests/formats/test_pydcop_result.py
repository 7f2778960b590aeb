"""Answers in pyDCOP's layout."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dabp
from dabp.driver.result import Result
from dabp.formats.pydcop_result import as_pydcop
from dabp.problem import Problem
from dabp.solvers.status import Status

KEYS = ["agt_metrics", "assignment", "cost", "cycle", "msg_count", "msg_size", "status", "time", "violation"]
"""What ``pydcop solve`` prints, sorted."""


def test_keys_and_values() -> None:
    """All of pyDCOP's keys in its order, labels as they are, NumPy's included."""
    problem = Problem([2, 2], [0, 1], [0, 2], [3, 1, 4, 2], [0, 4], labels=[("R", "G"), tuple(np.arange(2) + 5)])
    result = dabp.solve(problem, "mgm", max_iterations=10)
    facts = json.loads(as_pydcop(result))
    assert list(facts) == KEYS
    assert facts["assignment"] == {"x0": "R", "x1": 6}
    assert (facts["cost"], facts["violation"], facts["status"]) == (1.0, 0, "FINISHED")
    assert (facts["cycle"], facts["msg_count"]) == (result.iterations, result.messages)


@pytest.mark.parametrize(
    ("status", "limit", "word"),
    [
        (Status.LIMIT, "time limit", "TIMEOUT"),
        (Status.LIMIT, "iteration limit", "FINISHED"),
        (Status.OPTIMAL, None, "FINISHED"),
        (Status.INTERRUPTED, None, "STOPPED"),
        (Status.INFEASIBLE, None, "FINISHED"),
    ],
)
def test_status(status: Status, limit: str | None, word: str) -> None:
    """Why it ended in pyDCOP's words; without an answer cost and violation are null."""
    facts = json.loads(as_pydcop(Result(None, None, status, None, 3, 0.5, 0, "bp", limit=limit)))
    assert facts["status"] == word
    assert facts["cost"] is facts["violation"] is None
    assert facts["assignment"] == {}

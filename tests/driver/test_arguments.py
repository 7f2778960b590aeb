"""Wrong arguments of `solve` are refused in one sentence, whatever they are; odd but meaningful ones are taken."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import dabp
from dabp.driver.arguments import as_callbacks, as_cost, as_count, as_number, as_path, as_seed, available_cores
from dabp.errors import DabpError, ParameterError, ProblemError

PROBLEM = dabp.generate("random-cop", variables=4, domain=3, density=0.9, seed=1)
NO_NUMBERS = ["3", [1], 1j, Decimal(3), {}, object(), math.nan, 10**400]


@pytest.mark.parametrize(
    "options",
    [
        *({name: value} for name in ("time_limit", "target") for value in NO_NUMBERS),
        *({name: value} for name in ("max_iterations", "stagnation") for value in NO_NUMBERS[:-1]),
        *({"memory_limit": value} for value in NO_NUMBERS[1:-1]),
        *({name: -1} for name in ("time_limit", "max_iterations", "stagnation", "memory_limit", "seed", "threads")),
        *({"max_iterations": value} for value in (1.5, math.inf)),
        *({name: value} for name in ("seed", "threads") for value in (1.5, math.nan, "1", [1])),
        {"seed": None},
        *({"fix": value} for value in ([("x0", 1)], "x0", 3, {"y": 0}, {"x0": 9})),
        *({"solver": value} for value in ("dpb", "BP")),
        *({"params": value} for value in ({"dampin": 1}, {"damping": "much"})),
        {"initial": [0]},
        {"resume": True},
        *({"params": value} for value in ([("tenure", 3)], "a=b", {1: 2})),
        *({"callbacks": value} for value in (None, 3, "a", [3], print)),
        *({"checkpoint": value} for value in (3, b"abc", "\0")),
        *({"solver": value} for value in (None, 3, ["tabu"], dabp.Problem)),
        *({"problem": value} for value in (None, "p.cfn", Path("p.cfn"), np.zeros((2, 2)))),
    ],
    ids=lambda options: "-".join(f"{name}={type(value).__name__}" for name, value in options.items()),
)
def test_what_means_nothing_is_refused(options: Mapping[str, Any]) -> None:
    """By an error of ours, before anything is solved."""
    given: dict[str, Any] = {"problem": PROBLEM, "solver": "bp", "max_iterations": 3, **options}
    with pytest.raises(DabpError) as caught:
        dabp.solve(given.pop("problem"), given.pop("solver"), **given)
    assert isinstance(caught.value, ParameterError | ProblemError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("solver", ["bp", "tabu", "annealing", "mgm", "neighbourhood"])
@pytest.mark.parametrize("iterations", [7, 7.0, np.int32(7), np.float32(7)])
def test_a_count_is_a_count_however_it_is_written(solver: str, iterations: Any) -> None:
    """7, 7.0 and NumPy's give the same run, in every kind of loop."""
    expected = dabp.solve(PROBLEM, solver, max_iterations=7, seed=3)
    found = dabp.solve(PROBLEM, solver, max_iterations=iterations, seed=np.int64(3))
    assert (found.iterations, found.cost) == (expected.iterations, expected.cost)


def test_numbers_of_all_kinds_are_taken() -> None:
    """Infinity where it means something; more than 64 bits are as many as anyone can count."""
    assert as_number("time", Fraction(1, 2)) == 0.5
    assert as_number("time", math.inf) == math.inf
    assert as_cost("target", -math.inf) == -math.inf
    assert as_count("iterations", 10**30) == 2**62
    assert as_seed(np.uint64(2**63)) == 2**63
    assert as_seed(10**40) == 10**40
    assert as_path("a") == Path("a")
    assert as_callbacks(iter([print])) == (print,)
    assert as_number("time", None) is None


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's share, not the machine; where the system cannot tell, the machine."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda _: [2, 3], raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for platform, cores in (("linux", 1), ("win32", 2), ("darwin", 8)):
        monkeypatch.setattr(sys, "platform", platform)
        assert available_cores() == cores

"""Solvers by name, and by what others call them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.solvers.base import Solver
from dabp.solvers.registry import ELSEWHERE, SOLVERS, entry, make_solver, parameters


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("maxsum", "bp"),
        ("max-sum", "bp"),
        ("Max_Sum", "bp"),
        ("dpop", "mbe"),
        ("gibbs", "annealing"),
        ("TRW-S", "dual"),
        ("cp-sat", "toulbar2"),
        ("Annealing", "annealing"),
        ("forest-lns", "neighbourhood"),
        ("dpb", "dbp"),
    ],
)
def test_a_wrong_name_leads_to_the_right_one(name: str, meant: str) -> None:
    """Other tools' words, other letters, and typing errors."""
    with pytest.raises(ParameterError, match=f"no solver {name!r};.* '{meant}'"):
        entry(name)


def test_hints_lead_to_solvers() -> None:
    """Every one is there, and none of the hints is itself a solver's name."""
    assert set(ELSEWHERE.values()) <= set(SOLVERS)
    assert not set(ELSEWHERE) & {name.replace("-", "") for name in SOLVERS}


ODD: list[Any] = [
    None,
    -1,
    0,
    2,
    2.0,
    2**63,
    -(10**30),
    0.5,
    1e300,
    math.inf,
    math.nan,
    "",
    "x",
    "1e400",
    True,
    [1],
    {},
    1j,
]


@pytest.mark.parametrize("name", SOLVERS)
def test_parameters_are_of_the_declared_type_or_refused(name: str) -> None:
    """Whatever is given, in Python or as text: kernels get the types they were compiled for."""
    for key, (hint, _) in parameters(name).items():
        for value in ODD:
            try:
                solver: Solver = make_solver(name, {key: value})
            except ParameterError:
                continue
            made = getattr(solver, key)
            options = getattr(hint, "__args__", (hint,))
            assert type(made) in options, (key, value)
            assert not isinstance(made, int) or abs(made) < 2**63


def test_numpy_numbers_are_numbers() -> None:
    """And give the same solver as Python's."""
    assert make_solver("bp", {"damping": np.float32(0.5)}) == make_solver("bp", {"damping": 0.5})
    assert make_solver("tabu", {"tenure": np.int16(5)}) == make_solver("tabu", {"tenure": "5"})
    assert type(make_solver("bp", {"tolerance": 0}).tolerance) is float  # type: ignore[attr-defined]

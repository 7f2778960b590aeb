"""``dabp info``: what is in a file, counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from dabp.cli.info import describe
from dabp.formats import write
from dabp.problem import Problem
from tests.cli.conftest import Run


def mixed() -> Problem:
    """Domains 2, 3 and 3, arities 1 and 2, a forbidden combination and a constant."""
    table = [0, 1, 2, 3, np.inf, 5]
    return Problem([2, 3, 3], [0, 0, 1], [0, 1, 3], [4, -6, *table], [0, 2, 8], constant=2.0, name="mixed")


def test_counts_by_size_and_arity() -> None:
    """Everything that a person chooses a solver by."""
    facts = describe(mixed())
    assert facts["domains"] == {"2": 1, "3": 2}
    assert facts["arities"] == {"1": 1, "2": 1}
    assert facts["degree"] == {"mean": 1.0, "max": 2}
    assert facts["costs"] == {"cells": 8, "tables": 2, "forbidden": 1}
    assert facts["range"] == {"min": -6, "max": 5, "integers": True}
    assert (facts["objective"], facts["constant"]) == ("minimise", 2.0)


def test_a_problem_of_nothing_is_described() -> None:
    """No variables, no costs: nothing to count, and dashes for people."""
    facts = describe(Problem([]))
    assert (facts["variables"], facts["degree"], facts["range"]) == (0, None, None)


def test_the_command_prints_for_people_and_programs(run: Run, tmp_path: Path) -> None:
    """The same facts; --presolve adds what is left."""
    write(mixed(), tmp_path / "m.cfn")
    facts = json.loads(run("info", tmp_path / "m.cfn", "--json", "--presolve").out)
    assert (facts["variables"], facts["factors"]) == (3, 2)
    assert {key for key, value in facts.items() if isinstance(value, str)} == {"name", "objective"}
    assert facts["presolved"]["variables"] == 0
    assert "\npresolve     3 → 0 variables" in run("info", tmp_path / "m.cfn", "--presolve").out
    shown = run("info", tmp_path / "m.cfn").out
    for words in ("2 of size 3", "1 of arity 2", "mean 1.0, max 2", "8 in 2 tables, 1 forbidden", "-6 to 5, integers"):
        assert words in shown

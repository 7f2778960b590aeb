"""``dabp evaluate``: the cost of a solution computed anew, and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run

FILE = "two 2 2 1 9\n2 2\n2 0 1 5 4\n0 0 7\n0 1 9\n1 0 2\n1 1 3\n"
"""Two variables and one factor that forbids 0 1."""


def write(folder: Path, answer: str) -> tuple[Path, Path]:
    problem, solution = folder / "two.wcsp", folder / "x.sol"
    problem.write_text(FILE)
    solution.write_text(answer)
    return problem, solution


def test_a_feasible_solution_has_its_cost_and_factors(run: Run, tmp_path: Path) -> None:
    """The factor with its scope, values and cost, as JSON and for people."""
    code, out, err = run("evaluate", *write(tmp_path, "1 1\n"), "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert (facts["cost"], facts["violated"]) == (3, 0)
    assert [(row["cost"], row["values"], row["violated"]) for row in facts["factors"]] == [(3, [1, 1], False)]
    assert "two: cost 3, 0 violated" in run("evaluate", tmp_path / "two.wcsp", tmp_path / "x.sol").out


def test_a_violated_constraint_is_named_and_ends_with_1(run: Run, tmp_path: Path) -> None:
    """A forbidden combination has no cost."""
    code, out, _ = run("evaluate", *write(tmp_path, "0 1\n"), "--json")
    assert code == 1
    assert (json.loads(out)["cost"], json.loads(out)["violated"]) == (None, 1)
    shown = run("evaluate", tmp_path / "two.wcsp", tmp_path / "x.sol")
    assert shown.code == 1
    assert "cost infinite, 1 violated" in shown.out


def test_a_total_beyond_the_files_limit_is_not_feasible(run: Run, tmp_path: Path) -> None:
    """No combination is forbidden, but the file wants less than 9 in all."""
    problem, solution = write(tmp_path, "0 0\n")
    problem.write_text("two 2 2 2 9\n2 2\n2 0 1 5 1\n0 0 7\n1 0 0 1\n0 2\n")
    code, out, _ = run("evaluate", problem, solution)
    assert code == 1
    assert "asks for a total better than 9" in out

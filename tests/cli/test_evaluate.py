"""``dabp evaluate``: the cost of a solution computed anew, and what is wrong with it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from dabp.formats import read
from dabp.formats import write as write_problem
from dabp.formats.solution import as_sol, read_solution
from dabp.problem import Problem
from dabp.problem.interop import from_tables
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


@pytest.fixture(scope="module")
def clique() -> Problem:
    """A clique too large to be eliminated, and two variables that hang on it, which are."""
    rng = np.random.default_rng(3)
    scopes = [*itertools.combinations(range(18), 2), (18, 0), (18, 19)]
    problem = from_tables([3] * 20, [(scope, rng.integers(0, 9, (3, 3))) for scope in scopes])
    return problem.replace(variable_names=[f"v{i}" for i in range(20)])


@pytest.mark.parametrize("suffix", ["cfn", "wcsp", "uai", "xml"])
def test_an_answer_of_a_presolved_file_is_lifted(run: Run, tmp_path: Path, clique: Problem, suffix: str) -> None:
    """It has a value for every variable, and costs at most what it did, with and without names in the smaller file."""
    source, target, answer, whole = (tmp_path / name for name in ("p.cfn", f"q.{suffix}", "a.sol", "whole.csv"))
    write_problem(clique, source)
    assert run("presolve", source, target).code == 0
    smaller = read(target)
    assert smaller.num_variables == 18
    rng = np.random.default_rng(1)
    for _ in range(5):
        values = rng.integers(0, smaller.domain_sizes)
        answer.write_text(as_sol(values))
        outcome = run("evaluate", source, answer, "--lift", target, "-o", whole, "--json")
        assert outcome.code == 0
        assert json.loads(outcome.out)["cost"] == pytest.approx(smaller.cost(values))
        found = read_solution(whole, clique)
        assert found[:18].tolist() == values.tolist()
        ends = [clique.cost([*values, *end]) for end in itertools.product(range(3), repeat=2)]
        assert clique.cost(found) == min(ends)


def test_a_file_of_another_problem_is_not_lifted_from(run: Run, tmp_path: Path) -> None:
    """It is no answer of what presolve leaves."""
    problem, solution = write(tmp_path, "1 1\n")
    code, out, err = run("evaluate", problem, solution, "--lift", problem)
    assert (code, out) == (2, "")
    assert "is not what presolve leaves of" in err

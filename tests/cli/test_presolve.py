"""``dabp presolve``: what it writes has the same optimum, and it says what was removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dabp.formats import read, write
from dabp.problem import Problem
from dabp.problem.interop import from_tables
from tests.cli.conftest import Run
from tests.problems import exhaustive


def test_the_written_problem_has_the_same_optimum(run: Run, tmp_path: Path) -> None:
    """A file in, a smaller file out, names kept."""
    rng = np.random.default_rng(1)
    scopes = [(i, j) for i in range(7) for j in range(i + 1, 7)] + [(7, 0)]
    names = [f"v{i}" for i in range(8)]
    tables = [(scope, rng.integers(0, 9, (2, 2))) for scope in scopes]
    problem = from_tables([2] * 8, tables).replace(variable_names=names)
    source, target = tmp_path / "a.cfn", tmp_path / "b.cfn"
    write(problem, source)
    code, _, err = run("presolve", source, target)
    assert code == 0
    assert "presolve" in err
    smaller = read(target)
    assert smaller.num_variables < problem.num_variables
    assert set(smaller.names.variables) <= set(names)
    assert exhaustive(smaller)[0] == exhaustive(problem)[0]


def test_an_infeasible_problem_gives_exit_code_1(run: Run, tmp_path: Path) -> None:
    """Nothing is written for it."""
    problem = Problem([2, 2], [0, 1], [0, 2], [np.inf] * 4, [0, 4])
    source, target = tmp_path / "a.cfn", tmp_path / "b.cfn"
    write(problem, source)
    code, _, err = run("presolve", source, target)
    assert code == 1
    assert "no feasible" in err
    assert not target.exists()

"""Real files that nobody here wrote, and their known optima."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dabp.formats import read, write
from dabp.problem import Problem
from tests.formats.peer import optimal_values
from tests.problems import all_assignments

_SMALL = {
    "4queens.wcsp": 0,
    "maximization.cfn": 0.5,
    "graph_coloring1.yaml": -0.1,
    "graph_coloring_tuto_max.yaml": 53,
    "graph_coloring_csp.yaml": 0,
    "graph_coloring_10_4_15_0.1.yml": 0,
    "secp_simple1.yaml": 2.3,
}
_LARGER = {
    "donald.wcsp": 0,
    "zebra.wcsp": 0,
    "example.wcsp": 27,
    "warehouse.wcsp": 328,
    "celar6sub0.wcsp.xz": 159,
    "GEOM40_6.wcsp.xz": 0,
    "alarm.cfn.gz": 3.086727,  # 3.157695 to toulbar2, which counts the least cost of its dense 4-ary tables twice
    "1aho.cfn.gz": -33.729920,
    "water.uai": 7.9587615,
    "8wqueens_wcsp.xml": 2,
}


def _best(problem: Problem) -> float:
    costs = problem.cost(all_assignments(problem))
    return float(costs.max() if problem.maximize else costs.min())


@pytest.mark.parametrize(("name", "optimum"), _SMALL.items())
def test_optimum_of_small_files(name: str, optimum: float, shared_instances: Path) -> None:
    """Exhaustive search on what was read finds the optimum."""
    assert _best(read(shared_instances / name)) == pytest.approx(optimum)


def test_optimum_of_larger_files(shared_instances: Path, tmp_path: Path) -> None:
    """What toulbar2 finds in our .cfn of what we read costs, in our tables, the known optimum."""
    problems = {name: read(shared_instances / name) for name in _LARGER}
    bounds = [optimum + 1 for optimum in _LARGER.values()]
    paths = [tmp_path / f"{i}.cfn" for i in range(len(problems))]
    for path, problem in zip(paths, problems.values(), strict=True):
        write(problem, path)
    for (name, problem), values in zip(problems.items(), optimal_values(paths, bounds), strict=True):
        assert values is not None, name
        assert not isinstance(values, str), (name, values)
        assert problem.cost(values) == pytest.approx(_LARGER[name], abs=1e-5), name


def test_satellites(shared_instances: Path) -> None:
    """Scheduling with ternary constraints, which takes toulbar2 too long for a test: only its shape is checked."""
    problem = read(shared_instances / "404.wcsp.xz")
    assert (problem.num_variables, problem.num_factors, int(problem.arities.max())) == (100, 710, 3)


def test_computer_vision(shared_instances: Path) -> None:
    """A model of 787 variables with ternary factors is read as it stands; its optimum is not known."""
    problem = read(shared_instances / "GeomSurf-7-gm256.uai.xz")
    assert (problem.num_variables, problem.num_factors, int(problem.arities.max())) == (787, 3527, 3)
    assert np.isfinite(problem.cost(np.zeros(787, dtype=int)))

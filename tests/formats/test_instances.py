"""Real files that nobody here wrote, and their known optima."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dabp.formats import read
from dabp.problem import Problem
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


def _best(problem: Problem) -> float:
    costs = problem.cost(all_assignments(problem))
    return float(costs.max() if problem.maximize else costs.min())


@pytest.mark.parametrize(("name", "optimum"), _SMALL.items())
def test_optimum_of_small_files(name: str, optimum: float, shared_instances: Path) -> None:
    """Exhaustive search on what was read finds the optimum."""
    assert _best(read(shared_instances / name)) == pytest.approx(optimum)


def test_satellites(shared_instances: Path) -> None:
    """Scheduling with ternary constraints, which takes toulbar2 too long for a test: only its shape is checked."""
    problem = read(shared_instances / "404.wcsp.xz")
    assert (problem.num_variables, problem.num_factors, int(problem.arities.max())) == (100, 710, 3)


def test_computer_vision(shared_instances: Path) -> None:
    """A model of 787 variables with ternary factors is read as it stands; its optimum is not known."""
    problem = read(shared_instances / "GeomSurf-7-gm256.uai.xz")
    assert (problem.num_variables, problem.num_factors, int(problem.arities.max())) == (787, 3527, 3)
    assert np.isfinite(problem.cost(np.zeros(787, dtype=int)))

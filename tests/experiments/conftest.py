"""A small experiment that the tests of tables, figures and reports read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dabp.experiments.plan import load_plan
from dabp.experiments.run import run_plan
from dabp.experiments.store import Results

SMALL = """
name = "small"
title = "A small experiment"
seed = 7
figures = ["cost-iterations", "cost-time", "convergence", "sweep", "tuning-time", "ablation", "memory"]

[limits]
iterations = 200
wall = 30

[[instances]]
label = "Random COPs"
family = "random-cop"
seeds = 6
parameters = { variables = 8, domain = 3, density = 0.5 }

[[instances]]
label = "Colouring"
family = "graph-coloring"
seeds = [4, 5, 6]
parameters = { variables = 8, domain = 3, density = 0.5 }

[[solvers]]
label = "short"
solver = "faults:Trivial"
parameters = { steps = 2 }

[[solvers]]
label = "long"
solver = "faults:Trivial"
sweep = { steps = [10, 100] }

[[solvers]]
label = "broken"
solver = "faults:Fault"
parameters = { how = "raise" }
"""


@pytest.fixture(scope="session", autouse=True)
def importable_faults():
    """Let the processes of runs import the solvers of these tests."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *([before] if before else [])])
    yield
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> Results:
    """36 runs: two groups, three solvers that answer and one that fails."""
    folder = tmp_path_factory.mktemp("experiment")
    plan = folder / "small.toml"
    plan.write_text(SMALL)
    run_plan(load_plan(plan), folder / "results", jobs=2, command=["dabp", "experiment", "run", "small.toml"])
    return Results(folder / "results")

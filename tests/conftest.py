"""What all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dabp.lab.experiments.store import Results

if sys.platform == "win32":  # these import modules that only POSIX systems have
    collect_ignore = ["defects", "formats/test_fuzz.py", "formats/test_hostile.py"]


@pytest.fixture(scope="session")
def shared_instances() -> Path:
    """The folder of real instances beside the project; skips where it is not there."""
    folder = Path(__file__).parents[2] / "shared" / "instances"
    if not folder.is_dir():
        pytest.skip("the folder of real instances is not beside the project")
    return folder


@pytest.fixture(scope="session")
def importable_faults() -> Iterator[None]:
    """Let the processes of runs import the solvers of the experiments' tests."""
    before = os.environ.get("PYTHONPATH")
    folder = str(Path(__file__).parent / "lab" / "experiments")
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *([before] if before else [])])
    sys.path.append(folder)
    yield
    sys.path.remove(folder)
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="session")
def results(importable_faults: None, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """36 runs: two groups, three solvers that answer and one that fails."""
    from dabp.lab.experiments.experiment_plan import load_plan
    from dabp.lab.experiments.store import Results
    from tests.lab.experiments.small import SMALL, run_plan

    folder = tmp_path_factory.mktemp("experiment")
    plan = folder / "small.toml"
    plan.write_text(SMALL)
    run_plan(load_plan(plan), folder / "results", jobs=2, command=["dabp", "experiment", "run", "small.toml"])
    return Results(folder / "results")

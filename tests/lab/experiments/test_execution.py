"""One run, from its instance to the lines of its result."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

import dabp
from dabp.lab.experiments.execution import execute
from dabp.lab.experiments.experiment_plan import Limits, Run
from tests.problems import exhaustive_optimum

TINY = {"family": "random-cop", "parameters": {"variables": 5, "domain": 2, "density": 0.5}, "seed": 3}
RUN = Run(TINY, "mbe", {}, Limits(time=30), 4, 0, "group", "label")


def test_a_run_tells_its_answer_and_its_history():
    """The optimum of a tiny instance, its identity, and the trace from the first to the best cost."""
    [[summary, *trace]] = execute(RUN)
    problem = dabp.generate("random-cop", variables=5, domain=2, density=0.5, seed=3)
    assert summary["cost"] == exhaustive_optimum(problem) == problem.cost(summary["assignment"])
    assert (summary["key"], summary["state"], summary["status"]) == (RUN.key, "done", "OPTIMAL")
    assert summary["version"] == dabp.__version__
    assert "group" not in summary
    improvements = [row["value"] for row in trace if row["type"] == "improvement"]
    assert improvements[-1] == summary["cost"]
    assert improvements == sorted(improvements, reverse=True)


def test_restarts_are_kept_for_the_convergence_figure():
    """Which converged, and after how many iterations."""
    run = dataclasses.replace(RUN, solver="dbp", parameters={"restarts": 2}, limits=Limits(iterations=400))
    rows = [row for row in execute(run)[0][1:] if row["type"] == "restart"]
    assert rows
    assert all({"restart", "iterations", "converged"} <= set(row) for row in rows)


def test_a_file_must_be_the_one_of_the_plan(tmp_path):
    """Its content is part of the run's name."""
    path = tmp_path / "two.wcsp"
    path.write_text("two 2 2 1 9\n2 2\n2 0 1 5 4\n0 0 7\n0 1 8\n1 0 2\n1 1 3\n")
    instance = {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    run = dataclasses.replace(RUN, instance=instance)
    assert execute(run)[0][0]["cost"] == 2
    path.write_text(path.read_text() + "\n")
    assert "its content differs" in execute(run)[0][0]["detail"]
    path.unlink()
    assert "is not on this machine" in execute(run)[0][0]["detail"]


@pytest.mark.parametrize("solver", ["dpb", "no.module:Here", "dabp.solvers.base:Nothing"])
def test_a_solver_that_is_not_there_is_the_runs_failure(solver):
    """With its name; the neighbours go on."""
    [[summary]] = execute(dataclasses.replace(RUN, solver=solver))
    assert (summary["state"], summary["reason"]) == ("failed", "error")
    assert solver in summary["detail"]

"""Runs on this machine: in any number of servers, and none left behind."""

from __future__ import annotations

import psutil
import pytest

from tests.lab.experiments.small import TRIVIAL, contents, make_plan, run_plan, stop, wait_for


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    """The same lines, times aside, from one job and from two."""
    plan = make_plan(tmp_path, 6, TRIVIAL)
    run_plan(plan, tmp_path / "one", jobs=1)
    run_plan(plan, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_an_interrupted_experiment_ends_its_runs(tmp_path):
    """What goes up in the callback comes down: no process is left."""
    plan = make_plan(tmp_path, 4, '[[solvers]]\nsolver = "faults:Trivial"\nparameters = { pause = 0.3 }\n')

    before = {*psutil.Process().children(recursive=True)}
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, tmp_path / "out", jobs=2, progress=stop)
    wait_for(lambda: not {*psutil.Process().children(recursive=True)} - before)
    assert len(contents(tmp_path / "out")) == 1

"""A run watched from outside, in either way: its limits and failures are reported, its neighbours go on."""

from __future__ import annotations

import sys

import pytest

from dabp.lab.experiments import local
from dabp.lab.experiments.fresh_process import FreshProcesses
from dabp.lab.experiments.store import Results
from tests.lab.experiments.small import TRIVIAL, make_plan, run_plan

FAULTS = (
    ("allocate", ""),
    ("hang", "limits = { wall = 1 }\n"),
    ("crash", ""),
    ("raise", ""),
    ("told to stop", ""),
    ("tensors", ""),
)


@pytest.fixture(params=["fork server", "fresh processes"])
def way(request, monkeypatch):
    """How runs get a process: Linux's way, and the one of all other systems, which works on Linux, too."""
    if request.param == "fresh processes":
        monkeypatch.setattr(local, "worker_for", FreshProcesses)
    elif sys.platform != "linux":
        pytest.skip("the fork server is for Linux")


@pytest.mark.usefixtures("way")
def test_faults_are_reported_and_the_rest_finish(tmp_path):
    """A run that allocates, hangs, crashes or raises says so; its neighbours have their results."""
    solvers = TRIVIAL + "".join(
        f'[[solvers]]\nlabel = "{how}"\nsolver = "faults:Fault"\nparameters = {{ how = "{how}" }}\n{limits}'
        for how, limits in FAULTS
    )
    plan = make_plan(tmp_path, 2, solvers, 'iterations = 50\nwall = 60\nmemory = "300 MB"')
    state = run_plan(plan, tmp_path / "out", jobs=2)
    assert (state.done, state.failed) == (14, 12)
    results = Results(tmp_path / "out")
    reasons = {(o.run.label, o.summary.get("reason")) for o in results.outcomes(results.plan())}
    assert reasons == {
        ("trivial", None),
        ("allocate", "memory"),
        ("hang", "timeout"),
        ("crash", "crash"),
        ("raise", "error"),
        ("told to stop", "crash"),
        ("tensors", "memory"),
    }
    details = {o.run.label: o.summary.get("detail", "") for o in results.outcomes(results.plan())}
    assert ("SIGSEGV" if sys.platform != "win32" else "exit code 0xc0000005") in details["crash"]
    assert "broken on purpose" in details["raise"]

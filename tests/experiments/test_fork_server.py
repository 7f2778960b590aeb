"""The process that forks runs: limits and failures of a run are told, its neighbours go on."""

from __future__ import annotations

from dabp.experiments.store import Results
from tests.experiments.small import TRIVIAL, make_plan, run_plan

FAULTS = (
    ("allocate", ""),
    ("hang", "limits = { wall = 1 }\n"),
    ("crash", ""),
    ("raise", ""),
    ("told to stop", ""),
    ("tensors", ""),
)


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
    assert "SIGSEGV" in details["crash"]
    assert "broken on purpose" in details["raise"]

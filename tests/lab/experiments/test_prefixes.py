"""Runs that are the beginning of longer ones are not run, and their results are those that they would have had."""

from __future__ import annotations

from dabp.lab.experiments.execution import execute
from dabp.lab.experiments.prefixes import joined
from dabp.lab.experiments.run_plan import run_plan
from dabp.lab.experiments.store import Results
from dabp.solvers.registry import SOLVERS
from tests.lab.experiments.small import VARYING, make_plan

SWEPT = """
[[solvers]]
label = "DABP"
solver = "dabp"
parameters = { max_iterations_per_restart = 12, update_interval = 4 }
sweep = { restarts = [1, 2, 3, 5] }

[[solvers]]
label = "DBP"
solver = "dbp"
sweep = { restarts = [2, 3] }
"""


def _told(rows):
    """What two runs of the same run have in common."""
    return [{name: value for name, value in row.items() if name not in VARYING} for row in rows]


def test_only_the_longest_runs_are_run(tmp_path):
    """Those of solvers that promise it; one restart has a status of its own."""
    plan = make_plan(tmp_path, 1, SWEPT)
    runs = joined(plan.runs)
    told = sorted((run.solver, run.parameters["restarts"], run.shorter) for run in runs)
    assert told == [("dabp", 1, ()), ("dabp", 5, (2, 3)), ("dbp", 2, ()), ("dbp", 3, ())]
    assert {run.key for run in runs} <= {run.key for run in plan.runs}


def test_shorter_results_are_those_of_runs_of_their_own(tmp_path):
    """Cost, assignment, iterations, status and trace, for every solver that promises it."""
    promising = [name for name, entry in SOLVERS.items() if entry.load().prefixes]
    assert "dabp" in promising
    for name in promising:
        plan = make_plan(tmp_path, 1, SWEPT.replace('solver = "dabp"', f'solver = "{name}"'))
        (longest,) = (run for run in joined(plan.runs) if run.shorter)
        carried = {rows[0]["key"]: rows for rows in execute(longest)}
        assert len(carried) == 3
        for run in plan.runs:
            if run.key in carried:
                assert _told(carried[run.key]) == _told(execute(run)[0])


def test_a_plan_has_all_its_results_and_runs_nothing_again(tmp_path):
    """Also when a longer run is added later: what is there stays."""
    plan = make_plan(tmp_path, 1, SWEPT)
    state = run_plan(plan, tmp_path / "out")
    assert (state.done, state.failed) == (len(plan.runs), 0)
    results = Results(tmp_path / "out")
    assert [outcome.run.key for outcome in results.outcomes(plan)] == [run.key for run in plan.runs]
    assert all({"cpu", "wall", "peak_memory"} <= set(outcome.summary) for outcome in results.outcomes(plan))
    assert results.plan().runs == plan.runs
    assert run_plan(plan, tmp_path / "out").done == 0


def test_a_shorter_run_is_run_by_itself_where_its_longer_one_fails(tmp_path):
    """A limit that ends the longer run from outside takes the shorter ones' results with it, not their chance."""
    plan = make_plan(tmp_path, 1, SWEPT.replace("[1, 2, 3, 5]", "[2, 1000000]"), limits="wall = 3")
    run_plan(plan, tmp_path / "out")
    states = {
        outcome.run.parameters["restarts"]: outcome.summary["state"]
        for outcome in Results(tmp_path / "out").outcomes(plan)
        if outcome.run.solver == "dabp"
    }
    assert states == {2: "done", 1000000: "failed"}

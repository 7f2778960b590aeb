"""What a fork server does before its first run."""

from __future__ import annotations

import os
import subprocess
import sys

from dabp.lab.experiments.plan import Limits, Run
from dabp.lab.experiments.preparation import Preparation, preparation_for, prepare
from dabp.lab.experiments.worker import THREAD_VARIABLES

MADE = {"family": "small-world", "parameters": {"domain": 3}, "seed": 0}
FILE = {"file": "x.wcsp", "sha256": "0"}


def run(solver: str, instance: dict[str, object], **parameters: object) -> Run:
    return Run(instance, solver, parameters, Limits(), 0, 0)


def test_each_solver_is_rehearsed_once_for_each_shape():
    """Not once for each run, and not those with processes or threads of their own, nor a class of the user's."""
    runs = [run("dbp", MADE, damping=0.5), run("dbp", MADE), run("tabu", FILE)]
    runs += [run("toulbar2", MADE), run("auto", MADE), run("my:Own", MADE)]
    prepared = preparation_for(runs)
    assert [(each[0], each[2]) for each in prepared.rehearsals] == [("dbp", "small-world"), ("tabu", "random-cop")]
    assert {"dabp.formats", "dabp.lab.generators.small_world"} <= set(prepared.modules)
    assert not any("my" in module.split(".") for module in prepared.modules)


def test_what_cannot_be_prepared_is_left_to_the_run():
    """A missing module and parameters that do not fit end nothing here."""
    prepare(["no.such.module"], [("dbp", {"damping": 7}, "random-cop", {"variables": 3})])
    assert Preparation().to_dict() == {"modules": [], "rehearsals": [], "trust": []}


def test_a_shape_that_few_variables_do_not_make_small_is_not_rehearsed():
    """A domain of a million values would fill the memory of the server, which has no limit."""
    large = {"family": "random-cop", "parameters": {"domain": 10**6}, "seed": 0}
    assert preparation_for([run("dbp", large)]).rehearsals == []


def test_a_rehearsal_compiles_and_starts_no_thread():
    """A process with threads must not fork: after preparing, there is one."""
    code = (
        "import psutil\nfrom dabp.lab.experiments.preparation import prepare\n"
        "prepare(['dabp.driver.solve'], [('tabu', {}, 'random-cop', {'variables': 6, 'domain': 2})])\n"
        "print(psutil.Process().num_threads())"
    )
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "1"

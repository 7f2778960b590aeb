"""What a plan names exists and takes the values it gives, or nothing is run."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.checking import check, check_trusted, own_solver
from dabp.lab.experiments.experiment_plan import Limits, Plan, Run
from dabp.solvers.base import Solver
from tests.sampling import Sampling

RUN = Run({"family": "random-cop", "parameters": {"variables": 5}, "seed": 1}, "dbp", {"damping": 0.5}, Limits(), 1, 0)


def plan(**changes) -> Plan:
    return Plan("p", "P", (dataclasses.replace(RUN, **changes),))


def test_a_plan_without_runs_is_refused():
    """Also one that was not read from a file."""
    with pytest.raises(ParameterError, match="plan 'empty': there is nothing to run"):
        check(Plan("empty", "Empty", ()))


def test_what_exists_is_accepted():
    """Text is converted as on the command line."""
    check(plan())
    check(plan(parameters={"damping": "0.5"}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"solver": "dpb"}, "did you mean 'dbp'"),
        ({"parameters": {"dumping": 1}}, "did you mean 'damping'"),
        ({"parameters": {"damping": 2}}, "damping"),
        ({"parameters": {"damping": [1]}}, "damping"),
        ({"solver": "no class"}, "no class"),
        ({"solver": "a b:C"}, "'module:Class'"),
        ({"instance": {"family": "random", "parameters": {}, "seed": 0}}, "did you mean 'random-cop'"),
        ({"instance": {"family": "random-cop", "parameters": {"variable": 3}, "seed": 0}}, "did you mean 'variables'"),
        ({"instance": {"family": "random-cop", "parameters": {"seed": 3}, "seed": 0}}, "given as seeds"),
    ],
)
def test_what_does_not_is_refused_with_the_plans_name(changes, words):
    """One sentence, with the nearest name."""
    with pytest.raises(ParameterError, match="plan 'p'") as caught:
        check(plan(**changes))
    assert words in str(caught.value)


@pytest.mark.parametrize("trust", [["tests.sampling"], ["tests"], ["other", "tests.sampling"]])
def test_a_trusted_solver_is_made_with_its_parameters(trust):
    """Its module, or a package that it lies in."""
    assert own_solver("tests.sampling:Sampling", {"block": 3}, trust) == Sampling(block=3)


@pytest.mark.parametrize(
    ("name", "trust"),
    [
        ("subprocess:Popen", []),
        ("subprocess:Popen", ["sub"]),
        ("tests.sampling:Sampling", ["tests.samplin", "ests", ""]),
        ("os.path:join", ["os.pat"]),
    ],
)
def test_what_was_not_allowed_is_not_even_imported(name, trust):
    """The sentence says how to allow it; half a name allows nothing."""
    with pytest.raises(ParameterError, match="--trust"):
        own_solver(name, {}, trust)


def test_nothing_runs_that_is_no_solver(tmp_path, monkeypatch):
    """In a trusted module, too: functions, other classes and what it imported from elsewhere."""
    (tmp_path / "mine_own.py").write_text(
        "from subprocess import Popen\nfrom dabp.solvers.base import Solver\ndef f(**_): raise SystemExit\nx = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("Popen", "f", "x", "sys"):
        with pytest.raises(ParameterError, match=r"no solver|cannot be imported"):
            own_solver(f"mine_own:{name}", {"args": ["false"]}, ["mine_own"])
    with pytest.raises(ParameterError, match="does not take these parameters"):
        own_solver("mine_own:Solver", {}, ["mine_own"])
    sys.modules.pop("mine_own", None)
    assert issubclass(Sampling, Solver)


@pytest.mark.parametrize("name", ["a:", ":b", "a b:C", "a:b:c", "a..b:C", "1a:B", "a:B()", "../a:B", "a:B.c"])
def test_what_is_no_name_of_a_class_is_refused(name):
    """Before anything is looked up."""
    with pytest.raises(ParameterError, match="'module:Class'"):
        check_trusted(name, ["a", "a b", ""])

"""Solvers of one's own: run from modules that the caller allowed, and from no others."""

from __future__ import annotations

import sys

import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.trust import check_trusted, is_own, own_solver
from dabp.solvers.base import Solver
from tests.sampling import Sampling


def test_registered_solvers_need_no_trust():
    """Only ``module:Class`` is a program of its own."""
    assert not is_own("dbp")
    assert is_own("subprocess:Popen")


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


def test_parameters_that_do_not_fit_are_one_sentence():
    """Not a traceback of the class's."""
    with pytest.raises(ParameterError, match="does not take these parameters"):
        own_solver("tests.sampling:Sampling", {"blocks": 3}, ["tests"])

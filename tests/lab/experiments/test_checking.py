"""What a plan names exists and takes the values it gives, or nothing is run."""

from __future__ import annotations

import dataclasses

import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.checking import check
from dabp.lab.experiments.experiment_plan import Limits, Plan, Run

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


def test_an_unknown_figure_is_refused():
    """Before hours of runs, not after them."""
    with pytest.raises(ParameterError, match="did you mean 'cost-time'"):
        check(dataclasses.replace(plan(), figures=("cost-tiem",)))

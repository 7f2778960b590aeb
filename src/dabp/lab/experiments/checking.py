"""Whether what a plan names exists and takes the values it gives: checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dabp.errors import ParameterError, suggestion
from dabp.lab.experiments.experiment_plan import Plan
from dabp.lab.experiments.figures import FIGURES
from dabp.lab.experiments.trust import importable, is_own, own_solver
from dabp.lab.generators import check_parameters
from dabp.solvers import SOLVERS, make_solver, parameters
from dabp.solvers.hints import check_types


def check(plan: Plan, trust: Sequence[str] = ()) -> None:
    """Refuse a plan without runs, or whose solvers, families, figures or parameters do not exist or do not fit.

    Solvers of the user's own are imported; those whose module is not in `trust` are refused.
    """
    try:
        with importable(plan.path):
            _check(plan, trust)
    except ParameterError as error:
        raise ParameterError(f"plan {plan.name!r}: {error}") from None


def _check(plan: Plan, trust: Sequence[str]) -> None:
    if not plan.runs:
        raise ParameterError("there is nothing to run")
    for name in plan.figures:
        if name not in FIGURES:
            raise ParameterError(f"there is no figure {name!r}{suggestion(name, FIGURES)}")
    for run in {f"{run.solver} {run.parameters}": run for run in plan.runs}.values():
        _check_solver(run.solver, run.parameters, trust)
    made = [run.instance for run in plan.runs if "family" in run.instance]
    for instance in {f"{each['family']} {each['parameters']}": each for each in made}.values():
        _check_family(instance["family"], instance["parameters"])


def _check_solver(name: str, given: Mapping[str, Any], trust: Sequence[str]) -> None:
    if is_own(name):
        own_solver(name, given, trust)
        return
    if name in SOLVERS:
        hints = {key: hint for key, (hint, _) in parameters(name).items()}
        typed = {key.replace("-", "_"): value for key, value in given.items() if not isinstance(value, str)}
        check_types(f"solver {name!r}", typed, hints)  # text is converted as on the command line
    make_solver(name, given)


def _check_family(family: str, given: Mapping[str, Any]) -> None:
    if "seed" in given:
        raise ParameterError(f"the seeds of generator {family!r} are given as seeds, not as a parameter")
    check_parameters(family, given)

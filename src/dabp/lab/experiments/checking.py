"""Whether what a plan names exists and takes the values it gives: checked before anything runs.

A plan is a file that people send each other, and a solver ``module:Class`` in it is a program: code runs from modules
that the caller trusts, never from those that a plan names.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dabp.errors import ParameterError
from dabp.lab.experiments.experiment_plan import Plan
from dabp.lab.generators import check_parameters
from dabp.solvers import SOLVERS, make_solver, parameters
from dabp.solvers.base import Solver
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
    from dabp.lab.experiments.figures import kind_of  # the processes of runs draw nothing

    for name in plan.figures:
        kind_of(name)
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


def is_own(name: str) -> bool:
    """Whether a solver is written as ``module:Class`` and not registered."""
    return name not in SOLVERS and ":" in name


def check_trusted(name: str, trust: Sequence[str]) -> None:
    """Refuse a ``module:Class`` whose module the caller did not allow; a package allows its modules."""
    if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", name) is None:
        raise ParameterError(f"a solver of your own is 'module:Class', not {name!r}")
    module = name.partition(":")[0]
    if not any(module == each or module.startswith(f"{each}.") for each in trust):
        raise ParameterError(
            f"solver {name!r} is a program of its own: if you know and want it, allow it with --trust {module} "
            f"(in Python trust=[{module!r}])"
        )


@contextlib.contextmanager
def importable(folders: Sequence[str]) -> Iterator[None]:
    """Look for modules in these folders, too."""
    added = [folder for folder in folders if folder not in sys.path]
    sys.path += added
    try:
        yield
    finally:
        for folder in added:
            sys.path.remove(folder)


def own_solver(name: str, parameters: Mapping[str, Any], trust: Sequence[str]) -> Solver:
    """Import a ``module:Class`` that is trusted, and make it, if it is a `Solver` and takes the parameters."""
    check_trusted(name, trust)
    module, _, attribute = name.partition(":")
    try:
        cls = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module is a program, and may raise anything
        raise ParameterError(f"solver {name!r} cannot be imported: {error}") from None
    if not (isinstance(cls, type) and issubclass(cls, Solver)):
        raise ParameterError(f"{name!r} is no solver: it is not a subclass of dabp.solvers.base.Solver")
    try:
        return cls(**parameters)
    except TypeError as error:
        raise ParameterError(f"solver {name!r} does not take these parameters: {error}") from None

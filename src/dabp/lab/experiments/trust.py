"""Solvers of the user's own in a plan: code runs from modules that the caller names, never from those a plan names.

A plan is a file that people send each other, and ``module:Class`` in it is a program. Only the caller can allow it.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dabp.errors import ParameterError
from dabp.solvers import SOLVERS
from dabp.solvers.base import Solver


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

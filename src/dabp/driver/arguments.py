"""Checks of the arguments of `solve` and its relatives: one sentence instead of an error from inside."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from dabp.errors import ParameterError, ProblemError
from dabp.problem import Problem
from dabp.problem.model import Model
from dabp.solvers import make_solver
from dabp.solvers.base import Solver

LARGEST_COUNT = 2**62
"""Kernels count in 64 bits; larger counts become this one, which no solve reaches."""


def as_number(name: str, value: object) -> float | None:
    """A number of at least 0, infinity included, or None."""
    if value is None:
        return None
    number = _real(value)
    if number is None or not number >= 0:
        raise ParameterError(f"the {name} limit is a number of at least 0, not {shortened(value)}")
    return number


def as_count(name: str, value: object, least: int = 0) -> int | None:
    """A whole number of at least `least` and at most `LARGEST_COUNT`, which may be written as 1e6, or None."""
    if value is None:
        return None
    if isinstance(value, Integral):
        count = int(value)
    else:
        number = _real(value)
        count = int(number) if number is not None and number.is_integer() else least - 1
    if count < least:
        raise ParameterError(f"{name} is a whole number of at least {least}, not {shortened(value)}")
    return min(count, LARGEST_COUNT)


def as_count_to(most: int, name: str, value: object) -> int:
    """A whole number of 1 to `most`."""
    count = as_count(name, value, 1)
    if count is None or count > most:
        raise ParameterError(f"{name} is a whole number of at least 1 and at most {most:,}, not {shortened(value)}")
    return count


def as_bytes(name: str, value: object) -> int | None:
    """An amount of memory in bytes: a number of bytes, or text with a unit such as ``"2GB"`` or ``"512 MiB"``."""
    if not isinstance(value, str):
        return as_count(f"the {name} limit", value)
    units = {None: 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMG]?I?B)?\s*", value.upper())
    if match is None or match[2] not in units:
        raise ParameterError(f"the {name} limit is an amount like '2GB' or '512MiB', not {shortened(value)}")
    return min(int(float(match[1]) * units[match[2]]), LARGEST_COUNT)


def as_cost(name: str, value: object) -> float | None:
    """A number, infinite or finite, or None."""
    if value is None:
        return None
    number = _real(value)
    if number is None or math.isnan(number):
        raise ParameterError(f"the {name} is a number, not {shortened(value)}")
    return number


def as_seed(value: object) -> int:
    """A whole number of at least 0, of any size."""
    if not isinstance(value, Integral) or value < 0:
        raise ParameterError(f"a seed is a whole number of at least 0, not {shortened(value)}")
    return int(value)


def available_cores() -> int:
    """Number of cores that this process may use, in a container or a batch job fewer than the machine has."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    if sys.platform == "win32":
        import psutil

        return len(psutil.Process().cpu_affinity())
    return os.cpu_count() or 1  # macOS does not bind processes to cores


def as_threads(value: object, solver: Solver) -> int:
    """Threads of a solve: by default all cores if the solver is `parallel`, else one; at most 8 or the cores."""
    count = as_count("threads", value, 1)
    if count is None:
        return available_cores() if solver.parallel else 1
    return min(count, max(8, available_cores()))


def checked_problem(problem: object) -> Problem:
    """The problem, built if it is a `Model`; `ProblemError` for anything else."""
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, Model):
        return problem.build()
    if isinstance(problem, str | os.PathLike):
        raise ProblemError("a file name is no problem; give dabp.read(file)")
    raise ProblemError(f"a problem is a dabp.Problem or a dabp.Model, not {shortened(problem)}")


def chosen_solver(solver: object, params: object) -> tuple[Solver, str]:
    """The solver and its name, given as a `Solver` or as a name with parameters."""
    if not isinstance(solver, str | Solver):
        raise ParameterError(f"a solver is a name (`dabp solvers` lists them) or a Solver, not {shortened(solver)}")
    if params is not None and not (isinstance(params, Mapping) and all(isinstance(key, str) for key in params)):
        raise ParameterError(f"params are values by name, as {{'damping': 0.5}}, not {shortened(params)}")
    if isinstance(solver, str):
        return make_solver(solver, params), solver
    if params:
        raise ParameterError("params go with a solver's name; a Solver object has its own")
    return solver, type(solver).__name__


def check_fix(fix: object) -> None:
    """Refuse a `fix` that does not map names to values."""
    if fix is not None and not isinstance(fix, Mapping):
        raise ParameterError(f"fix holds values by variable, as {{'x': 1}}, not {shortened(fix)}")


def as_callbacks(callbacks: object) -> tuple[Callable[..., Any], ...]:
    """The functions to call, in their order."""
    found = tuple(callbacks) if isinstance(callbacks, Iterable) else (None,)
    if not all(map(callable, found)):
        raise ParameterError(f"callbacks are functions in a list, not {shortened(callbacks)}")
    return found


def as_observer(observe: object) -> Callable[[Any], object] | None:
    """A function of an `Observation`, or None."""
    if observe is not None and not callable(observe):
        raise ParameterError(f"observe is a function, such as dabp.Learned(), not {shortened(observe)}")
    return observe


def as_path(place: object) -> Path | None:
    """A file's path, or None."""
    if place is None:
        return None
    if not isinstance(place, str | os.PathLike) or not isinstance(name := os.fspath(place), str) or "\0" in name:
        raise ParameterError(f"a file's name is text, not {shortened(place)}")
    return Path(name)


def shortened(value: object) -> str:
    """A value in at most 60 characters, for messages."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}…"


def _real(value: object) -> float | None:
    """A number as a float; None for values that are no number or too large."""
    if not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None

"""What a caller handed over, looked at before anything is done with it: one sentence instead of an error inside."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from dabp.errors import ParameterError, ProblemError
from dabp.problem import Problem
from dabp.solvers.base import Solver

MOST = 2**62
"""A count beyond this is none: kernels count in 64 bits, and nothing gets so far."""


def as_number(name: str, value: object) -> float | None:
    """A number of at least 0 (infinity is one, too), or None."""
    if value is None:
        return None
    number = _real(value)
    if number is None or not number >= 0:
        raise ParameterError(f"the {name} limit is a number of at least 0, not {_short(value)}")
    return number


def as_count(name: str, value: object, least: int = 0) -> int | None:
    """A whole number of at least `least`, also written as 1e6, or None; no larger than `MOST`."""
    if value is None:
        return None
    if isinstance(value, Integral):
        count = int(value)
    else:
        number = _real(value)
        count = int(number) if number is not None and number.is_integer() else least - 1
    if count < least:
        raise ParameterError(f"{name} is a whole number of at least {least}, not {_short(value)}")
    return min(count, MOST)


def as_cost(name: str, value: object) -> float | None:
    """A number that costs can be compared with, or None."""
    if value is None:
        return None
    number = _real(value)
    if number is None or math.isnan(number):
        raise ParameterError(f"the {name} is a number, not {_short(value)}")
    return number


def as_seed(value: object) -> int:
    """A whole number of at least 0, however large."""
    if not isinstance(value, Integral) or value < 0:
        raise ParameterError(f"a seed is a whole number of at least 0, not {_short(value)}")
    return int(value)


def as_threads(value: object) -> int:
    """How many threads; one by default."""
    return as_count("threads", value, 1) or 1


def check_problem(problem: object) -> None:
    """Complain about what is no problem, or not yet one."""
    if isinstance(problem, Problem):
        return
    if hasattr(problem, "build"):
        raise ProblemError("a model is solved when it is built: give model.build()")
    if isinstance(problem, str | os.PathLike):
        raise ProblemError("a file is solved when it is read: give dabp.read(file)")
    raise ProblemError(f"what is solved is a Problem, not {_short(problem)}")


def check_solver(solver: object, params: object) -> None:
    """Complain about what is neither a solver nor its name, and about parameters without names."""
    if not isinstance(solver, str | Solver):
        raise ParameterError(f"a solver is a name (`dabp solvers` lists them) or a Solver, not {_short(solver)}")
    if params is not None and not _named(params):
        raise ParameterError(f"params are values by name, as {{'damping': 0.5}}, not {_short(params)}")


def check_given(problem: object, fix: object) -> None:
    """`check_problem`, and complain about a `fix` that does not give values to names."""
    check_problem(problem)
    if fix is not None and not isinstance(fix, Mapping):
        raise ParameterError(f"fix holds values by variable, as {{'x': 1}}, not {_short(fix)}")


def as_callbacks(callbacks: object) -> tuple[Callable[..., Any], ...]:
    """Functions to call, in their order."""
    found = tuple(callbacks) if isinstance(callbacks, Iterable) else (None,)
    if not all(map(callable, found)):
        raise ParameterError(f"callbacks are functions in a list, not {_short(callbacks)}")
    return found


def as_path(place: object) -> Path | None:
    """A file's name, or None."""
    if place is None:
        return None
    if not isinstance(place, str | os.PathLike) or not isinstance(name := os.fspath(place), str) or "\0" in name:
        raise ParameterError(f"a file has a name, which is text, not {_short(place)}")
    return Path(name)


def _real(value: object) -> float | None:
    """A number as a float, None for what is none or has no room there."""
    if not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _named(values: object) -> bool:
    return isinstance(values, Mapping) and all(isinstance(key, str) for key in values)


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}…"

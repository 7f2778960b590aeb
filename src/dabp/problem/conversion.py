"""Numbers and arrays of callers as float64 and int64: what does not fit is refused, nothing is cut."""

from __future__ import annotations

import reprlib
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError


def as_float(value: Any, what: str) -> float:
    """A real number as a float; `what` names it in the error."""
    if isinstance(value, str | bytes | complex | np.complexfloating):
        raise ProblemError(f"{what} is a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ProblemError(f"{what} is too large for a float64") from None
    except (TypeError, ValueError):
        raise ProblemError(f"{what} is a number, not {reprlib.repr(value)}") from None


def as_floats(values: Any, what: str) -> NDArray[np.float64]:
    """Real numbers by position as a new array; complex numbers, masked entries and text are refused."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"their type is {array.dtype}")
        if "numpy.ma" in sys.modules and np.ma.is_masked(values):  # np.ma is imported at its first use
            raise TypeError("some are masked; fill them first")
        return np.array(array, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise ProblemError(f"{what} are no table of numbers ({str(error).splitlines()[0]})") from None


def as_integers(values: Any, what: str) -> NDArray[np.int64]:
    """Whole numbers of 64 bits as a new array; fractions are refused, not cut."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ProblemError(f"{what} are an array of whole numbers ({str(error).splitlines()[0]})") from None
    if array.size and array.dtype.kind not in "bi":
        with np.errstate(invalid="ignore"):
            whole = array.dtype.kind in "uf" and bool(((array == np.rint(array)) & (abs(array) < 2.0**63)).all())
        if not whole:
            raise ProblemError(f"{what} are whole numbers of 64 bits, not {reprlib.repr(array.tolist())}")
    return np.array(array, dtype=np.int64)

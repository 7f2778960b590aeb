"""A debug switch: with ``DABP_CHECK_NUMBERS=1`` every block of a search is checked for NaN and infinity.

Kernels calculate with flags that let NaN pass unnoticed through comparisons, and a network whose parameters are NaN
still gives an assignment. Tests of solvers run with the switch on; a run without it pays nothing.
"""

from __future__ import annotations

import os

import numpy as np

from dabp.errors import SolverError
from dabp.solvers.base import Search, Step

SWITCH = "DABP_CHECK_NUMBERS"
"""The environment variable of the switch."""


def checked_step(search: Search) -> Step:
    """A step of a search, checked if the switch is on."""
    step = search.step()
    if os.environ.get(SWITCH, "0") != "0":
        check_numbers(search, step)
    return step


def check_numbers(search: Search, step: Step) -> None:
    """Raise if a cost or a bound is NaN, or an array of `Search.numbers` is not finite."""
    who = type(search).__name__
    for name, value in (("a cost", step.costs), ("the best cost", step.best_cost), ("the bound", step.bound)):
        if value is not None and np.isnan(value).any():
            raise SolverError(f"{who}: {name} of a block is not a number")
    for name, array in search.numbers().items():
        bad = ~np.isfinite(array)
        if bad.any():
            kind = "NaN" if np.isnan(array).any() else "infinite"
            raise SolverError(f"{who}: {int(bad.sum())} of {array.size} numbers of {name} are not finite ({kind})")

"""Costs as non-negative integers, for formats that know no others, and a note on each thing that was changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.problem import Problem
from dabp.problem.facts import minimized
from dabp.problem.validation import EXACT


@dataclass(frozen=True)
class IntegerCosts:
    """``scale`` × costs as integers of at least 0; −1 stands for forbidden in `pool`, which `top` is above."""

    pool: NDArray[np.int64]
    constant: int
    top: int
    """One more than any assignment without a forbidden combination can cost."""
    scale: float
    raised: int
    """How much more than ``scale`` × its real cost every assignment costs, after scaling."""


def integer_costs(problem: Problem) -> tuple[IntegerCosts, list[str]]:
    """Scale, negate (maximisation) and raise costs as far as needed, and say so."""
    notes: list[str] = []
    least = minimized(problem)
    if problem.maximize:
        notes.append("maximisation is written as minimisation of the negated costs")
    finite = np.isfinite(least.pool)
    costs = np.where(finite, least.pool, 0.0)
    scale, exact = _scale(least, costs)
    scaled = np.rint(costs * scale).astype(np.int64)
    constant = round(least.constant * scale)
    if scale != 1:
        notes.append(
            f"costs are multiplied by {scale:.15g} to be integers"
            + ("" if exact else f" and rounded, by at most {0.5 / scale:.2g} each")
        )
    # Tables are raised to a minimum of 0 and the constant lowered, which changes no assignment's cost.
    low = np.minimum(least.facts.per_table(np.minimum, np.where(finite, scaled, 0)), 0)
    high = least.facts.per_table(np.maximum, np.where(finite, scaled, 0))
    scaled -= np.repeat(low, np.diff(least.pool_offsets))
    constant += int(low[least.factor_table].sum())
    raised = max(0, -constant)
    if raised:
        notes.append(f"every total is raised by {raised / scale:.15g}, as the format has no costs below 0")
    top = constant + raised + int((high - low)[least.factor_table].sum()) + 1
    return IntegerCosts(np.where(finite, scaled, -1), constant + raised, top, scale, raised), notes


def _scale(problem: Problem, costs: NDArray[np.float64]) -> tuple[float, bool]:
    """The smallest power of ten that makes every cost an integer, or the largest that float64 has room for."""
    total = problem.facts.magnitude
    if problem.facts.integral:
        return 1.0, True
    everything = np.append(costs, problem.constant)
    scale = 1.0
    for decimals in range(1, 16):
        wider = 10.0**decimals
        if total * wider > EXACT / 8:  # solvers add costs up
            break
        scale = wider
        if (np.rint(everything * scale) / scale == everything).all():
            return scale, True
    if scale == 1.0:
        raise FormatError("the costs are too large to be written as scaled integers; .cfn takes real costs")
    return scale, False

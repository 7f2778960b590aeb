"""Lower bounds from dual values, safe against rounding, whatever computed these.

For any multipliers y of the rows, and d = c − A'y,

    min c'x  ≥  Σ_i (y_i low_i if y_i > 0 else y_i high_i)  +  Σ_v min_a d_va  +  Σ_j min(0, d_j upper_j),

with v the variables and j the other columns. It is evaluated in float64 and lowered by a bound on all rounding in it.
With c = 0 it is 0 or less for every program that has a solution: more than 0 proves that there is none.
"""

from __future__ import annotations

import math

import numpy as np

from dabp.solvers.linear.program import Floats, Program

EPSILON = 2.0**-52


def lower_bound(program: Program, multipliers: Floats, *, costs: bool = True) -> float:
    """A number that no solution costs less than; without `costs` the same for c = 0 and no constant."""
    y = np.where(np.isfinite(multipliers), multipliers, 0.0)
    y = np.where((y > 0) & (program.low == -math.inf), 0.0, y)
    y = np.where((y < 0) & (program.high == math.inf), 0.0, y)
    ends = np.where(y > 0, program.low, np.where(y < 0, program.high, 0.0))
    count = len(program.upper)
    own = program.costs if costs else np.zeros(count)
    products = program.entry * y[program.row]
    reduced = own - np.bincount(program.column, products, minlength=count)
    sizes = np.abs(own) + np.bincount(program.column, np.abs(products), minlength=count)
    in_column = int(np.bincount(program.column, minlength=1).max(initial=0))
    values = program.num_values
    allowed = np.where(program.upper[:values] > 0, reduced[:values], np.inf)
    best = np.minimum.reduceat(allowed, program.starts[:-1]) if values else np.zeros(0)
    if np.isinf(best).any():
        return math.inf  # a variable has no value left
    largest = np.maximum.reduceat(np.where(program.upper[:values] > 0, sizes[:values], 0.0), program.starts[:-1])
    others = np.minimum(0.0, reduced[values:] * program.upper[values:])
    constant = program.constant if costs else 0.0
    total = math.fsum([*(y * ends).tolist(), *best.tolist(), *others.tolist(), constant])
    terms = math.fsum(
        [
            float(np.abs(y * ends).sum()),
            float(largest.sum()) if values else 0.0,
            float((sizes[values:] * program.upper[values:]).sum()),
            abs(constant),
        ]
    )
    return total - (in_column + 8) * EPSILON * terms

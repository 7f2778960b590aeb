"""A problem's costs as the integers that local search computes with."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices

NARROW = 2.0**24
"""Local costs below this, in units, fit 32 bits with their sums."""

SMALL = 2.0**15
"""Costs below this, in units, fit 16 bits."""

WIDE = 2.0**44
"""The largest local cost in units where costs are scaled."""

WIDE_TOTAL = 2.0**60
"""The largest total in units where costs are scaled."""


class Units:
    """Costs as integers: the problem's own when it has integers only, otherwise scaled by a power of two and rounded.

    Rounding is at about 1e-13 of the largest local cost, or of a millionth of the total if that is more. Integers take
    32 bits where local costs stay below 2^24 and single costs fit 16 bits, 64 otherwise.

    Parameters
    ----------
    wide
        64 bits in any case: half as many kernels to compile, for solvers that need not be fast.
    small_tables
        Whether 32 bits require costs that fit 16, in which tables of two variables are then stored.

    Attributes
    ----------
    dtype
        int32 or int64.
    table_dtype
        Of the tables of two variables, int16 or int64: moves spend most of their time reading them.
    scale
        Units in a cost of 1.
    pad
        Larger than any difference of local costs.
    heaviest
        No weight of a violated factor grows beyond this.
    hard_factor, soft_factor
        Whether each factor forbids anything, and whether it has any finite cost other than 0.
    """

    def __init__(self, problem: Problem, *, wide: bool = False, small_tables: bool = True):
        self.problem = problem
        self._moved = np.zeros(len(problem.pool_offsets) - 1, dtype=bool)
        """Whether a variable moves in each table: fixing variables may leave others, [T]."""
        self._moved[problem.factor_table[problem.arities > 0]] = True
        self._largest, total = self._bounds()
        self.hard_factor = problem.facts.forbidding[problem.factor_table]
        busiest = self._most_hard_factors()
        narrow = not wide and problem.facts.integral and self._largest * (1 + busiest) < NARROW
        narrow = narrow and (not small_tables or float(self._table_magnitudes.max(initial=0.0)) < SMALL)
        self.dtype: Any = np.int32 if narrow else np.int64
        self.table_dtype: Any = np.int16 if narrow else np.int64
        self.pad = 2**29 if narrow else 2**60
        finest = min(WIDE / self._largest, WIDE_TOTAL / total) if self._largest else 1.0
        exponent = min(float(np.floor(np.log2(finest))), 1023.0)  # of a float64
        self.scale = 1.0 if problem.facts.integral else 2.0**exponent
        self.heaviest = self.pad // 8 // max(busiest, 1)
        lowest, highest = self._table_extremes
        self.soft_factor = ((lowest != 0) | (highest != 0))[problem.factor_table]
        constants = problem.pool_offsets[problem.factor_table[problem.arities == 0]]
        fixed = problem.pool[constants]
        self._constant = problem.constant + float(fixed[np.isfinite(fixed)].sum())

    @cached_property
    def cells(self) -> NDArray[Any]:
        """The pool in units, 0 where it forbids and in tables that no variable moves in, [C]."""
        pool = self.problem.pool
        if not self._moved.all():
            pool = np.where(np.repeat(self._moved, np.diff(self.problem.pool_offsets)), pool, 0.0)
        return self.rounded(pool)

    @cached_property
    def forbids(self) -> NDArray[np.bool_]:
        """Whether each cell of the pool is forbidden, [C]."""
        return ~np.isfinite(self.problem.pool)

    def rounded(self, costs: NDArray[np.float64]) -> NDArray[Any]:
        """Costs in units, 0 where they are infinite; computed in blocks, which take little memory."""
        result = np.empty(costs.shape, dtype=self.dtype)
        block = max(1, 2**18 // max(1, costs[:1].size))
        for start in range(0, len(costs), block):
            part = costs[start : start + block] * self.scale
            part[np.isinf(part)] = 0.0
            result[start : start + block] = np.rint(part, out=part)
        return result

    @cached_property
    def _table_extremes(self) -> tuple[Indices, Indices]:
        """The least and the largest finite cost of each table in units, 0 where no variable moves in it, [T]."""
        lowest, highest = (np.where(self._moved, costs, 0.0) for costs in self.problem.facts.finite_extremes)
        return np.rint(lowest * self.scale).astype(np.int64), np.rint(highest * self.scale).astype(np.int64)

    @cached_property
    def _table_magnitudes(self) -> NDArray[np.float64]:
        """The largest absolute finite cost of each table, 0 where no variable moves in it, [T]."""
        lowest, highest = self.problem.facts.finite_extremes
        return np.where(self._moved, np.maximum(np.abs(lowest), np.abs(highest)), 0.0)

    def _bounds(self) -> tuple[float, float]:
        """On |L|, the sum of the largest finite costs of a variable's factors, and on the sum over all factors."""
        problem, table_max = self.problem, self._table_magnitudes
        factor_max = table_max[problem.factor_table] if problem.num_factors else np.zeros(0)
        sums = np.bincount(
            problem.scope_variables, np.repeat(factor_max, problem.arities), minlength=problem.num_variables
        )
        return float(max(sums.max(initial=0.0), factor_max.max(initial=0.0))), float(factor_max.sum())

    def _most_hard_factors(self) -> int:
        """How many factors with forbidden combinations one variable has at most."""
        if not self.hard_factor.any():
            return 0
        hard = np.repeat(self.hard_factor, self.problem.arities)
        return int(np.bincount(self.problem.scope_variables[hard], minlength=1).max())

    @cached_property
    def weight_of(self) -> Indices:
        """The place of each factor of two or more variables that forbids anything among the weights, else −1, [F]."""
        weighted = self.hard_factor & (self.problem.arities >= 2)
        return np.where(weighted, np.cumsum(weighted) - 1, -1)

    @cached_property
    def first_weight(self) -> int:
        """What violating a factor costs at first: the largest range of finite costs of one factor, at least 1."""
        lowest, highest = self._table_extremes
        zero = self.problem.facts.forbidding  # the finite cost of a forbidden combination is 0
        span = np.where(zero, np.maximum(highest, 0), highest) - np.where(zero, np.minimum(lowest, 0), lowest)
        return int(np.clip(span.max(initial=0), 1, self.heaviest))

    def dominant_weight(self, movers: int = 1) -> int:
        """A weight above what the finite costs of the factors of `movers` variables can differ by."""
        return min(int(2 * movers * self._largest * self.scale) + 1, self.heaviest)

    @cached_property
    def _lowest(self) -> Indices:
        """The least of each factor, [F]."""
        nothing = np.isinf(self.problem.facts.extremes[0])
        return np.where(nothing, self.pad, self._table_extremes[0])[self.problem.factor_table]

    @cached_property
    def floor(self) -> int:
        """A lower bound of all assignments: the sum of the least cost of every factor."""
        return int(self._lowest[self.problem.arities > 0].sum())

    @cached_property
    def floors(self) -> Indices:
        """A lower bound of the cost of each variable's factors, [N]."""
        problem = self.problem
        result = np.zeros(problem.num_variables, dtype=np.int64)
        np.add.at(result, problem.scope_variables, np.repeat(self._lowest, problem.arities))
        return result

    def cost(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """Costs of the problem from the kernels' integers; exact if the problem's costs are integers."""
        return np.asarray(units, dtype=np.float64) / self.scale + self._constant

    def of(self, assignment: Assignment) -> int:
        """The finite cost of an assignment, without the constant."""
        total = 0
        for group in self.problem.facts.arity_groups:
            if group.variables.shape[1] > 0:
                places = group.bases + (assignment[group.variables] * group.strides).sum(axis=1)
                total += int(self.rounded(self.problem.pool[places]).sum(dtype=np.int64))
        return total

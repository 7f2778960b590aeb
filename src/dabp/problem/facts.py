"""What follows from the columns of a problem, each computed once: its structure, the range of each table, its totals.

The structure is what no cost enters: domain sizes, scopes, which table a factor uses and where that table starts.
Problems that differ in their costs alone share one `Structure`; components, elimination orders and the layouts of
messages are kept with it. Totals of integers and decimals are exact; for real costs every statement allows for rounding
(`Facts.rounding_error`).
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.problem.columns import Indices
from dabp.problem.exactness import UNIT_ROUNDOFF, decimal, first_excluded, least_digits

if TYPE_CHECKING:
    from dabp.problem.problem import Problem

Found = TypeVar("Found")

BULKY = 2**20
"""Costs plus scope entries of a problem beyond which results as large as the problem itself are not kept."""


class Memo:
    """Results of functions of an immutable object, each computed once; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock, self._found = threading.RLock(), dict[Hashable, Any]()

    def get(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """The result of `compute`; the first caller computes while the others wait."""
        with self._lock:
            if key not in self._found:
                self._found[key] = compute()
            return cast("Found", self._found[key])


class Columns(NamedTuple):
    """The columns of a problem that no cost enters, see `Problem`."""

    domain_sizes: Indices
    scope_variables: Indices
    scope_offsets: Indices
    pool_offsets: Indices
    factor_table: Indices
    definitions: Indices


@dataclass(frozen=True)
class ArityGroup:
    """The factors of one arity k: `variables` and `strides` [n, k], `bases` [n] into the pool."""

    factors: Indices
    variables: Indices
    strides: Indices
    bases: Indices


class Structure:
    """What follows from `Columns`; one object for all problems that differ in their costs alone."""

    def __init__(self, columns: Columns):
        self.columns, self.memo = columns, Memo()

    @cached_property
    def arities(self) -> Indices:
        """Arity of each factor, [F]."""
        return np.diff(self.columns.scope_offsets)

    @cached_property
    def num_constraints(self) -> int:
        """Number of factors of arity 2 or more."""
        return int((self.arities >= 2).sum())

    @cached_property
    def filled_tables(self) -> tuple[NDArray[np.bool_], Indices]:
        """Whether each table has any costs, [T], and where those that have begin."""
        filled = np.diff(self.columns.pool_offsets) > 0
        return filled, self.columns.pool_offsets[:-1][filled]

    @cached_property
    def arity_groups(self) -> tuple[ArityGroup, ...]:
        """Factors by arity, with the strides that turn values into positions of `pool`."""
        sizes, scopes, offsets = self.columns[:3]
        groups = []
        uniform = len(sizes) > 0 and bool((sizes == sizes[0]).all())
        for arity in np.flatnonzero(np.bincount(self.arities)).tolist():
            factors = np.flatnonzero(self.arities == arity)
            first, last = int(factors[0]), int(factors[-1]) + 1
            together = last - first == len(factors)
            if together:  # as they mostly are: then nothing is copied
                entries = slice(offsets[first], offsets[last])
                variables = scopes[entries].reshape(len(factors), arity)
            else:
                variables = scopes[offsets[factors][:, None] + np.arange(arity)]
            if uniform:
                powers = sizes[0] ** np.arange(arity - 1, -1, -1)
                strides = np.broadcast_to(powers, variables.shape)
            else:
                lengths = sizes[variables]
                strides = np.ones_like(lengths)
                for axis in range(arity - 2, -1, -1):
                    strides[:, axis] = strides[:, axis + 1] * lengths[:, axis + 1]
            bases = self.columns.pool_offsets[
                self.columns.factor_table[first:last] if together else self.columns.factor_table[factors]
            ]
            groups.append(ArityGroup(factors, variables, strides, bases))
        return tuple(groups)


class Facts:
    """What is known of a problem's costs and totals without any assignment."""

    def __init__(
        self, structure: Structure, pool: NDArray[np.float64], constant: float, maximize: bool, limit: float | None
    ):
        self.structure, self.memo = structure, Memo()
        self.pool, self._constant, self._maximize, self._limit = pool, constant, maximize, limit

    def share_structure(self, columns: Columns, pool: NDArray[np.float64]) -> bool:
        """Whether a problem with these columns and costs has the same structure."""
        same = all(mine is theirs for mine, theirs in zip(self.structure.columns, columns, strict=True))
        return same and pool.shape == self.pool.shape

    def take_over(self, other: Facts) -> None:
        """Copy what is known of the tables from the facts of another problem, if it has the same tables."""
        mine, theirs = self.structure.columns, other.structure.columns
        same = mine.pool_offsets is theirs.pool_offsets and mine.factor_table is theirs.factor_table
        if same and self.pool is other.pool:
            of_tables = (
                "table_magnitude",
                "extremes",
                "forbidding",
                "finite_extremes",
                "integral_tables",
                "decimal_digits",
            )
            self.__dict__.update({name: other.__dict__[name] for name in of_tables if name in other.__dict__})

    @property
    def arity_groups(self) -> tuple[ArityGroup, ...]:
        """Factors by arity, with the strides that turn values into positions of `pool`."""
        return self.structure.arity_groups

    @property
    def num_constraints(self) -> int:
        """Number of factors of arity 2 or more: the paper's normalised cost is the cost divided by it."""
        return self.structure.num_constraints

    @property
    def forbidden(self) -> float:
        """The cost of a forbidden combination: +inf, or −inf when maximising."""
        return -np.inf if self._maximize else np.inf

    @cached_property
    def digest(self) -> str:
        """A hash of all that decides costs and what is feasible: the problem's identity for checkpoints and results."""
        limit = () if self._limit is None else (self._limit,)
        sha = hashlib.sha256(repr((self._constant, self._maximize, *limit)).encode())
        columns: tuple[NDArray[Any], ...] = (
            *self.structure.columns[:3],
            self.pool,
            *self.structure.columns[3:5],
        )
        for column in columns:
            sha.update(np.ascontiguousarray(column).view(np.uint8).data)
            sha.update(b"|")
        return sha.hexdigest()

    @property
    def integral(self) -> bool:
        """Whether every finite cost (and the constant) is an integer."""
        return self._constant == round(self._constant) and self.integral_tables

    @cached_property
    def integral_tables(self) -> bool:
        """Whether every finite cost is an integer, whatever the constant."""
        block = 2**20  # cells whose rounded values are in memory at a time
        parts = (self.pool[i : i + block] for i in range(0, len(self.pool), block))
        return all((part == np.rint(part)).all() for part in parts)

    @property
    def magnitude(self) -> float:
        """The sum of each factor's largest finite cost by size, and the constant's: no total is larger."""
        return self.table_magnitude + abs(self._constant)

    @cached_property
    def table_magnitude(self) -> float:
        """The sum of each factor's largest finite cost by size, the constant left out."""
        lowest, highest = self.finite_extremes
        with np.errstate(over="ignore"):
            return float(np.maximum(np.abs(lowest), np.abs(highest))[self.structure.columns.factor_table].sum())

    @cached_property
    def finite_extremes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest finite cost of each table, [T]; 0 where nothing is finite."""
        lowest, highest = self.extremes
        if self.forbidding.any():
            barred = np.isinf(self.pool)
            lowest = self.per_table(np.minimum, np.where(barred, np.inf, self.pool))
            highest = self.per_table(np.maximum, np.where(barred, -np.inf, self.pool))
            nothing = np.isinf(lowest)
            lowest[nothing] = highest[nothing] = 0.0
            lowest.flags.writeable = highest.flags.writeable = False
        return lowest, highest

    @cached_property
    def extremes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest cost of each table, forbidden ones included, [T]; 0 for an empty one."""
        lowest, highest = self.per_table(np.minimum), self.per_table(np.maximum)
        lowest.flags.writeable = highest.flags.writeable = False
        return lowest, highest

    @cached_property
    def forbidding(self) -> NDArray[np.bool_]:
        """Whether each table forbids anything, [T]."""
        lowest, highest = self.extremes
        return np.isinf(lowest) | np.isinf(highest)

    def per_table(self, operation: np.ufunc, cells: NDArray[Any] | None = None) -> NDArray[Any]:
        """Reduce the pool, or as many other numbers, table by table: one for each, 0 for an empty one, [T]."""
        values = self.pool if cells is None else cells
        filled, starts = self.structure.filled_tables
        if len(starts) == len(filled) > 0:
            return np.asarray(operation.reduceat(values, starts), dtype=values.dtype)
        result = np.zeros(len(filled), dtype=values.dtype)
        if len(starts):
            result[filled] = operation.reduceat(values, starts)
        return result

    @cached_property
    def decimal_digits(self) -> int | None:
        """The least k for which every finite cost is a multiple of 10⁻ᵏ and totals are exact in it; None if real.

        The constant may be anything: totals are C + N·10⁻ᵏ.
        """
        return 0 if self.integral_tables else least_digits(self.pool, self.table_magnitude)

    @property
    def rounding_error(self) -> float:
        """The most by which the float of a total can differ from the total: of F + 1 sums, and of decimals as floats.

        With u = 2⁻⁵³ and M the sum of each factor's largest cost by size, adding up costs in any order is off by at
        most F·u·M; the constant is added last. 0 for integers.
        """
        if self.integral:
            return 0.0
        tables = self.table_magnitude
        return UNIT_ROUNDOFF * (
            (len(self.structure.columns.factor_table) + 4) * tables + 2 * (tables + abs(self._constant))
        )

    def rounding(self, cost: float) -> float:
        """By how much totals near `cost` may differ and still count as equal.

        Integers and decimals differ by at least a unit, so a part of it; real costs by what rounding can have done to
        both of them. "Optimal" of real costs means so: up to this number.
        """
        if self.integral:
            return 1e-6
        digits = self.decimal_digits
        return max(2 * self.rounding_error, 0.0 if digits is None else 0.25 * 10.0**-digits)

    @cached_property
    def threshold(self) -> float | None:
        """Half a unit before the first total that the limit excludes; None where floats can be compared as they are.

        Floats of totals are off by less than an eighth of a unit, so those on the better side of the threshold are
        better than the limit, and the others are not.
        """
        digits = self.decimal_digits
        if self._limit is None or self.integral or digits is None or self.rounding_error > 0.125 * 10.0**-digits:
            return None
        sign = -1 if self._maximize else 1
        constant, limit = sign * decimal(self._constant), sign * decimal(self._limit)
        excluded = first_excluded(limit - constant, digits) - Fraction(1, 2)
        return sign * float(constant + excluded / Fraction(10) ** digits)

    def excludes(self, bound: float) -> bool:
        """Whether no total from this bound on is better than `limit`, rounding allowed for: nothing is feasible."""
        if self._limit is None:
            return False
        sign = -1.0 if self._maximize else 1.0
        middle = self.threshold
        return sign * bound >= sign * (self._limit if middle is None else middle) + (
            2 * self.rounding_error if middle is None else 0.0
        )


def within_limit(problem: Problem, cost: float, assignment: ArrayLike | None = None) -> bool:
    """Whether a total is strictly better than `limit`: exactly for integers and decimals.

    Real costs as their sum says; where it is too near to tell, their exact sum, given the assignment.
    """
    if problem.limit is None:
        return True
    sign = -1.0 if problem.maximize else 1.0
    middle = problem.facts.threshold
    if middle is not None:
        return sign * cost < sign * middle
    if assignment is not None and abs(cost - problem.limit) <= problem.facts.rounding_error:
        return sign * math.fsum([*problem.factor_costs(assignment).tolist(), problem.constant, -problem.limit]) < 0
    return sign * cost < sign * problem.limit


def minimized(problem: Problem) -> Problem:
    """The same problem as a minimisation: itself, or every cost negated."""
    if not problem.maximize:
        return problem
    limit = None if problem.limit is None else -problem.limit
    statements = problem.auxiliaries.statements  # they say by how much a total becomes worse
    constant = -problem.constant
    return problem.replace(pool=-problem.pool, constant=constant, limit=limit, maximize=False, statements=statements)


def derived(problem: Problem, compute: Callable[[Problem], Found]) -> Found:
    """``compute(problem)``, computed once for this problem and kept as long as it lives.

    For results that follow from the columns alone and that several stages need. `compute` is the key: a function of a
    module, not a lambda. Pickling and `Problem.replace` leave the results out.
    """
    return problem.facts.memo.get(compute, lambda: compute(problem))


def structural(problem: Problem, compute: Callable[..., Found], *arguments: Hashable, bulky: bool = False) -> Found:
    """``compute(problem, *arguments)``, computed once for all problems that share the structure of this one.

    For results that follow from the structure alone; no cost may enter. `compute` is a function of a module. A result
    about as large as the problem is `bulky`: it is computed each time for problems beyond `BULKY`.
    """
    if bulky and len(problem.pool) + len(problem.scope_variables) > BULKY:
        return compute(problem, *arguments)
    return problem.facts.structure.memo.get((compute, *arguments), lambda: compute(problem, *arguments))

"""Problems whose hard constraints may be violated: first as few as possible, or as cheap, then the least cost.

With prices p_g as integers of a unit and W more than the costs of two assignments can differ by, the relaxed problem
is

    min  cost(x) + W Σ_g p_g [x violates g],

where what is forbidden costs nothing of its own. A constraint of one factor gets its price into its table; one of
several has an auxiliary variable, violated or not, which all of them look at.
"""

from __future__ import annotations

import itertools
import math
import reprlib
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ParameterError, ProblemError, suggestion
from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, table_ranges
from dabp.problem.constraints import Constraint, hard_constraints, violated
from dabp.problem.conversion import as_float
from dabp.problem.exactness import LARGEST_TOTAL, decimal
from dabp.problem.facts import minimized


class Relaxation:
    """A problem with a price on each hard constraint.

    Parameters
    ----------
    problem
        Any; the relaxed problem has no limit on its total.
    prices
        What violating a constraint costs, by its name; infinity keeps it hard. 1 for those that are not named.

    Attributes
    ----------
    problem
        The relaxed problem; it has the same visible variables.
    constraints
        The hard constraints, those that stay hard left out.
    weighed
        Whether its costs contain those of the problem; they are left out where sums with violations would not be exact.
    """

    def __init__(self, problem: Problem, prices: Mapping[str, float] | None = None):
        self.original = problem
        named = _checked(prices or {}, [one.name for one in hard_constraints(problem)])
        self.constraints = [one for one in hard_constraints(problem) if named.get(one.name, Fraction(1)) is not None]
        self._prices = [named.get(one.name) or Fraction(1) for one in self.constraints]
        unit = math.lcm(*(price.denominator for price in self._prices))
        self._units = [int(price * unit) for price in self._prices]
        spread = math.ceil(self._spread()) + 1
        self.weighed = spread * sum(self._units) < LARGEST_TOTAL / 4
        self._weight = spread if self.weighed else 1
        self.problem = self._relaxed()

    def price(self, broken: list[Constraint]) -> float:
        """The sum of the prices of these constraints."""
        prices = {one.name: price for one, price in zip(self.constraints, self._prices, strict=True)}
        return float(sum((prices[one.name] for one in broken), Fraction(0)))

    def violated(self, assignment: ArrayLike) -> list[Constraint]:
        """The relaxed constraints that an assignment violates."""
        return violated(self.original, self.constraints, assignment)

    def cost(self, assignment: ArrayLike) -> float:
        """The cost of an assignment without forbidden combinations."""
        costs = self.original.factor_costs(assignment)
        if np.isfinite(costs).all():
            return float(self.original.cost(assignment))
        return math.fsum([*costs[np.isfinite(costs)].tolist(), self.original.constant])

    def _spread(self) -> float:
        """Largest difference between the costs of two assignments."""
        lowest, ranges = table_ranges(minimized(self.original))
        highest = lowest + ranges
        hard = np.zeros(self.original.num_factors, dtype=np.bool_)
        for one in self.constraints:
            hard[list(one.factors)] = True
        low, high = lowest[self.original.factor_table], highest[self.original.factor_table]
        low, high = np.where(hard, np.minimum(low, 0), low), np.where(hard, np.maximum(high, 0), high)
        return float((high - low).sum())

    def _relaxed(self) -> Problem:
        problem, sign = self.original, -1.0 if self.original.maximize else 1.0
        # Of each factor's table: 0, it stays; 1, a switch says whether it counts; 2 + i, it has the price i.
        code = np.zeros(problem.num_factors, dtype=np.int64)
        switch = np.full(problem.num_factors, -1, dtype=np.int64)
        penalties = sorted(set(self._units))
        several: list[int] = []
        for one, price in zip(self.constraints, self._units, strict=True):
            if len(one.factors) == 1:
                code[one.factors[0]] = 2 + penalties.index(price)
            else:
                code[list(one.factors)], switch[list(one.factors)] = 1, problem.num_variables + len(several)
                several.append(price)
        amounts = [sign * self._weight * price for price in penalties]
        pool, table = self._tables(code, amounts)
        switches = np.arange(problem.num_variables, problem.num_variables + len(several))
        table = np.concatenate([table, len(pool) + np.arange(len(several))])
        pool += [np.array([0.0, sign * self._weight * price]) for price in several]
        scopes, offsets = _with_switches(problem, switch, switches)
        names = [*problem.names.variables, *_free(problem, len(several))]
        labels = problem.names.value_labels and [*problem.names.value_labels, *[None] * len(several)]
        return Problem(
            np.concatenate([problem.domain_sizes, np.full(len(several), 2)]),
            scopes,
            offsets,
            np.concatenate([np.zeros(0), *pool]),
            offsets_of(list(map(len, pool))),
            table,
            constant=problem.constant if self.weighed else 0.0,
            maximize=problem.maximize,
            variable_names=names if problem.names.variable_names or several else None,
            labels=labels,
            name=problem.name,
            keys=None if problem.names.keys is None else [*problem.names.keys, *names[problem.num_variables :]],
            definitions=np.concatenate([problem.auxiliaries.definitions, np.flatnonzero(code == 1)]),
        )

    def _tables(self, code: Indices, amounts: list[float]) -> tuple[list[NDArray[np.float64]], Indices]:
        """The different tables that are needed, and which one each factor has."""
        problem = self.original
        pairs = np.stack([problem.factor_table, code], axis=1)
        kinds, table = np.unique(pairs, axis=0, return_inverse=True)
        pool = list[NDArray[np.float64]]()
        for number, kind in kinds.tolist():
            cells = problem.pool[problem.pool_offsets[number] : problem.pool_offsets[number + 1]]
            forbidden = np.isinf(cells)
            if not self.weighed:
                cells = np.where(forbidden, cells, 0.0)
            if kind == 1:
                cells = np.stack([cells, np.where(forbidden, 0.0, cells)], axis=1).ravel()
            elif kind > 1:
                cells = np.where(forbidden, amounts[kind - 2], cells)
            pool.append(cells)
        return pool, table.ravel().astype(np.int64)


def _with_switches(problem: Problem, switch: Indices, switches: Indices) -> tuple[Indices, Indices]:
    """Scopes with a switch at the end where a factor has one, and those of the switches' own prices."""
    switched = switch >= 0
    arities = problem.arities + switched
    offsets = offsets_of(np.concatenate([arities, np.ones(len(switches), dtype=np.int64)]))
    scopes = np.empty(int(offsets[-1]), dtype=np.int64)
    own = np.ones(int(offsets[problem.num_factors]), dtype=np.bool_)
    ends = offsets[1 : problem.num_factors + 1][switched] - 1
    own[ends] = False
    scopes[: len(own)][own] = problem.scope_variables
    scopes[ends] = switch[switched]
    scopes[len(own) :] = switches
    return scopes, offsets


def _free(problem: Problem, count: int) -> list[str]:
    """Names for switches that no variable has."""
    taken = set(problem.names.variables)
    free = (name for number in itertools.count(1) if (name := f"violated{number}") not in taken)
    return list(itertools.islice(free, count))


def _checked(prices: Mapping[str, float], known: list[str]) -> dict[str, Fraction | None]:
    """Prices as exact numbers, None for infinite ones."""
    result: dict[str, Fraction | None] = {}
    for name, price in prices.items():
        if name not in known:
            hint = suggestion(str(name), known) if len(known) <= 100 else ""
            raise ParameterError(f"there is no hard constraint {name!r}" + hint)
        try:
            value = as_float(price, "it")
        except ProblemError:
            value = math.nan
        if isinstance(price, bool) or not value > 0:
            raise ParameterError(f"the price of violating {name!r} is a number above 0, not {reprlib.repr(price)}")
        result[name] = None if math.isinf(value) else decimal(value)
    return result

"""Problems whose hard constraints may be violated: first as few as possible, or as cheap, then the least cost.

With prices p_g as integers of a unit and W more than the costs of two assignments can differ by, the relaxed problem
is

    min  cost(x) + W Σ_g p_g a_g(x),

where what is forbidden costs nothing of its own, and a_g is by how much x violates g: persons that are missing, units
too many. Statements that are sums have such an amount, and are cut into tables anew, with a price; of others a_g is 1
if x violates g. Of these a constraint of one factor gets its price into its table; one of several has an auxiliary
variable, violated or not, which all of them look at.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
import reprlib
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ParameterError, ProblemError, suggestion
from dabp.problem import Problem
from dabp.problem.blocks import Blocks, Building
from dabp.problem.columns import Indices, offsets_of, ragged_positions, table_ranges
from dabp.problem.constraints import Constraint, hard_constraints, violated
from dabp.problem.conversion import as_float
from dabp.problem.exactness import LARGEST_TOTAL, decimal
from dabp.problem.facts import minimized
from dabp.problem.globals.base import Posted

MOST_CELLS = 2**24
"""Cells of the tables of a statement that is priced by amount."""


class Relaxation:
    """A problem with a price on each hard constraint.

    Parameters
    ----------
    problem
        Any; the relaxed problem has no limit on its total.
    prices
        What violating a constraint costs, by its name; infinity keeps it hard. 1 for those that are not named.
    amounts
        Whether statements that are sums are priced by the amount of their violation; otherwise each counts once.

    Attributes
    ----------
    problem
        The relaxed problem; it has the same visible variables.
    constraints
        The hard constraints, those that stay hard left out.
    weighed
        Whether its costs contain those of the problem; they are left out where sums with violations would not be exact.
    """

    def __init__(self, problem: Problem, prices: Mapping[str, float] | None = None, *, amounts: bool = True):
        self.original = problem
        named = _checked(prices or {}, [one.name for one in hard_constraints(problem)])
        self.constraints = [one for one in hard_constraints(problem) if named.get(one.name, Fraction(1)) is not None]
        self._prices = [named.get(one.name) or Fraction(1) for one in self.constraints]
        self.measured = _measured(problem, self.constraints) if amounts else {}
        """The statements that are priced by amount, by name."""
        self.too_large = False
        """Whether statements count once because the tables of amounts would be too large."""
        try:
            self._build()
        except ProblemError:
            if not self.measured:
                raise
            self.measured, self.too_large = {}, True
            self._build()

    def _build(self) -> None:
        most = [max(1, sum(map(_most, self.measured.get(one.name, ())))) for one in self.constraints]
        posted = itertools.chain.from_iterable(self.measured.values())
        steps = [total.judge.steps for one in posted for total in one.function.sums(one.symbols) or ()]
        self._unit = math.lcm(*(price.denominator for price in self._prices), *steps)
        self._units = [int(price * self._unit) for price in self._prices]
        spread = math.ceil(self._spread()) + 1
        self.weighed = spread * sum(map(operator.mul, self._units, most)) < LARGEST_TOTAL / 4
        self._weight = spread if self.weighed else 1
        self.problem = self._relaxed()

    def amounts(self, assignment: ArrayLike) -> dict[str, float]:
        """By how much an assignment violates each of the constraints that it violates, by name; 1 without a measure."""
        whole = self.original.auxiliaries.completed(np.asarray(assignment, dtype=np.int64))[None]
        return {
            one.name: sum(float(_violation(each, whole)) for each in self.measured.get(one.name, ())) or 1.0
            for one in self.violated(assignment)
        }

    def price(self, assignment: ArrayLike) -> float:
        """The sum of the prices of what an assignment violates, times the amounts."""
        prices = {one.name: price for one, price in zip(self.constraints, self._prices, strict=True)}
        amounts = self.amounts(assignment).items()
        return float(sum((prices[name] * decimal(amount) for name, amount in amounts), Fraction(0)))

    def least_price(self, bound: float) -> float:
        """What every assignment pays for violations at least, from a bound on the relaxed problem's cost."""
        problem, sign = self.original, -1.0 if self.original.maximize else 1.0
        if not math.isfinite(bound):
            return 0.0
        lowest, ranges = table_ranges(minimized(problem))
        highest = float(np.maximum(lowest + ranges, 0.0)[problem.factor_table].sum()) + sign * problem.constant
        units = (sign * bound - (highest if self.weighed else 0.0)) / self._weight
        return max(0.0, math.ceil(units - 1e-6) / self._unit)

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
        priced = {
            one.name: float(self._weight * price) for one, price in zip(self.constraints, self._units, strict=True)
        }
        problem, new = _by_amount(self.original, self.measured, priced)
        sign = -1.0 if problem.maximize else 1.0
        # Of each factor's table: 0, it stays; 1, a switch says whether it counts; 2 + i, it has the price i; −1, it is
        # priced by amount.
        code = np.where(np.arange(problem.num_factors) < new, 0, -1)
        switch = np.full(problem.num_factors, -1, dtype=np.int64)
        penalties = sorted(set(self._units))
        several: list[int] = []
        of_name = dict(zip((one.name for one in self.constraints), self._units, strict=True))
        for one in hard_constraints(problem):
            if (price := of_name.get(one.name)) is None or one.name in self.measured:
                continue
            if len(one.factors) == 1:
                code[one.factors[0]] = 2 + penalties.index(price)
            else:
                code[list(one.factors)], switch[list(one.factors)] = 1, problem.num_variables + len(several)
                several.append(price)
        amounts = [sign * self._weight * price for price in penalties]
        pool, table = self._tables(problem, code, amounts)
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
            statements=[one for one in problem.auxiliaries.statements if (code[list(one.factors)] <= 0).all()],
        )

    def _tables(
        self, problem: Problem, code: Indices, amounts: list[float]
    ) -> tuple[list[NDArray[np.float64]], Indices]:
        """The different tables that are needed, and which one each factor has."""
        pairs = np.stack([problem.factor_table, code], axis=1)
        kinds, table = np.unique(pairs, axis=0, return_inverse=True)
        pool = list[NDArray[np.float64]]()
        for number, kind in kinds.tolist():
            cells = problem.pool[problem.pool_offsets[number] : problem.pool_offsets[number + 1]]
            forbidden = np.isinf(cells)
            if not self.weighed and kind >= 0:
                cells = np.where(forbidden, cells, 0.0)
            if kind == 1:
                cells = np.stack([cells, np.where(forbidden, 0.0, cells)], axis=1).ravel()
            elif kind > 1:
                cells = np.where(forbidden, amounts[kind - 2], cells)
            pool.append(cells)
        return pool, table.ravel().astype(np.int64)


def _violation(posted: Posted, whole: Indices) -> float:
    rows = np.stack([own[whole[:, v]] for v, own in zip(posted.scope, posted.symbols, strict=True)], axis=1)
    return float(posted.function.violation(rows)[0])


def _most(posted: Posted) -> int:
    """The largest amount by which a sum can violate its bounds."""
    total = 0
    for terms, judge in posted.function.sums(posted.symbols) or ():
        ends = (sum(int(term.min()) for term in terms), sum(int(term.max()) for term in terms))
        total += math.ceil(max(map(judge.violation, ends)))
    return total


def _measured(problem: Problem, constraints: Sequence[Constraint]) -> dict[str, list[Posted]]:
    """The statements of the constraints that are single sums with an amount, and nothing else, by name."""
    stated: dict[str, list[Posted]] = {}
    for posted in problem.auxiliaries.statements:
        if posted.factors and posted.function.hard:
            stated.setdefault(posted.name, []).append(posted)
    return {
        one.name: stated[one.name]
        for one in constraints
        if one.name in stated
        and set(one.factors) <= {factor for posted in stated[one.name] for factor in posted.factors}
        and all(map(_has_amount, stated[one.name]))
    }


def _has_amount(posted: Posted) -> bool:
    sums = list(itertools.islice(posted.function.sums(posted.symbols) or (), 2))
    return (
        len(sums) == 1
        and sums[0].judge.measure == "amount"
        and not sums[0].judge.different
        and min(posted.scope, default=0) >= 0
    )


def _by_amount(
    problem: Problem, measured: Mapping[str, Sequence[Posted]], prices: Mapping[str, float]
) -> tuple[Problem, int]:
    """The problem with these statements priced by amount, behind its other factors; how many those are.

    What the hard statements were cut into goes, auxiliary variables included.
    """
    if not measured:
        return problem, problem.num_factors
    seen, auxiliaries = problem.auxiliaries.num_visible, problem.auxiliaries
    dropped = np.zeros(problem.num_factors, dtype=np.bool_)
    for posted in itertools.chain.from_iterable(measured.values()):
        dropped[list(posted.factors)] = True
    defines = np.zeros(problem.num_factors, dtype=np.bool_)
    defines[auxiliaries.definitions] = True
    gone = problem.scope_variables[problem.scope_offsets[np.flatnonzero(dropped & defines) + 1] - 1]
    stays = np.ones(problem.num_variables, dtype=np.bool_)
    stays[gone] = False
    number = np.cumsum(stays) - 1
    kept, place, blocks = np.flatnonzero(~dropped), np.cumsum(~dropped) - 1, Blocks()
    stated = [
        posted._replace(
            scope=tuple(int(number[v]) if v >= 0 else v for v in posted.scope),
            factors=tuple(place[list(posted.factors)].tolist()),
        )
        for posted in auxiliaries.statements
        if not dropped[list(posted.factors)].any()
    ]
    for name, statements in measured.items():
        build = Building(blocks, name, MOST_CELLS, problem.maximize)
        stated += [_softened(posted, prices[name], build, number, len(kept)) for posted in statements]
    count = int(stays.sum())
    own_scopes = problem.scope_variables[ragged_positions(problem.scope_offsets, kept)]
    pool, offsets, table = blocks.tables()
    names = problem.names
    visible = [*itertools.compress(names.variables, stays)]
    added = len(blocks.auxiliary)
    taken = set(visible)
    free = (name for n in itertools.count(1) if (name := f"aux{n}") not in taken)
    everyone = [*visible, *itertools.islice(free, added)]
    added_names = [name for block in blocks.blocks for name in block.names]
    return Problem(
        np.concatenate([problem.domain_sizes[stays], np.array(blocks.auxiliary, dtype=np.int64)]),
        np.concatenate([number[own_scopes], blocks.scopes(count)]),
        offsets_of(np.concatenate([problem.arities[kept], blocks.arities])),
        np.concatenate([problem.pool, pool]),
        np.concatenate([problem.pool_offsets, len(problem.pool) + offsets[1:]]),
        np.concatenate([problem.factor_table[kept], len(problem.pool_offsets) - 1 + table]),
        constant=problem.constant,
        maximize=problem.maximize,
        variable_names=everyone if names.variable_names or added else None,
        factor_names=[*(names.factor(f) for f in kept.tolist()), *added_names],
        labels=names.value_labels and [*itertools.compress(names.value_labels, stays), *[None] * added],
        name=problem.name,
        keys=None if names.keys is None else [*names.keys[:seen], *everyone[seen:]],
        definitions=np.concatenate([np.flatnonzero(defines[kept]), len(kept) + blocks.definitions]),
        statements=stated,
    ), len(kept)


def _softened(posted: Posted, price: float, build: Building, number: Indices, before: int) -> Posted:
    """A statement with a price, built behind `before` other factors over variables with new numbers."""
    soft, first = dataclasses.replace(posted.function, price=price), before + build.blocks.num_factors
    scope = tuple(number[list(posted.scope)].tolist())
    soft.decompose(build, scope, posted.symbols)
    return Posted(soft, scope, posted.symbols, tuple(range(first, before + build.blocks.num_factors)), posted.name)


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

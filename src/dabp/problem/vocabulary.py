"""What models state beyond tables: all different, counts, linear sums, elements, implications.

Each statement becomes tables if they are small, and otherwise a chain of tables through auxiliary variables
(`dabp.problem.sums`), which answers leave out. All factors of a statement have its name: they are one constraint.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple, ParamSpec, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import KeywordError, ProblemError, named_keywords
from dabp.problem.columns import Indices
from dabp.problem.conversion import as_float
from dabp.problem.data import places_of
from dabp.problem.sums import Chain, Judge, chain, exact, exact_numbers, whole_terms
from dabp.problem.views import Label

P = ParamSpec("P")
R = TypeVar("R")

SMALL_CELLS = 1024
"""Cells up to which a statement is one table, whatever a chain would need."""

WIDE_VALUES = 16
"""Least number of values of a variable whose values in a sum may be grouped into classes of equal terms."""

VALUES_PER_CLASS = 4
"""Least mean number of values in a class, for which an auxiliary variable takes the variable's place in a sum."""

Allowed = Label | Iterable[Label]
"""One label, or several of which any will do."""


class Block(NamedTuple):
    """Factors that were added together."""

    scopes: Indices
    """Their variables, [n, k]; −1, −2, … are auxiliary ones."""
    tables: NDArray[np.float64]
    """Different tables, [U, cells]."""
    table: Indices
    """Which of them each factor has, [n]."""
    names: list[str]
    defines: bool = False
    """Whether each of them defines the last variable of its scope."""


def statement(function: Callable[P, R]) -> Callable[P, R]:
    """Answer unknown keyword arguments of a method with the nearest name, and ``penalty`` with ``price``."""
    checked = named_keywords(function)

    @functools.wraps(function)
    def called(*arguments: P.args, **keywords: P.kwargs) -> R:
        if "penalty" in keywords:
            raise KeywordError(f"{function.__name__}() has no argument 'penalty': since version 0.2 it is 'price'")
        return checked(*arguments, **keywords)

    return called


class Vocabulary:
    """The statements of `Model`, and what they become: variables, blocks of factors, auxiliary variables."""

    maximize: bool
    max_cells: int

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._labels: list[tuple[Label, ...]] = []
        self._blocks: list[Block] = []
        self._num_factors = 0
        self._auxiliary: list[int] = []
        """The domain sizes of auxiliary variables."""
        self._given: set[str] = set()
        """Names of factors that were given."""

    @statement
    def all_different(self, scope: Sequence[str], *, price: float | None = None, name: str | None = None) -> None:
        """No two of the variables have equal labels; with a price, each pair with equal labels costs `price` instead.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["ann", "bob", "eve"], ["mon", "tue", "wed"])
        >>> model.all_different(names)
        """
        indices = np.array(self._scope(scope), dtype=np.int64)
        bad, name = self._price(price), self._statement("all_different", name)
        rows: dict[tuple[Label, ...], int] = {}
        kind = np.array([rows.setdefault(self._labels[i], len(rows)) for i in indices.tolist()], dtype=np.int64)
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        count, total = np.bincount(kind, minlength=len(rows)), int(sizes[kind].sum())
        cells = (total**2 - int((sizes**2 * count).sum())) // 2
        self._check_cells(cells, f"all_different over {len(indices):,} variables")
        first, second = np.triu_indices(len(indices), 1)
        identities = _identities(list(rows))
        keys = kind[first] * len(rows) + kind[second]
        order = np.argsort(keys, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else ():
            a, b = divmod(int(keys[pairs[0]]), len(rows))
            equal = identities[a][:, None] == identities[b][None, :]
            if equal.any():
                scopes = np.stack([indices[first[pairs]], indices[second[pairs]]], axis=1)
                self._add_many(scopes, np.where(equal, bad, 0.0), name)

    @statement
    def at_most(
        self, scope: Sequence[str], values: Allowed, count: int, *, price: float | None = None, name: str | None = None
    ) -> None:
        """At most `count` of the variables take one of the values; each further one costs `price`, if given.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["mon", "tue", "wed"], ["day", "night", "off"])
        >>> model.at_most(names, "night", 1)
        """
        self._count("at_most", scope, values, (False, True), count, price, name)

    @statement
    def at_least(
        self, scope: Sequence[str], values: Allowed, count: int, *, price: float | None = None, name: str | None = None
    ) -> None:
        """At least `count` of the variables take one of the values; each missing one costs `price`, if given."""
        self._count("at_least", scope, values, (True, False), count, price, name)

    @statement
    def exactly(
        self, scope: Sequence[str], values: Allowed, count: int, *, price: float | None = None, name: str | None = None
    ) -> None:
        """Exactly `count` of the variables take one of the values; each one more or less costs `price`, if given."""
        self._count("exactly", scope, values, (True, True), count, price, name)

    @statement
    def linear(
        self,
        terms: Mapping[str, float] | Sequence[str],
        relation: str,
        bound: float,
        *,
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """A sum of coefficients times values is ``"<="``, ``"=="`` or ``">="`` a bound.

        Parameters
        ----------
        terms
            Coefficients by variable, or variables with a coefficient of 1; their labels are numbers. Sums are exact
            as decimals: 0.1 + 0.2 is 0.3.
        relation, bound
            What the sum has to be.
        price
            What it costs for each 1 by which it is not; None forbids that.
        name
            What the constraint is called.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["apples", "pears"], range(5))
        >>> model.linear({"apples": 2, "pears": 3}, "<=", 8)
        """
        names = listed(terms)
        weights = {variable: terms[variable] if isinstance(terms, Mapping) else 1 for variable in names}
        indices = self._scope(names)
        if relation not in ("<=", "≤", ">=", "≥", "==", "="):
            raise ProblemError(f"a linear sum is <=, == or >= its bound, not {relation!r}")
        limit = exact(bound, "the bound of a linear sum")
        coefficients = [exact(weights[variable], f"the coefficient of {variable!r}") for variable in names]
        values = [
            exact_numbers(self._labels[index], f"for a linear sum each value of {variable!r}")
            for variable, index in zip(names, indices, strict=True)
        ]
        whole, denominator = whole_terms(coefficients, values)
        sides = relation not in ("<=", "≤"), relation not in (">=", "≥")
        self._sum("linear", indices, whole, sides, limit * denominator, price, name, denominator)

    @statement
    def implies(
        self,
        condition: Mapping[str, Allowed],
        consequence: Mapping[str, Allowed],
        *,
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """If every variable of the condition takes its value, or one of its values, so does each of the consequence.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["talk", "panel"], ["red room", "blue room"])
        >>> model.implies({"talk": "red room"}, {"panel": "blue room"})
        """
        if not isinstance(condition, Mapping) or not isinstance(consequence, Mapping):
            raise ProblemError("an implication has values by variable on both sides: implies({...}, {...})")
        indices = self._scope(list(dict.fromkeys([*condition, *consequence])))
        step = len(consequence) + 1
        terms = [np.zeros(len(self._labels[i]), dtype=np.int64) for i in indices]
        place = {index: position for position, index in enumerate(indices)}
        for variable, allowed in condition.items():
            index = self._one(variable)
            terms[place[index]] += step * self._among(index, self._values([index], allowed))
        for variable, allowed in consequence.items():
            index = self._one(variable)
            terms[place[index]] += 1 - self._among(index, self._values([index], allowed))
        judge = Judge(None, Fraction(step * len(condition)), price_of(price))
        self._judged(indices, terms, judge, self._statement("implies", name), "implies")

    @statement
    def element(
        self,
        index: str,
        array: Sequence[str | Label],
        value: str,
        *,
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """The variable `value` has the label of ``array[index]``: of a variable, or a label itself.

        Parameters
        ----------
        index
            A variable whose labels are places of the array, from 0; at other places it does not hold.
        array
            Names of variables, or labels; what is the name of a variable is that variable.
        value
            A variable.
        price
            What it costs where it does not hold; None forbids that.
        name
            What the constraint is called.

        Examples
        --------
        >>> model = Model()
        >>> model.add_variable("machine", 3)
        'machine'
        >>> model.add_variable("hours", [2, 5, 9])
        'hours'
        >>> model.element("machine", [9, 2, 5], "hours")
        """
        chooser, target = self._one(index), self._one(value)
        bad, name = self._price(price), self._statement("element", name)
        if not isinstance(array, Iterable):
            raise ProblemError(f"the array of an element is a list of variables or labels, not {array!r}")
        entries = list(array)
        chosen = [_place(label, index) for label in self._labels[chooser]]
        variables = {j: self._names[entry] for j, entry in enumerate(entries) if self._is_variable(entry)}
        typos = [e for j, e in enumerate(entries) if isinstance(e, str) and j not in variables]
        if typos and (odd := [entry for entry in typos if entry not in self._labels[target]]):
            raise ProblemError(f"{odd[0]!r} of an array is neither a variable nor a value of {value!r}")
        wrong = np.zeros((len(chosen), len(self._labels[target])), dtype=np.bool_)
        for row, j in enumerate(chosen):
            if j not in variables:
                same = [0 <= j < len(entries) and entries[j] == label for label in self._labels[target]]
                wrong[row] = ~np.array(same)
        self._on((chooser, target), wrong, bad, name)
        for row, j in enumerate(chosen):
            if j in variables and variables[j] != target:
                ours, theirs = _identities([self._labels[variables[j]], self._labels[target]])
                cells = len(chosen) * len(ours) * len(theirs)
                self._check_cells(cells * len(variables), f"element over {len(variables):,} variables")
                wrong = np.zeros((len(chosen), len(ours), len(theirs)), dtype=np.bool_)
                wrong[row] = ours[:, None] != theirs[None, :]
                self._on((chooser, variables[j], target), wrong, bad, name)

    # ---- factors and auxiliary variables ---------------------------------------------------------

    def _on(self, indices: tuple[int, ...], wrong: NDArray[np.bool_], bad: float, name: str) -> None:
        """Add a table with the price where `wrong` is true; axes of one variable become their diagonal."""
        distinct = tuple(dict.fromkeys(indices))
        letters = [distinct.index(index) for index in indices]
        table = np.einsum(wrong, letters, list(range(len(distinct))))
        if table.any():
            self._add(distinct, np.where(table, bad, 0.0), name)

    def _count(
        self,
        kind: str,
        scope: Sequence[str],
        values: Allowed,
        sides: tuple[bool, bool],
        count: int,
        price: float | None,
        name: str | None,
    ) -> None:
        indices = self._scope(scope)
        wanted = self._values(indices, values)
        terms = [self._among(index, wanted) for index in indices]
        self._sum(kind, indices, terms, sides, exact(count, f"the count of {kind}"), price, name)

    def _sum(
        self,
        kind: str,
        indices: tuple[int, ...],
        terms: Sequence[Indices],
        sides: tuple[bool, bool],
        bound: Fraction,
        price: float | None,
        name: str | None,
        denominator: int = 1,
    ) -> None:
        """A sum of terms bounded from below, from above, or both, as `sides` say."""
        cost = price_of(price)
        low, high = (bound if side else None for side in sides)
        judge = Judge(low, high, math.inf, None if cost == math.inf else cost, denominator)
        self._judged(indices, terms, judge, self._statement(kind, name), kind)

    def _values(self, indices: Sequence[int], values: Allowed) -> list[Label]:
        """The given label or labels as a list; each of them is a label of some variable."""
        rows = [places_of(self._labels[index]) for index in indices]
        if any(place_of(values) is not None for place_of in rows):
            return [values]  # type: ignore[list-item]
        several = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
        for label in several:
            if indices and all(place_of(label) is None for place_of in rows):
                names = list(self._names)
                raise ProblemError(f"none of {[names[i] for i in indices[:8]]} has a value {label!r}")
        return several

    def _among(self, index: int, values: Iterable[Label]) -> Indices:
        """1 for each value of a variable that is one of these labels, else 0."""
        result, place_of = np.zeros(len(self._labels[index]), dtype=np.int64), places_of(self._labels[index])
        for label in values:
            if (place := place_of(label)) is not None:
                result[place] = 1
        return result

    def _is_variable(self, name: object) -> TypeGuard[str]:
        return isinstance(name, str) and name in self._names

    def _one(self, name: str) -> int:
        """The number of one variable."""
        if not self._is_variable(name):
            raise ProblemError(f"there is no variable {name!r}; add it first")
        return self._names[name]

    def _scope(self, scope: str | Sequence[str]) -> tuple[int, ...]:
        """The numbers of different variables."""
        names = listed(scope)
        indices = tuple(map(self._one, names))
        if len(set(names)) != len(names):
            raise ProblemError(f"a cost function names a variable twice: {names}")
        return indices

    def _price(self, price: float | None) -> float:
        """What a violation adds to the total: the price, or forbidden, in the direction of the model."""
        return -price_of(price) if self.maximize else price_of(price)

    def _check_cells(self, cells: int, what: str) -> None:
        if cells > self.max_cells:
            raise ProblemError(f"{what} needs tables of {cells:,} cells, more than {self.max_cells:,} (max_cells)")

    def _statement(self, kind: str, name: str | None) -> str:
        """The name of a statement: as given, or its kind and a number."""
        if name is None:
            numbered = (f"{kind}{number}" for number in itertools.count(1))
            name = next(each for each in numbered if each not in self._given)
        self._given.add(text_of(name))
        return name

    # ---- factors -------------------------------------------------------------------------------

    def _add(
        self, indices: Sequence[int], table: NDArray[np.float64], name: str | None, *, defines: bool = False
    ) -> None:
        scope = np.array(indices, dtype=np.int64).reshape(1, -1)
        names = [f"f{self._num_factors}" if name is None else text_of(name)]
        if name is not None:
            self._given.add(name)
        self._append(Block(scope, table.reshape(1, -1), np.zeros(1, dtype=np.int64), names, defines))

    def _add_many(self, scopes: Indices, table: NDArray[np.float64], name: str) -> None:
        shared = np.zeros(len(scopes), dtype=np.int64)
        self._append(Block(scopes, table.reshape(1, -1), shared, [name] * len(scopes)))

    def _append(self, block: Block) -> None:
        self._blocks.append(block)
        self._num_factors += len(block.scopes)

    def _define(self, parents: Sequence[int], values: Indices, size: int, name: str) -> int:
        """A new auxiliary variable that has ``values[parents]``; its number."""
        self._auxiliary.append(size)
        number = -len(self._auxiliary)
        table = np.full((*values.shape, size), -np.inf if self.maximize else np.inf)
        np.put_along_axis(table, values[..., None], 0.0, axis=-1)
        self._add((*parents, number), table, name, defines=True)
        return number

    def _judged(self, indices: Sequence[int], terms: Sequence[Indices], judge: Judge, name: str, kind: str) -> None:
        """Add the cost of a sum with a term of each variable: one table, or a chain of them."""
        changing = [(term != term[0]).any() for term in terms]
        axes, parts = list(itertools.compress(indices, changing)), list(itertools.compress(terms, changing))
        fixed = sum(int(term[0]) for term, changes in zip(terms, changing, strict=True) if not changes)
        cells, what = math.prod(map(len, parts)), f"{kind} over {len(indices):,} variables"
        made, classes = None, list(map(_classes, parts))
        if cells > SMALL_CELLS and len(parts) > 2:
            kept = [term if own is None else own[1] for term, own in zip(parts, classes, strict=True)]
            kept[0] = kept[0] + fixed
            made = chain(kept, judge, self.max_cells, what)
        else:
            self._check_cells(cells, what)
        if made is None or cells <= made.cells:
            self._add_total(axes, parts, fixed, judge, name)
            return
        for place, own in enumerate(classes):
            if own is not None:
                axes[place] = self._define([axes[place]], own[0], len(own[1]), name)
        self._add_chain(axes, made, name)

    def _add_total(self, indices: Sequence[int], terms: Sequence[Indices], fixed: int, judge: Judge, name: str) -> None:
        """Add the whole table of a sum; without variables the cost of `fixed`."""
        total = np.array(fixed, dtype=np.int64)
        for term in terms:
            total = np.add.outer(total, term)
        costs = judge.costs(total)
        if (costs != 0).any():
            self._add(indices, 0.0 - costs if self.maximize else costs, name)

    def _add_chain(self, axes: Sequence[int], made: Chain, name: str) -> None:
        """Add auxiliary variables for the states of a chain, and its tables."""
        steps, costs = list(made.steps), made.costs
        first = steps[0][0]
        sizes = [int(step.max()) + 1 for step in steps]
        if len(steps) > 1 and len(first) * steps[1].shape[1] * sizes[1] <= sizes[0] * (
            len(first) + steps[1].shape[1] * sizes[1]
        ):
            steps[1], state = steps[1][first], axes[0]  # the first variable is the state after itself
        else:
            state = self._define([axes[0]], first, sizes[0], name)
        for axis, step, size in zip(axes[1:], steps[1:], sizes[1:], strict=False):
            state = self._define([state, axis], step, size, name)
        if (costs != 0).any():
            self._add((state, axes[-1]), 0.0 - costs if self.maximize else costs, name)


def _classes(term: Indices) -> tuple[Indices, Indices] | None:
    """The class of each value by its term and the term of each class; None if classes save too little."""
    different, which = np.unique(term, return_inverse=True)
    return (which, different) if WIDE_VALUES <= len(term) >= VALUES_PER_CLASS * len(different) else None


def _identities(rows: Sequence[tuple[Label, ...]]) -> list[Indices]:
    """A number for each label of each row, equal for equal labels."""
    known: dict[Label, int] = {}
    return [np.array([known.setdefault(label, len(known)) for label in row], dtype=np.int64) for row in rows]


def _place(label: Label, variable: str) -> int:
    if not isinstance(label, Real) or not math.isfinite(label) or int(label) != label:
        raise ProblemError(f"{variable!r} chooses a place of an array: its values are integers, not {label!r}")
    return int(label)


def listed(scope: Any) -> list[str]:
    """The names of a scope, which may be a single one."""
    if isinstance(scope, str):
        return [scope]
    if not isinstance(scope, Iterable):
        raise ProblemError(f"a scope is the name of a variable or a list of them, not {scope!r}")
    if isinstance(scope, set | frozenset) and len(scope) > 1:  # a table's axes would be in another order each time
        raise ProblemError(f"a scope is a list of variables; a set as {scope!r} has no order")
    return list(scope)


def text_of(name: object) -> str:
    """The name of a cost function, which is text."""
    if not isinstance(name, str):
        raise ProblemError(f"the name of a cost function is text, not {name!r}")
    return name


def price_of(price: float | None) -> float:
    """The price of a violation, a number of at least 0; infinity, which forbids it, for None."""
    value = math.inf if price is None else as_float(price, "a price")
    if not value >= 0:
        raise ProblemError(f"a price is a number of at least 0, not {price!r}")
    return value

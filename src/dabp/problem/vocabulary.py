"""What models state beyond tables: all different, counts, linear sums, elements, implications.

Each statement becomes tables if they are small, and otherwise a chain of tables through auxiliary variables
(`dabp.problem.globals`), which answers leave out. All factors of a statement have its name: they are one constraint.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, ParamSpec, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import KeywordError, ProblemError, named_keywords
from dabp.problem.blocks import Block, Blocks, Building
from dabp.problem.columns import Indices
from dabp.problem.conversion import as_float
from dabp.problem.data import places_of
from dabp.problem.globals.all_different import AllDifferent
from dabp.problem.globals.base import GlobalFunction, Posted, Symbols
from dabp.problem.globals.linear import Linear
from dabp.problem.sums import exact, exact_numbers, whole_terms
from dabp.problem.views import Label

P = ParamSpec("P")
R = TypeVar("R")

Allowed = Label | Iterable[Label]
"""One label, or several of which any will do."""


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
        self._blocks = Blocks()
        self._posted: list[Posted] = []
        self._given: set[str] = set()
        """Names of factors that were given."""

    @statement
    def all_different(
        self,
        scope: Sequence[str],
        *,
        excepted: Allowed = (),
        measure: str = "pairs",
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """No two of the variables have equal labels, except those of `excepted`.

        With a price, labels that occur c times cost it c (c − 1)/2 times each, a pair with equal labels each (`measure`
        ``"pairs"``), c − 1 times (``"variables"``, how many have to change), (c − 1)² times (``"squares"``) or once
        (``"values"``).

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["ann", "bob", "eve"], ["mon", "tue", "wed"])
        >>> model.all_different(names)
        """
        indices = self._scope(scope)
        symbols, symbol_of = self._symbols(indices)
        free = tuple(symbol_of(label) for label in self._values(indices, excepted))
        self._post("all_different", AllDifferent(free, price=price_of(price), measure=measure), indices, symbols, name)

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
        measure: str = "amount",
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """A sum of coefficients times values is ``"<="``, ``"=="``, ``">="`` or ``"!="`` a bound.

        Parameters
        ----------
        terms
            Coefficients by variable, or variables with a coefficient of 1; their labels are numbers. Sums are exact
            as decimals: 0.1 + 0.2 is 0.3.
        relation, bound
            What the sum has to be.
        measure, price
            What it costs for each 1 by which it is not (``"amount"``), for the square of that (``"square"``), or
            however far it is off (``"once"``); a price of None forbids that.
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
        if relation not in ("<=", "≤", ">=", "≥", "==", "=", "!="):
            raise ProblemError(f"a linear sum is <=, ==, != or >= its bound, not {relation!r}")
        limit = exact(bound, "the bound of a linear sum")
        coefficients = [exact(weights[variable], f"the coefficient of {variable!r}") for variable in names]
        values = [
            exact_numbers(self._labels[index], f"for a linear sum each value of {variable!r}")
            for variable, index in zip(names, indices, strict=True)
        ]
        whole, denominator = whole_terms(coefficients, values)
        low, high = limit if relation[0] not in "<≤" else None, limit if relation[0] not in ">≥" else None
        function = Linear(low, high, denominator, relation == "!=", price=price_of(price), measure=measure)
        self._post("linear", function, indices, whole, name)

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
        function = Linear(None, Fraction(step * len(condition)), price=price_of(price), measure="once")
        self._post("implies", function, indices, terms, name)

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
        wanted, number = self._values(indices, values), exact(count, f"the count of {kind}")
        terms = [self._among(index, wanted) for index in indices]
        low, high = (number if side else None for side in sides)
        self._post(kind, Linear(low, high, price=price_of(price)), indices, terms, name)

    def _post(
        self, kind: str, function: GlobalFunction, indices: Sequence[int], symbols: Symbols, name: str | None
    ) -> None:
        """Add what a global function is decomposed into, and remember it."""
        first, name = self._blocks.num_factors, self._statement(kind, name)
        function.decompose(self._building(name), indices, symbols)
        factors = tuple(range(first, self._blocks.num_factors))
        self._posted.append(Posted(function, tuple(indices), tuple(symbols), factors, name))

    def _building(self, name: str) -> Building:
        return Building(self._blocks, name, self.max_cells, self.maximize)

    def _symbols(self, indices: Sequence[int]) -> tuple[list[Indices], Callable[[Label], int]]:
        """A number for each label of each variable, equal for equal labels, and a function from labels to them."""
        known: dict[Label, int] = {}
        rows: dict[int, Indices] = {}
        symbols = []
        for index in indices:
            labels = self._labels[index]
            if id(labels) not in rows:
                rows[id(labels)] = np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)
            symbols.append(rows[id(labels)])
        return symbols, lambda label: known.setdefault(label, len(known))

    def _values(self, indices: Sequence[int], values: Allowed) -> list[Label]:
        """The given label or labels as a list; each of them is a label of some variable, if there are any."""
        if not indices:
            return []
        rows = [places_of(self._labels[index]) for index in indices]
        if any(place_of(values) is not None for place_of in rows):
            return [values]  # type: ignore[list-item]
        several = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
        for label in several:
            if all(place_of(label) is None for place_of in rows):
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

    def _add(self, indices: Sequence[int], table: NDArray[np.float64], name: str | None) -> None:
        scope = np.array(indices, dtype=np.int64).reshape(1, -1)
        names = [f"f{self._blocks.num_factors}" if name is None else text_of(name)]
        if name is not None:
            self._given.add(name)
        self._blocks.append(Block(scope, table.reshape(1, -1), np.zeros(1, dtype=np.int64), names))


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

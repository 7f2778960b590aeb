"""What models say beyond tables: all different, counts, linear sums, elements, implications.

Each statement becomes tables, or tables through auxiliary variables (`dabp.problem.sums`), which answers leave out.
All factors of a statement have its name: they are one constraint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.columns import Indices
from dabp.problem.data import places_of
from dabp.problem.statements import Statements, listed, penalty_of
from dabp.problem.sums import Judge, exact, exact_numbers, whole_terms
from dabp.problem.views import Label

RELATIONS = {"<=": (False, True), "≤": (False, True), ">=": (True, False), "≥": (True, False)}
RELATIONS |= {"==": (True, True), "=": (True, True)}
"""Whether a relation bounds a sum from below and from above."""

Allowed = Label | Iterable[Label]
"""One label, or several of which any will do."""


class Vocabulary(Statements):
    """The statements of `Model`; `Statements` makes tables and auxiliary variables of them."""

    def all_different(self, scope: Sequence[str], *, penalty: float | None = None, name: str | None = None) -> None:
        """No two of the variables have equal labels; with a penalty, each pair that has costs so much.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["ann", "bob", "eve"], ["mon", "tue", "wed"])
        >>> model.all_different(names)
        """
        indices = np.array(self._scope(scope), dtype=np.int64)
        bad, name = self._penalty(penalty), self._statement("all_different", name)
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

    def at_most(
        self, scope: Sequence[str], values: Allowed, count: int, *, price: float | None = None, name: str | None = None
    ) -> None:
        """At most `count` of the variables take the value, or one of the values; each more costs `price`, if given.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["mon", "tue", "wed"], ["day", "night", "off"])
        >>> model.at_most(names, "night", 1)
        """
        self._count("at_most", scope, values, (False, True), count, price, name)

    def at_least(
        self, scope: Sequence[str], values: Allowed, count: int, *, price: float | None = None, name: str | None = None
    ) -> None:
        """At least `count` of the variables take the value, or one of the values; each less costs `price`, if given."""
        self._count("at_least", scope, values, (True, False), count, price, name)

    def exactly(
        self, scope: Sequence[str], values: Allowed, count: int, *, price: float | None = None, name: str | None = None
    ) -> None:
        """Exactly `count` of the variables take the value, or one of them; each more or less costs `price`, if any."""
        self._count("exactly", scope, values, (True, True), count, price, name)

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
        if relation not in RELATIONS:
            raise ProblemError(f"a linear sum is <=, == or >= its bound, not {relation!r}")
        limit = exact(bound, "the bound of a linear sum")
        coefficients = [exact(weights[variable], f"the coefficient of {variable!r}") for variable in names]
        values = [
            exact_numbers(self._labels[index], f"for a linear sum each value of {variable!r}")
            for variable, index in zip(names, indices, strict=True)
        ]
        whole, denominator = whole_terms(coefficients, values)
        self._sum("linear", indices, whole, RELATIONS[relation], limit * denominator, price, name, denominator)

    def implies(
        self,
        condition: Mapping[str, Allowed],
        consequence: Mapping[str, Allowed],
        *,
        penalty: float | None = None,
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
            index = self._scope(variable)[0]
            terms[place[index]] += step * self._among(index, self._values([index], allowed))
        for variable, allowed in consequence.items():
            index = self._scope(variable)[0]
            terms[place[index]] += 1 - self._among(index, self._values([index], allowed))
        judge = Judge(None, Fraction(step * len(condition)), penalty_of(penalty))
        self._judged(indices, terms, judge, self._statement("implies", name), "implies")

    def element(
        self,
        index: str,
        array: Sequence[str | Label],
        value: str,
        *,
        penalty: float | None = None,
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
        penalty
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
        chooser, target = self._scope(index)[0], self._scope(value)[0]
        bad, name = self._penalty(penalty), self._statement("element", name)
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

    # ---- inside --------------------------------------------------------------------------------

    def _on(self, indices: tuple[int, ...], wrong: NDArray[np.bool_], bad: float, name: str) -> None:
        """Add a table of what is wrong; of an axis that repeats a variable the diagonal is left."""
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
        indices = self._scope(listed(scope))
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
        """A sum of terms bounded on one side or both."""
        price = None if price is None or price == math.inf else penalty_of(price, "a price")
        low, high = (bound if side else None for side in sides)
        self._judged(indices, terms, Judge(low, high, math.inf, price, denominator), self._statement(kind, name), kind)

    def _values(self, indices: Sequence[int], values: Allowed) -> list[Label]:
        """The labels that are meant, each of which some variable has."""
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


def _identities(rows: Sequence[tuple[Label, ...]]) -> list[Indices]:
    """A number for each label of each row, equal for equal labels."""
    known: dict[Label, int] = {}
    return [np.array([known.setdefault(label, len(known)) for label in row], dtype=np.int64) for row in rows]


def _place(label: Label, variable: str) -> int:
    if isinstance(label, str) or label != label or math.isinf(label) or int(label) != label:
        raise ProblemError(f"{variable!r} chooses a place of an array: its values are integers, not {label!r}")
    return int(label)

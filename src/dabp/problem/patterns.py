"""More statements of models: patterns of values, cardinalities, permutations, maxima and tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dabp.errors import ProblemError
from dabp.problem.conversion import as_float
from dabp.problem.globals import AllDifferent, Bound, Cardinality, Disjunctive, Linear, Regular, Same
from dabp.problem.globals.max_of import MaxOf, ranked
from dabp.problem.sums import exact, exact_numbers
from dabp.problem.validation import EXACT
from dabp.problem.views import Label
from dabp.problem.vocabulary import Allowed, Vocabulary, listed, price_of, statement

State = Any
"""What an automaton's state is called: anything that can be a key."""


class Patterns(Vocabulary):
    """Statements about many variables that are more than a count or a sum."""

    @statement
    def regular(
        self,
        scope: Sequence[str],
        transitions: Mapping[tuple[State, Label], State] | Iterable[tuple[State, Label, State]],
        start: State,
        accepting: Iterable[State],
        *,
        measure: str = "changes",
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """The labels of the variables, in order, take an automaton from its start to an accepting state.

        Parameters
        ----------
        scope
            The variables, in order.
        transitions
            The next state by state and label; a list of (state, label, next state) may have several next states.
        start, accepting
            A state, and a list of states.
        measure, price
            What it costs for each variable that has to change (``"changes"``), for each change, insertion or omission
            of a label (``"edits"``), or once (``"once"``); a price of None forbids it.
        name
            What the constraint is called.

        Examples
        --------
        No two nights in a row:

        >>> model = Model()
        >>> days = model.add_variables(["mon", "tue", "wed"], ["off", "night"])
        >>> rest = {("home", "off"): "home", ("home", "night"): "tired", ("tired", "off"): "home"}
        >>> model.regular(days, rest, "home", ["home", "tired"])
        """
        indices = self._scope(scope)
        symbols, symbol_of = self._symbols(indices)
        if isinstance(transitions, Mapping):
            transitions = [(*key, after) for key, after in transitions.items()]
        moves = []
        try:
            number: dict[State, int] = {start: 0}
            for state, label, after in transitions:
                self._values(indices, [label])
                ends = [number.setdefault(one, len(number)) for one in (state, after)]
                moves.append((ends[0], symbol_of(label), ends[1], 0.0))
            final = tuple((number.setdefault(state, len(number)), 0.0) for state in accepting)
        except (TypeError, ValueError):
            raise ProblemError("transitions are {(state, label): state}, accepting is a list of states") from None
        kind = "once" if price is None else measure
        function = Regular(len(number), ((0, 0.0),), final, tuple(moves), price=price_of(price), measure=kind)
        self._post("regular", function, indices, symbols, name)

    @statement
    def gcc(
        self,
        scope: Sequence[str],
        occurrences: Mapping[Label, int | tuple[int, int]],
        *,
        measure: str = "amount",
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """Each label occurs a number of times, or from a least to a most; others as often as they like.

        With a price, each occurrence too few or too many costs it (`measure` ``"amount"``), each variable that has to
        change (``"variables"``), the square of each label's difference (``"square"``), or each label (``"once"``).

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["ann", "bob", "eve"], ["day", "night", "off"])
        >>> model.gcc(names, {"night": 1, "day": (1, 2)})
        """
        indices = self._scope(scope)
        symbols, symbol_of = self._symbols(indices)
        if not isinstance(occurrences, Mapping):
            raise ProblemError("gcc takes a number, or a least and a most, by label: {'night': 1, 'day': (1, 2)}")
        bounds = []
        for label, given in occurrences.items():
            self._values(indices, [label])
            low, high = given if isinstance(given, tuple | list) and len(given) == 2 else (given, given)
            whole = [exact(one, f"the number of times {label!r} occurs") for one in (low, high)]
            if any(one.denominator != 1 for one in whole) or whole[0] > whole[1]:
                raise ProblemError(f"{label!r} occurs a whole number of times, from a least to a most, not {given!r}")
            if whole[0] > EXACT or whole[1] < -EXACT:
                raise ProblemError(f"{label!r} occurs less than 2^53 times, not {given!r}")
            least, most = max(int(whole[0]), -int(EXACT)), min(int(whole[1]), int(EXACT))  # no count is beyond these
            bounds.append(Bound(symbol_of(label), least, most))
        function = Cardinality(tuple(bounds), price=price_of(price), measure=measure)
        self._post("gcc", function, indices, symbols, name)

    @statement
    def among(
        self,
        scope: Sequence[str],
        values: Allowed,
        least: int = 0,
        most: int | None = None,
        *,
        measure: str = "amount",
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """From `least` to `most` of the variables take one of the values; each one off costs `price`, if given."""
        indices = self._scope(scope)
        wanted, most = self._values(indices, values), len(indices) if most is None else most
        low, high = exact(least, "the least count of among"), exact(most, "the most of among")
        function = Linear(low, high, price=price_of(price), measure=measure)
        self._post("among", function, indices, [self._among(index, wanted) for index in indices], name)

    @statement
    def same(
        self,
        first: Sequence[str],
        second: Sequence[str],
        *,
        measure: str = "variables",
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """Two equally long lists of variables have the same labels, in any order.

        With a price, each variable that has to change costs it (`measure` ``"variables"``), or for each label the
        difference of its counts (``"amount"``), the square of that (``"square"``) or 1 (``"once"``).
        """
        left, right = listed(first), listed(second)
        if len(left) != len(right):
            raise ProblemError(f"same takes two lists of equally many variables, not {len(left)} and {len(right)}")
        indices = self._scope([*left, *right])
        function = Same(len(left), price=price_of(price), measure=measure)
        self._post("same", function, indices, self._symbols(indices)[0], name)

    @statement
    def max_of(
        self, costs: Mapping[str, Mapping[Label, float]], *, price: float = 1.0, name: str | None = None
    ) -> None:
        """The largest cost that any of the variables' labels has, at least 0, makes the total worse, times `price`.

        Examples
        --------
        The longest of the chosen durations:

        >>> model = Model()
        >>> names = model.add_variables(["first", "second"], ["slow", "fast"])
        >>> model.max_of({name: {"slow": 5, "fast": 2} for name in names})
        """
        if not isinstance(costs, Mapping) or not all(isinstance(row, Mapping) for row in costs.values()):
            raise ProblemError("max_of takes costs by variable and label: {'first': {'slow': 5, 'fast': 2}}")
        indices = self._scope(list(costs))
        rows = [self._weights(index, row, "max_of") for index, row in zip(indices, costs.values(), strict=True)]
        if not math.isfinite(price_of(price)):
            raise ProblemError("the price of max_of is a finite number")
        different, symbols = ranked(rows)
        self._post("max_of", MaxOf(different, price=price_of(price)), indices, symbols, name)

    def _weights(self, index: int, row: Mapping[Label, float], what: str) -> Any:
        """A number for each value of a variable, 0 for labels that are not named."""
        weights = np.zeros(len(self._labels[index]))
        for label, weight in row.items():
            self._values([index], [label])
            one = as_float(weight, f"the weight of {label!r} in {what}")
            if math.isnan(one):
                raise ProblemError(f"the weight of {label!r} in {what} is a number, not nan")
            weights[self._among(index, [label]) > 0] = one
        return weights

    @statement
    def knapsack(
        self,
        weights: Mapping[str, float | Mapping[Label, float]],
        capacity: float,
        *,
        measure: str = "amount",
        price: float | None = None,
        name: str | None = None,
    ) -> None:
        """Weights add up to at most the capacity: a weight times the variable's value, or a weight by label.

        With a price, each 1 of overload costs it (`measure` ``"amount"``), or its square (``"square"``), or any at all
        (``"once"``).

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["tent", "stove"], [0, 1])
        >>> size = model.add_variable("bag", ["small", "large"])
        >>> model.knapsack({"tent": 3, "stove": 2, "bag": {"large": 1}}, 4)
        """
        if not isinstance(weights, Mapping):
            raise ProblemError("knapsack takes weights by variable: {'tent': 3, 'bag': {'large': 1}}")
        indices = self._scope(list(weights))
        rows: list[list[Fraction]] = []
        for index, (variable, given) in zip(indices, weights.items(), strict=True):
            if isinstance(given, Mapping):
                rows.append([exact(one, "a weight") for one in self._weights(index, given, "knapsack").tolist()])
            else:
                whole, unit = exact_numbers(self._labels[index], f"for a knapsack each value of {variable!r}")
                rows.append([exact(given, f"the weight of {variable!r}") * one / unit for one in whole])
        unit = math.lcm(*(one.denominator for row in rows for one in row))
        if sum(max((abs(one) for one in row), default=0) for row in rows) * unit > 2**61:
            raise ProblemError("the weights of a knapsack are too large, or have too many decimals, to be added up")
        symbols = [np.array([int(one * unit) for one in row], dtype=np.int64) for row in rows]
        limit = exact(capacity, "the capacity of a knapsack")
        function = Linear(None, limit, unit, price=price_of(price), measure=measure)
        self._post("knapsack", function, indices, symbols, name)

    @statement
    def clique(self, choices: Mapping[str, Allowed], *, price: float | None = None, name: str | None = None) -> None:
        """At most one of the variables takes its value, or one of its values; each two that do cost `price`."""
        if not isinstance(choices, Mapping):
            raise ProblemError("clique takes a value, or several, by variable: {'talk': 'red room'}")
        indices = self._scope(list(choices))
        pairs = zip(indices, choices.values(), strict=True)
        symbols = [self._among(index, self._values([index], allowed)) for index, allowed in pairs]
        self._post("clique", AllDifferent((0,), price=price_of(price)), indices, symbols, name)

    @statement
    def disjunctive(
        self, durations: Mapping[str, float], *, price: float | None = None, name: str | None = None
    ) -> None:
        """Tasks whose starts are the variables' values do not overlap; each two that do cost `price`, if given.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["cut", "glue"], range(8))
        >>> model.disjunctive({"cut": 3, "glue": 5})
        """
        if not isinstance(durations, Mapping):
            raise ProblemError("disjunctive takes durations by variable: {'cut': 3, 'glue': 5}")
        indices = self._scope(list(durations))
        lengths = exact_numbers(list(durations.values()), "a duration")
        starts = [exact_numbers(self._labels[index], "the start of a task") for index in indices]
        unit = math.lcm(lengths.denominator, *(own.denominator for own in starts))
        if min(lengths.integers, default=0) < 0:
            raise ProblemError("a duration is a number of at least 0")
        largest = max((abs(one) * unit for own in (lengths, *starts) for one in own.integers), default=0)
        if largest > 2**61:
            raise ProblemError("the starts and durations of tasks are too large, or have too many decimals")
        symbols = [np.array(own.integers, dtype=np.int64) * (unit // own.denominator) for own in starts]
        scaled = tuple(length * (unit // lengths.denominator) for length in lengths.integers)
        self._post("disjunctive", Disjunctive(scaled, price=price_of(price)), indices, symbols, name)

"""Model: the builder people write problems with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.blocks import Block
from dabp.problem.columns import different_rows, offsets_of
from dabp.problem.conversion import as_float, as_integers
from dabp.problem.data import cell_of, cost_table, places_of, positional
from dabp.problem.patterns import Patterns
from dabp.problem.validation import EXACT, MOST_VALUES
from dabp.problem.views import Label
from dabp.problem.vocabulary import listed, statement


class Model(Patterns):
    """Builds a `Problem` from named variables, labelled values, cost functions and statements.

    Parameters
    ----------
    name
        What the problem is called.
    maximize
        Whether the largest total is wanted.
    max_cells
        Costs or statements that need tables of more cells are refused; a table counts as often as it is used.

    Examples
    --------
    >>> model = Model("two rooms")
    >>> model.add_variable("talk", ["red", "blue"])
    'talk'
    >>> model.add_variable("panel", ["red", "blue"])
    'panel'
    >>> model.add_cost(["talk"], {"red": 2, "blue": 0}.get)
    >>> model.forbid(["talk", "panel"], lambda talk, panel: talk == panel)
    >>> model.build().cost([1, 0])
    0.0
    """

    @statement
    def __init__(self, name: str = "model", *, maximize: bool = False, max_cells: int = 2**26):
        super().__init__()
        if not as_float(max_cells, "max_cells") > 0:
            raise ProblemError(f"max_cells is a number above 0, not {max_cells!r}")
        self.name, self.maximize, self.max_cells = name, maximize, max_cells
        self._constant = 0.0

    @statement
    def add_variable(self, name: str, values: int | Iterable[Label]) -> str:
        """Add a variable with a number of values, or with these value labels, and return its name."""
        return self._named(name, _labels(name, values))

    @statement
    def add_variables(self, names: Iterable[str], values: int | Iterable[Label]) -> list[str]:
        """Add several variables with the same values, and return their names."""
        each = list(names)
        labels = _labels(each[0], values) if each else ()  # one tuple for all of them
        return [self._named(name, labels) for name in each]

    def _named(self, name: str, labels: tuple[Label, ...]) -> str:
        """Add a variable with checked labels."""
        if not isinstance(name, str):
            raise ProblemError(f"the name of a variable is text, not {name!r}")
        if name in self._names:
            raise ProblemError(f"there is already a variable {name!r}")
        self._names[name] = len(self._labels)
        self._labels.append(labels)
        return name

    @statement
    def add_cost(
        self, scope: str | Sequence[str], cost: Any, name: str | None = None, *, default: float | None = None
    ) -> None:
        """Add a cost function over named variables.

        Infinity forbids a combination (−infinity when maximising).

        Parameters
        ----------
        scope
            A variable, or several.
        cost
            A function of their value labels, called once for each combination; a dictionary by label (of several
            variables by tuples of labels, or dictionaries of dictionaries); a pandas Series or DataFrame with labels
            as index and columns; or an array or nested list by position, with an axis per variable.
        name
            What the cost function is called.
        default
            What combinations cost that a dictionary or Series leaves out; these are refused otherwise.

        Examples
        --------
        >>> model = Model()
        >>> names = model.add_variables(["talk", "panel"], ["red", "blue"])
        >>> model.add_cost("talk", {"red": 2, "blue": 0})
        >>> model.add_cost(names, {("red", "red"): 5}, default=0)
        >>> model.build().cost({"talk": "red", "panel": "red"})
        7.0
        """
        names = listed(scope)
        indices = self._scope(names)
        if callable(cost):
            table = self._evaluated(indices, cost)
        else:
            self._check_cells(math.prod(self._sizes(indices)), f"a cost over {len(names):,} variables")
            table = cost_table(cost, names, [self._labels[i] for i in indices], default)
        if np.isnan(table).any():
            raise ProblemError(f"a cost over {self._shown(indices)} is not a number")
        self._add(indices, table, name)

    @statement
    def add_costs(self, scopes: ArrayLike, tables: ArrayLike, index: ArrayLike | None = None) -> None:
        """Add many cost functions of one shape at once.

        Parameters
        ----------
        scopes
            Their variables, [n, k], by name or by the number in which they were added.
        tables
            One table [D…] for all, or one for each [n, D…]; with `index`, a few tables [U, D…].
        index
            Which of the tables each function has, [n]. Equal tables are stored once in any case.

        Examples
        --------
        >>> model = Model("chain")
        >>> names = model.add_variables((f"x{i}" for i in range(4)), 2)
        >>> model.add_costs([[0, 1], [1, 2], [2, 3]], [[0, 1], [1, 0]])
        >>> model.build().cost([0, 0, 1, 1])
        1.0
        """
        numbers = self._numbers(scopes)
        shapes = np.array([len(row) for row in self._labels], dtype=np.int64)[numbers]
        if len(numbers) and (shapes != shapes[0]).any():
            raise ProblemError("add_costs takes functions of one shape: their variables need equally many values")
        shape = tuple(shapes[0].tolist()) if len(numbers) else ()
        plain = isinstance(tables, np.ndarray) and tables.dtype == np.float64
        costs: NDArray[np.float64] = tables if plain else positional(tables, "the tables of add_costs")  # type: ignore[assignment]
        if index is not None:
            chosen = as_integers(index, "index: the numbers of tables")
            if chosen.shape != (len(numbers),) or (len(chosen) and not 0 <= chosen.min() <= chosen.max() < len(costs)):
                raise ProblemError(f"index names one of {len(costs)} tables for each of {len(numbers)} functions")
        elif costs.shape == shape:
            costs, chosen = costs[None], np.zeros(len(numbers), dtype=np.int64)
        else:
            chosen = np.arange(len(numbers))
        if costs.shape[1:] != shape or (index is None and len(costs) not in (1, len(numbers))):
            wanted = "×".join(map(str, shape))
            raise ProblemError(f"{len(numbers)} functions need tables of {wanted} costs, not of shape {costs.shape}")
        first, same = different_rows(costs.reshape(len(costs), -1))
        different = costs.reshape(len(costs), -1)[first]
        if np.isnan(different).any():
            raise ProblemError("a cost is not a number")
        self._blocks.append(Block(numbers, different, same[chosen], []))

    @statement
    def forbid(
        self,
        scope: str | Sequence[str],
        when: Callable[..., bool] | Iterable[Any],
        name: str | None = None,
        *,
        price: float | None = None,
    ) -> None:
        """Forbid combinations: those for which the function of labels is true, or a list of label tuples.

        With a price they are allowed, and make the total worse by `price`.
        """
        indices = self._scope(scope)
        self._add(indices, np.where(self._chosen(indices, when), self._price(price), 0.0), name)

    @statement
    def allow(
        self,
        scope: str | Sequence[str],
        when: Callable[..., bool] | Iterable[Any],
        name: str | None = None,
        *,
        price: float | None = None,
    ) -> None:
        """Forbid all combinations but those for which the function is true, or that are in the list of label tuples.

        With a price the others are allowed, and make the total worse by `price`.
        """
        indices = self._scope(scope)
        self._add(indices, np.where(self._chosen(indices, when), 0.0, self._price(price)), name)

    @statement
    def add_constant(self, cost: float) -> None:
        """Add a constant to every cost."""
        constant = self._constant + as_float(cost, "a constant")
        if not abs(constant) < EXACT:
            raise ProblemError(f"constants add up to less than 2^53 in size, so that sums are exact, not {constant:g}")
        self._constant = constant

    def build(self) -> Problem:
        """The finished problem; the model can be extended and built again."""
        blocks = self._blocks
        pool, pool_offsets, factor_table = blocks.tables()
        plain = all(row == tuple(range(len(row))) and type(row[0]) is int for row in self._labels)
        return Problem(
            [*(len(row) for row in self._labels), *blocks.auxiliary],
            blocks.scopes(len(self._labels)),
            offsets_of(blocks.arities),
            pool,
            pool_offsets,
            factor_table,
            constant=self._constant,
            maximize=self.maximize,
            variable_names=[*self._names, *self._auxiliary_names()],
            factor_names=self._factor_names(),
            labels=None if plain else [*self._labels, *([None] * len(blocks.auxiliary))],
            name=self.name,
            definitions=blocks.definitions,
            statements=self._posted,
        )

    def __repr__(self) -> str:
        sense = "maximise" if self.maximize else "minimise"
        count = self._blocks.num_factors
        return f"Model({self.name!r}, {sense}, {len(self._names)} variables, {count} cost functions)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the problem as it is now, or why it is none."""
        from dabp.problem.cards import card, escaped, problem_card

        try:
            return problem_card(self.build(), "Model")
        except ProblemError as error:
            return card(f"Model {escaped(self.name)}", [("cannot be built yet", escaped(error))])

    def _auxiliary_names(self) -> list[str]:
        """Names aux1, aux2, … without those of variables."""
        unused = (name for number in itertools.count(1) if (name := f"aux{number}") not in self._names)
        return list(itertools.islice(unused, len(self._blocks.auxiliary)))

    def _factor_names(self) -> list[str] | None:
        """Names in order, f0, f1, … where none was given; None if none was given at all."""
        names, named, count = [], False, 0
        for block in self._blocks.blocks:
            named |= bool(block.names) and block.names != [f"f{count}"]
            names += block.names or [f"f{number}" for number in range(count, count + len(block.scopes))]
            count += len(block.scopes)
        return names if named else None

    def _numbers(self, scopes: ArrayLike) -> NDArray[np.int64]:
        """Scopes by name or number as numbers, [n, k]."""
        try:
            given = np.asarray(scopes)
        except ValueError:
            raise ProblemError("scopes of add_costs are rows of equally many variables") from None
        if given.ndim != 2:
            raise ProblemError(f"scopes are a table with a row for each function, not of shape {given.shape}")
        if given.dtype.kind in "USO":
            numbers = np.array(list(map(self._one, given.ravel().tolist())), np.int64).reshape(given.shape)
        else:
            numbers = as_integers(given, "scopes by number")
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self._labels):
            raise ProblemError(f"scopes name variables 0 to {len(self._labels) - 1}")
        ordered = np.sort(numbers, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise ProblemError("a cost function names a variable twice")
        return numbers

    def _shown(self, indices: Sequence[int]) -> tuple[str, ...]:
        names = list(self._names)
        return tuple(names[i] for i in indices)

    def _sizes(self, indices: Sequence[int]) -> list[int]:
        return [len(self._labels[i]) for i in indices]

    def _chosen(self, indices: tuple[int, ...], when: Callable[..., bool] | Iterable[Any]) -> NDArray[np.bool_]:
        """Whether a function of labels or a list of label tuples names each combination, in a row."""
        if callable(when):
            test = when
            return self._evaluated(indices, lambda *labels: bool(test(*labels))).astype(np.bool_)
        if not isinstance(when, Iterable) or isinstance(when, Mapping):
            raise ProblemError(f"combinations are a list of label tuples or a function of labels, not {when!r}")
        sizes = self._sizes(indices)
        self._check_cells(math.prod(sizes), f"a table over {len(indices):,} variables")
        chosen = np.zeros(math.prod(sizes), dtype=np.bool_)
        places = [places_of(self._labels[i]) for i in indices]
        for combination in [when] if isinstance(when, str) else when:
            alone = len(indices) == 1 and (
                not isinstance(combination, tuple | list) or places[0](combination) is not None
            )
            labels = (combination,) if alone else combination
            if isinstance(labels, str) or not isinstance(labels, Sequence) or len(labels) != len(indices):
                raise ProblemError(f"{combination!r} does not name a value for each of {self._shown(indices)}")
            values = [place_of(label) for place_of, label in zip(places, labels, strict=True)]
            if None in values:
                axis = values.index(None)
                raise ProblemError(f"variable {self._shown(indices)[axis]!r} has no value {labels[axis]!r}")
            chosen[cell_of(values, sizes)] = True  # type: ignore[arg-type]
        return chosen

    def _evaluated(self, indices: tuple[int, ...], function: Callable[..., float | None]) -> NDArray[np.float64]:
        cells = math.prod(self._sizes(indices))
        self._check_cells(cells, f"a function of {len(indices):,} variables")
        table = np.empty(cells)
        for cell, values in enumerate(itertools.product(*(self._labels[i] for i in indices))):
            cost = function(*values)
            if cost is None:
                raise ProblemError(f"the cost function gave no number for {values}")
            if not isinstance(cost, Real | np.bool_):
                raise ProblemError(f"the cost function gave {cost!r} for {values}, not a number")
            try:
                table[cell] = cost
            except OverflowError:
                raise ProblemError(f"the cost function gave a number for {values} that is too large") from None
        return table


def _labels(variable: str, values: Any) -> tuple[Label, ...]:
    if isinstance(values, Integral) and not isinstance(values, bool):
        if int(values) > MOST_VALUES:
            raise ProblemError(f"variable {variable!r} has {int(values):,} values; {MOST_VALUES:,} at most")
        if int(values) < 1:
            raise ProblemError(f"variable {variable!r} needs at least one value")
        return tuple(range(int(values)))
    if isinstance(values, set | frozenset) and len(values) > 1:  # tables by position would mean another each time
        raise ProblemError(f"variable {variable!r} has a list of values; a set as {values!r} has no order")
    if not isinstance(values, Iterable):
        raise ProblemError(f"variable {variable!r} has a number of values or a list of them, not {values!r}")
    labels = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    for label in labels:
        try:
            hash(label)
        except TypeError:
            raise ProblemError(
                f"variable {variable!r} cannot have the value {label!r}: labels are text or numbers"
            ) from None
    if not labels:
        raise ProblemError(f"variable {variable!r} needs at least one value")
    if len(set(map(str, labels))) != len(labels):
        raise ProblemError(f"variable {variable!r} has a value twice: {labels}")
    return labels

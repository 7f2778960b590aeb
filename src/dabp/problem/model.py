"""Model: the builder people write problems with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.columns import different_rows, offsets_of
from dabp.problem.views import Label


class _Block(NamedTuple):
    """Factors that were added together."""

    scopes: NDArray[np.int64]
    """Their variables, [n, k]."""
    tables: NDArray[np.float64]
    """Different tables, [U, cells]."""
    table: NDArray[np.int64]
    """Which of them each factor has, [n]."""
    names: list[str]


class Model:
    """Builds a `Problem` from named variables, labelled values and cost functions.

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

    def __init__(self, name: str = "model", *, maximize: bool = False):
        self.name, self.maximize = name, maximize
        self._names: dict[str, int] = {}
        self._labels: list[tuple[Label, ...]] = []
        self._blocks: list[_Block] = []
        self._num_factors = 0
        self._constant = 0.0

    def add_variable(self, name: str, values: int | Iterable[Label]) -> str:
        """Add a variable with so many values, or with these value labels; gives its name back."""
        if name in self._names:
            raise ProblemError(f"there is already a variable {name!r}")
        labels = tuple(range(values)) if isinstance(values, int) else tuple(values)
        if not labels:
            raise ProblemError(f"variable {name!r} needs at least one value")
        if len(set(map(str, labels))) != len(labels):
            raise ProblemError(f"variable {name!r} has a value twice: {labels}")
        self._names[name] = len(self._labels)
        self._labels.append(labels)
        return name

    def add_variables(self, names: Iterable[str], values: int | Sequence[Label]) -> list[str]:
        """Add several variables with the same values."""
        return [self.add_variable(name, values) for name in names]

    def add_cost(
        self, scope: str | Sequence[str], cost: ArrayLike | Callable[..., float | None], name: str | None = None
    ) -> None:
        """Add a cost function over named variables.

        `cost` is a table with an axis per variable of `scope`, or a function of their value labels, called
        once for each combination. Infinity forbids a combination (−infinity when maximising).
        """
        indices = self._scope(scope)
        shape = tuple(len(self._labels[i]) for i in indices)
        table = self._evaluated(indices, shape, cost) if callable(cost) else np.array(cost, dtype=np.float64)
        if table.shape != shape:
            raise ProblemError(
                f"the cost table over {tuple(self._as_list(scope))} needs shape {shape}, not {table.shape}"
            )
        if np.isnan(table).any():
            raise ProblemError(f"a cost over {tuple(self._as_list(scope))} is not a number")
        self._add(indices, table, name)

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
        costs = np.asarray(tables, dtype=np.float64)
        if index is not None:
            chosen = np.asarray(index, dtype=np.int64)
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
        self._append(_Block(numbers, different, same[chosen], []))

    def forbid(
        self, scope: str | Sequence[str], when: Callable[..., bool] | Iterable[Any], name: str | None = None
    ) -> None:
        """Forbid combinations: those for which the function of labels is true, or a list of label tuples."""
        indices = self._scope(scope)
        shape = tuple(len(self._labels[i]) for i in indices)
        bad = -np.inf if self.maximize else np.inf
        if callable(when):
            test = when
            self._add(indices, self._evaluated(indices, shape, lambda *v: bad if test(*v) else 0.0), name)
            return
        table = np.zeros(shape)
        for combination in when:
            labels = (combination,) if len(indices) == 1 and not isinstance(combination, tuple | list) else combination
            if len(labels) != len(indices):
                raise ProblemError(f"{combination!r} does not name a value for each of {self._as_list(scope)}")
            table[tuple(self._value(i, label) for i, label in zip(indices, labels, strict=True))] = bad
        self._add(indices, table, name)

    def add_constant(self, cost: float) -> None:
        """Add a constant to every cost."""
        self._constant += float(cost)

    def build(self) -> Problem:
        """The finished problem; the model can be extended and built again."""
        plain = all(row == tuple(range(len(row))) for row in self._labels)
        blocks = self._blocks
        tables = offsets_of([len(block.tables) for block in blocks])
        cells = np.repeat([block.tables.shape[1] for block in blocks], [len(block.tables) for block in blocks])
        return Problem(
            [len(row) for row in self._labels],
            np.concatenate([np.zeros(0, dtype=np.int64), *(block.scopes.ravel() for block in blocks)]),
            offsets_of(np.repeat([b.scopes.shape[1] for b in blocks], [len(b.scopes) for b in blocks])),
            np.concatenate([np.zeros(0), *(block.tables.ravel() for block in blocks)]),
            offsets_of(cells),
            np.concatenate(
                [np.zeros(0, dtype=np.int64), *(b.table + start for b, start in zip(blocks, tables[:-1], strict=True))]
            ),
            constant=self._constant,
            maximize=self.maximize,
            variable_names=list(self._names),
            factor_names=self._factor_names(),
            labels=None if plain else self._labels,
            name=self.name,
        )

    # ---- inside --------------------------------------------------------------------------------

    def _add(self, indices: tuple[int, ...], table: NDArray[np.float64], name: str | None) -> None:
        scope = np.array(indices, dtype=np.int64).reshape(1, -1)
        names = [f"f{self._num_factors}" if name is None else name]
        self._append(_Block(scope, table.reshape(1, -1), np.zeros(1, dtype=np.int64), names))

    def _append(self, block: _Block) -> None:
        self._blocks.append(block)
        self._num_factors += len(block.scopes)

    def _factor_names(self) -> list[str] | None:
        """Names in order, f0, f1, … where none was given; None if none was given at all."""
        names, named, count = [], False, 0
        for block in self._blocks:
            named |= bool(block.names) and block.names != [f"f{count}"]
            names += block.names or [f"f{number}" for number in range(count, count + len(block.scopes))]
            count += len(block.scopes)
        return names if named else None

    def _numbers(self, scopes: ArrayLike) -> NDArray[np.int64]:
        """Scopes by name or number as numbers, [n, k]."""
        given = np.asarray(scopes)
        if given.ndim != 2:
            raise ProblemError(f"scopes are a table with a row for each function, not of shape {given.shape}")
        if given.dtype.kind in "iu":
            numbers = given.astype(np.int64)
        else:
            unknown = next((name for name in given.ravel().tolist() if name not in self._names), None)
            if unknown is not None:
                raise ProblemError(f"there is no variable {unknown!r}; add it first")
            numbers = np.array([self._names[name] for name in given.ravel().tolist()], np.int64).reshape(given.shape)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self._labels):
            raise ProblemError(f"scopes name variables 0 to {len(self._labels) - 1}")
        ordered = np.sort(numbers, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            raise ProblemError("a cost function names a variable twice")
        return numbers

    @staticmethod
    def _as_list(scope: str | Sequence[str]) -> list[str]:
        return [scope] if isinstance(scope, str) else list(scope)

    def _scope(self, scope: str | Sequence[str]) -> tuple[int, ...]:
        names = self._as_list(scope)
        for name in names:
            if name not in self._names:
                raise ProblemError(f"there is no variable {name!r}; add it first")
        if len(set(names)) != len(names):
            raise ProblemError(f"a cost function names a variable twice: {names}")
        return tuple(self._names[name] for name in names)

    def _value(self, variable: int, label: Label) -> int:
        if label not in self._labels[variable]:
            raise ProblemError(f"variable {list(self._names)[variable]!r} has no value {label!r}")
        return self._labels[variable].index(label)

    def _evaluated(
        self, indices: tuple[int, ...], shape: tuple[int, ...], function: Callable[..., float | None]
    ) -> NDArray[np.float64]:
        table = np.empty(shape)
        for cell, values in zip(np.ndindex(shape), itertools.product(*(self._labels[i] for i in indices)), strict=True):
            cost = function(*values)
            if cost is None:
                raise ProblemError(f"the cost function gave no number for {values}")
            table[cell] = cost
        return table

"""Model: the builder people write problems with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.views import Label


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
        self._scopes: list[tuple[int, ...]] = []
        self._tables: list[NDArray[np.float64]] = []
        self._factor_names: list[str] = []
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
        return Problem(
            [len(row) for row in self._labels],
            [v for scope in self._scopes for v in scope],
            offsets_of([len(s) for s in self._scopes]),
            np.concatenate([t.ravel() for t in self._tables]) if self._tables else [],
            offsets_of([t.size for t in self._tables]),
            constant=self._constant,
            maximize=self.maximize,
            variable_names=list(self._names),
            factor_names=self._factor_names,
            labels=None if plain else self._labels,
            name=self.name,
        )

    # ---- inside --------------------------------------------------------------------------------

    def _add(self, indices: tuple[int, ...], table: NDArray[np.float64], name: str | None) -> None:
        self._scopes.append(indices)
        self._tables.append(table)
        self._factor_names.append(f"f{len(self._factor_names)}" if name is None else name)

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

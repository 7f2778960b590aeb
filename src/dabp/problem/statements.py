"""How statements become factors: tables if they are small, chains through auxiliary variables if they are not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.columns import Indices
from dabp.problem.sums import Chain, Judge, chain
from dabp.problem.views import Label

MOST_CELLS = 2**26
"""Of all tables of a statement, those that are shared counted as often as they are used."""
SMALL = 1024
"""Cells up to which a statement is one table, whatever a chain would need."""
WIDE = 16
"""Values from which on a variable of a sum may be represented by the class of its value, …"""
NARROW = 4
"""… if it has this many times fewer classes."""


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


class Statements:
    """What `Model` is made of: variables, blocks of factors, auxiliary variables."""

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

    def _is_variable(self, name: object) -> TypeGuard[str]:
        return isinstance(name, str) and name in self._names

    def _scope(self, scope: str | Sequence[str]) -> tuple[int, ...]:
        """The numbers of named variables, each of which there is once."""
        names = listed(scope)
        for name in names:
            if not self._is_variable(name):
                raise ProblemError(f"there is no variable {name!r}; add it first")
        if len(set(names)) != len(names):
            raise ProblemError(f"a cost function names a variable twice: {names}")
        return tuple(self._names[name] for name in names)

    def _penalty(self, penalty: float | None) -> float:
        """What a violation adds to the total: the penalty, or forbidden, in the direction of the model."""
        return -penalty_of(penalty) if self.maximize else penalty_of(penalty)

    def _check_cells(self, cells: int, what: str) -> None:
        if cells > self.max_cells:
            raise ProblemError(f"{what} needs tables of {cells:,} cells, more than {self.max_cells:,} (max_cells)")

    def _statement(self, kind: str, name: str | None) -> str:
        """The name of a statement: as given, or its kind and a number."""
        if name is None:
            number = 1
            while f"{kind}{number}" in self._given:
                number += 1
            name = f"{kind}{number}"
        self._given.add(name)
        return name

    # ---- factors -------------------------------------------------------------------------------

    def _add(
        self, indices: Sequence[int], table: NDArray[np.float64], name: str | None, *, defines: bool = False
    ) -> None:
        scope = np.array(indices, dtype=np.int64).reshape(1, -1)
        names = [f"f{self._num_factors}" if name is None else name]
        if name is not None:
            self._given.add(name)
        self._append(Block(scope, table.reshape(1, -1), np.zeros(1, dtype=np.int64), names, defines))

    def _add_many(self, scopes: Indices, table: NDArray[np.float64], name: str) -> None:
        """Factors with one table."""
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

    # ---- sums ----------------------------------------------------------------------------------

    def _judged(self, indices: Sequence[int], terms: Sequence[Indices], judge: Judge, name: str, kind: str) -> None:
        """Add what a sum costs, a term of each variable: one table, or a chain of them."""
        parts = [(index, term) for index, term in zip(indices, terms, strict=True) if (term != term[0]).any()]
        fixed = sum(int(term[0]) for term in terms if not (term != term[0]).any())
        cells = math.prod(len(term) for _, term in parts)
        if cells <= SMALL or len(parts) < 3:
            self._check_cells(cells, f"{kind} over {len(indices):,} variables")
            self._add_total([index for index, _ in parts], [term for _, term in parts], fixed, judge, name)
            return

        def refuse(cells: int) -> ProblemError:
            what = f"{kind} over {len(indices):,} variables"
            return ProblemError(
                f"{what} needs tables of {cells:,} cells or more, more than {self.max_cells:,} (max_cells)"
            )

        classes = [self._classes(term) for _, term in parts]
        kept = [term if own is None else own[1] for (_, term), own in zip(parts, classes, strict=True)]
        kept[0] = kept[0] + fixed
        made = chain(kept, judge, self.max_cells, refuse)
        if cells <= made.cells:
            self._add_total([index for index, _ in parts], [term for _, term in parts], fixed, judge, name)
            return
        axes = [
            index if own is None else self._define([index], own[0], len(own[1]), name)
            for (index, _), own in zip(parts, classes, strict=True)
        ]
        self._add_chain(axes, made, name)

    def _add_total(self, indices: Sequence[int], terms: Sequence[Indices], fixed: int, judge: Judge, name: str) -> None:
        """The whole table of a sum; of no variables, what the rest of it costs."""
        total = np.array(fixed, dtype=np.int64)
        for term in terms:
            total = np.add.outer(total, term)
        costs = judge.costs(total)
        if (costs != 0).any():
            self._add(indices, 0.0 - costs if self.maximize else costs, name)

    def _add_chain(self, axes: Sequence[int], made: Chain, name: str) -> None:
        """Auxiliary variables for the states between, and the tables that lead through them."""
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

    @staticmethod
    def _classes(term: Indices) -> tuple[Indices, Indices] | None:
        """The class of each value by its term and the term of each class, if that is much less; None if not."""
        if len(term) < WIDE:
            return None
        different, which = np.unique(term, return_inverse=True)
        return (which, different) if NARROW * len(different) <= len(term) else None


def listed(scope: Any) -> list[str]:
    """The names of a scope, which may be a single one."""
    if isinstance(scope, str):
        return [scope]
    if not isinstance(scope, Iterable):
        raise ProblemError(f"a scope is the name of a variable or a list of them, not {scope!r}")
    if isinstance(scope, set | frozenset) and len(scope) > 1:  # a table's axes would be in another order each time
        raise ProblemError(f"a scope is a list of variables; a set as {scope!r} has no order")
    return list(scope)


def penalty_of(penalty: Any, what: str = "a penalty") -> float:
    """A penalty as a number of at least 0; None is infinite."""
    if penalty is None:
        return math.inf
    if isinstance(penalty, str) or not isinstance(penalty, int | float | np.number) or not float(penalty) >= 0:
        raise ProblemError(f"{what} is a number of at least 0, not {penalty!r}")
    return float(penalty)

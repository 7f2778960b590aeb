"""Problems that differ in their costs alone: made quickly of one another, sharing what was compiled of their structure.

A part of `Problem`. The structure is what no cost enters: domain sizes, scopes, which table a factor uses and where it
lies. Components, elimination orders and the layouts of messages follow from it, and stay as they are tomorrow when only
the prices have changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.data import cost_table, positional
from dabp.problem.views import Label

if TYPE_CHECKING:
    from dabp.problem.problem import Problem

Found = TypeVar("Found")

BULKY = 2**20
"""Costs and entries of scopes up to which what is about as large as the problem itself is kept, too."""
_OF_COLUMNS = ("arities", "num_constraints", "arity_groups", "filled_tables")
_OF_AUXILIARIES = ("num_auxiliary", "_defined", "_steps", "_definitions_of")
_OF_STRUCTURE = (*_OF_COLUMNS, *_OF_AUXILIARIES, "_structure")
"""What a problem knows of its structure, and hands on to one that differs in its costs."""
_ENTER_STRUCTURE = frozenset(
    {"domain_sizes", "scope_variables", "scope_offsets", "pool_offsets", "factor_table", "definitions"}
)


class Memo:
    """What has been computed of something that does not change, each once; any thread may ask."""

    def __init__(self) -> None:
        self._lock, self._found = threading.RLock(), dict[Hashable, Any]()

    def get(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """What `compute` gives; the first who asks computes while the others wait."""
        with self._lock:
            if key not in self._found:
                self._found[key] = compute()
            return cast("Found", self._found[key])


class Related:
    """Other costs on the same structure; `Problem` inherits it and makes the columns."""

    scope_variables: Indices
    pool: NDArray[np.float64]
    pool_offsets: Indices
    factor_table: Indices
    domain_sizes: Indices
    definitions: Indices
    scope: Callable[[int], Indices]
    factor_name: Callable[[int], str]
    variable_name: Callable[[int], str]
    labels: Callable[[int], tuple[Label, ...]]
    factor_index: Callable[[str | int], int]
    replace: Callable[..., Problem]
    _structure: Memo

    def structural(self, compute: Callable[..., Found], *arguments: Hashable, bulky: bool = False) -> Found:
        """``compute(self, *arguments)``, computed once for this problem and those made of it by other costs.

        For what follows from the structure alone; no cost may enter. `compute` is a function of a module. What is
        about as large as the problem is `bulky`, and computed each time for one of more than `BULKY` costs.
        """
        if bulky and len(self.pool) + len(self.scope_variables) > BULKY:
            return compute(self, *arguments)
        return self._structure.get((compute, *arguments), lambda: compute(self, *arguments))

    def _known_structure(self, changes: Iterable[str]) -> dict[str, Any]:
        """What a copy with these arguments of the constructor changed need not find out again."""
        if _ENTER_STRUCTURE.intersection(changes):
            return {}
        if "pool" in changes and len(self.pool) + len(self.scope_variables) <= BULKY:
            for name in _OF_COLUMNS:  # a stream needs them again and again: found once, here
                getattr(self, name)
        return {name: self.__dict__[name] for name in _OF_STRUCTURE if name in self.__dict__}

    def with_costs(self, costs: ArrayLike, *, constant: float | None = None) -> Problem:
        """The same problem with all costs replaced, for a stream of problems that differ in nothing else.

        What was compiled for this problem serves the new one, too: solving it takes little more than its search.

        Parameters
        ----------
        costs
            In the order of `pool`, [P].
        constant
            Added to every cost; by default as it is.

        Examples
        --------
        >>> import dabp
        >>> problem = dabp.Problem.from_tables([2, 2], [((0, 1), [[0, 3], [2, 1]])])
        >>> problem.with_costs(2 * problem.pool).cost([1, 0])
        4.0
        """
        pool = positional(costs, "costs of a problem")
        if pool.shape != self.pool.shape:
            raise ProblemError(f"with_costs takes {len(self.pool)} costs in a row, as pool has them, not {pool.shape}")
        pool.flags.writeable = False
        self._check_definitions(pool)
        return self.replace(pool=pool) if constant is None else self.replace(pool=pool, constant=constant)

    def with_tables(self, tables: Mapping[str | int, Any] | Sequence[Any]) -> Problem:
        """The same problem with the tables of some cost functions replaced.

        What was compiled for this problem serves the new one, too, unless one of the tables was shared with others:
        it becomes the function's own, and what is compiled for that serves from then on.

        Parameters
        ----------
        tables
            By name or number of the cost function; each as `Model.add_cost` takes it, by position or by label. A
            sequence replaces all of them.

        Examples
        --------
        >>> import dabp
        >>> model = dabp.Model()
        >>> model.add_variable("x", ["a", "b"])
        'x'
        >>> model.add_cost(["x"], [1, 2], name="price")
        >>> model.build().with_tables({"price": [5, 4]}).cost([1])
        4.0
        """
        if not isinstance(tables, Mapping | Sequence | np.ndarray):
            raise ProblemError("with_tables takes tables by the names or numbers of cost functions, or all of them")
        if not isinstance(tables, Mapping):
            if len(tables) != len(self.factor_table):
                raise ProblemError(f"{len(self.factor_table)} cost functions need as many tables, not {len(tables)}")
            tables = dict(enumerate(tables))
        new = {self.factor_index(key): table for key, table in tables.items()}
        if len(new) < len(tables):
            raise ProblemError("with_tables names a cost function twice, by its name and by its number")
        cells = {factor: self._cells_of(factor, table) for factor, table in new.items()}
        users = self.structural(_table_users)
        shared = [factor for factor in cells if users[self.factor_table[factor]] > 1]
        if shared:
            return self._unshared(shared).with_tables(cast("Mapping[str | int, Any]", new))
        pool = self.pool.copy()
        for factor, row in cells.items():
            start = self.pool_offsets[self.factor_table[factor]]
            pool[start : start + len(row)] = row
        pool.flags.writeable = False
        self._check_definitions(pool)
        return self.replace(pool=pool)

    def _check_definitions(self, pool: NDArray[np.float64]) -> None:
        """Refuse other costs in what says which values auxiliary variables have: they might follow no longer."""
        if len(self.definitions):
            cells = self.structural(_defining_cells)
            if not np.array_equal(pool[cells], self.pool[cells]):
                raise ProblemError("tables that define auxiliary variables, such as those of a sum, cannot be replaced")

    def _cells_of(self, factor: int, table: Any) -> NDArray[np.float64]:
        scope = self.scope(factor).tolist()
        names, labels = [self.variable_name(v) for v in scope], [self.labels(v) for v in scope]
        costs = cost_table(table, names, labels)
        shape = tuple(map(len, labels))
        if costs.shape != shape:
            raise ProblemError(f"the table of {self.factor_name(factor)!r} needs shape {shape}, not {costs.shape}")
        return costs.ravel()

    def _unshared(self, factors: list[int]) -> Problem:
        """The same problem, these factors with tables of their own behind the others."""
        numbers = np.asarray(factors)
        lengths = np.diff(self.pool_offsets)
        tables = self.factor_table[numbers]
        own = [self.pool[self.pool_offsets[t] : self.pool_offsets[t + 1]] for t in tables.tolist()]
        which = self.factor_table.copy()
        which[numbers] = len(lengths) + np.arange(len(numbers))
        return self.replace(
            pool=np.concatenate([self.pool, *own]),
            pool_offsets=offsets_of(np.concatenate([lengths, lengths[tables]])),
            factor_table=which,
        )


def _table_users(problem: Problem) -> Indices:
    """How many factors use each table, [T]."""
    return np.bincount(problem.factor_table, minlength=len(problem.pool_offsets) - 1)


def _defining_cells(problem: Problem) -> Indices:
    """The costs that say which values auxiliary variables have, as places in the pool."""
    return ragged_positions(problem.pool_offsets, np.unique(problem.factor_table[problem.definitions]))

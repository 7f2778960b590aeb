"""The problem: variables with finite domains and cost functions over some of them (paper Eq. 1).

A `Problem` is columns, not objects, so that a million variables fit: domain sizes, scopes as flat
indices with offsets, and a pool of float64 tables that factors share by index. `Variable` and `Factor`
are light views made on demand. This module is the only definition of cost.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem.auxiliaries import Auxiliaries
from dabp.problem.exchange import Exchange
from dabp.problem.naming import Assignment, Naming
from dabp.problem.related import Memo, Related
from dabp.problem.totals import Totals
from dabp.problem.validation import validate_costs, validate_names, validate_structure
from dabp.problem.views import ArityGroup, Factor, FactorCost, Label, Variable, Views

__all__ = ["Assignment", "Factor", "FactorCost", "Label", "Problem", "Variable"]

Derived = TypeVar("Derived")

_OF_SCOPES = frozenset({"domain_sizes", "scope_variables", "scope_offsets", "variable_names"})
"""What changes which variables and factors there are; keys and definitions are then no longer theirs."""
_OF_TABLES = ("table_magnitude", "extremes", "forbidding", "finite_extremes", "integral_tables", "decimal_digits")
"""What follows from the tables alone, and takes long where they are large."""

MOST_AXES = 64
"""Of a NumPy array. Factors may have more variables, if enough of them have one value only."""


_BLOCK = 2**15
"""Factors whose costs are looked up in one go: what that takes stays in the processor's cache."""


def _frozen(array: ArrayLike, dtype: Any) -> NDArray[Any]:
    if isinstance(array, np.ndarray) and array.dtype == dtype and array.base is None and not array.flags.writeable:
        return array  # nobody else can change it, and large problems should not be copied
    result = np.array(array, dtype=dtype)
    result.flags.writeable = False
    return result


class Problem(Naming, Auxiliaries, Totals, Related, Exchange):
    """An immutable, validated constraint optimisation problem.

    Parameters
    ----------
    domain_sizes
        Number of values of each variable, [N].
    scope_variables, scope_offsets
        Factor f looks at ``scope_variables[scope_offsets[f]:scope_offsets[f + 1]]``; [sum of arities], [F + 1].
    pool, pool_offsets
        Table t is ``pool[pool_offsets[t]:pool_offsets[t + 1]]``, last variable of the scope fastest; [P], [T + 1].
    factor_table
        Which table each factor uses, [F]; by default table f for factor f.
    constant
        Added to every cost.
    maximize
        If true the objective is the largest total; forbidden is then −inf instead of +inf.
    variable_names, factor_names
        Optional; ``x0, x1, …`` and ``f0, f1, …`` otherwise.
    labels
        Optional, per variable a tuple of value labels or None (0, 1, …).
    limit
        Only assignments strictly better than this are feasible: the ``top`` or ``mustbe`` of a file; None = all are.
    name
        What the problem is called.
    keys
        Optional: what answers in Python call the variables where that is not their names, such as nodes of a graph.
    definitions
        Factors that define auxiliary variables, the last ones (`dabp.problem.auxiliaries`); answers leave these out.
    """

    def __init__(
        self,
        domain_sizes: ArrayLike,
        scope_variables: ArrayLike = (),
        scope_offsets: ArrayLike = (0,),
        pool: ArrayLike = (),
        pool_offsets: ArrayLike = (0,),
        factor_table: ArrayLike | None = None,
        *,
        constant: float = 0.0,
        maximize: bool = False,
        variable_names: Sequence[str] | None = None,
        factor_names: Sequence[str] | None = None,
        labels: Sequence[tuple[Label, ...] | None] | None = None,
        limit: float | None = None,
        name: str = "problem",
        keys: Sequence[Hashable] | None = None,
        definitions: ArrayLike = (),
    ):
        self.domain_sizes: NDArray[np.int64] = _frozen(domain_sizes, np.int64)
        self.scope_variables: NDArray[np.int64] = _frozen(scope_variables, np.int64)
        self.scope_offsets: NDArray[np.int64] = _frozen(scope_offsets, np.int64)
        self.pool: NDArray[np.float64] = _frozen(pool, np.float64)
        self.pool_offsets: NDArray[np.int64] = _frozen(pool_offsets, np.int64)
        num_factors = len(self.scope_offsets) - 1
        self.factor_table: NDArray[np.int64] = _frozen(
            np.arange(num_factors) if factor_table is None else factor_table, np.int64
        )
        self.constant = float(constant)
        self.maximize = bool(maximize)
        self.limit = None if limit is None else float(limit)
        self.name = name
        self._variable_names = None if variable_names is None else tuple(variable_names)
        self._factor_names = None if factor_names is None else tuple(factor_names)
        self._labels = None if labels is None or all(row is None for row in labels) else tuple(labels)
        self._keys = None if keys is None else tuple(keys)
        self.definitions: NDArray[np.int64] = _frozen(definitions, np.int64)
        if self._factor_names is not None and len(self._factor_names) != num_factors:
            raise ProblemError(f"{num_factors} factors, but {len(self._factor_names)} names")
        self._derived = Memo()
        validate_names(self, self._labels)
        if "_structure" not in self.__dict__:  # else `replace` has handed it on, of a problem that was checked
            self._structure = Memo()
            validate_structure(self)
        validate_costs(self)

    # ---- shape -------------------------------------------------------------------------------

    @property
    def num_variables(self) -> int:
        """N."""
        return len(self.domain_sizes)

    @property
    def num_factors(self) -> int:
        """F, factors of arity 0 and 1 included."""
        return len(self.scope_offsets) - 1

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """Arity of each factor, [F]."""
        return np.diff(self.scope_offsets)

    @cached_property
    def num_constraints(self) -> int:
        """Factors of arity 2 or more: what the paper's normalised cost divides by."""
        return int((self.arities >= 2).sum())

    @property
    def forbidden(self) -> float:
        """The cost of a forbidden combination: +inf, or −inf when maximising."""
        return -np.inf if self.maximize else np.inf

    # ---- factors ------------------------------------------------------------------------------

    def scope(self, index: int) -> NDArray[np.int64]:
        """The variables of one factor."""
        return self.scope_variables[self.scope_offsets[index] : self.scope_offsets[index + 1]]

    def cells(self, index: int) -> NDArray[np.float64]:
        """The costs of one factor in a row, last variable of its scope fastest."""
        table = self.factor_table[index]
        return self.pool[self.pool_offsets[table] : self.pool_offsets[table + 1]]

    def table(self, index: int) -> NDArray[np.float64]:
        """The costs of one factor, an axis per variable of its scope."""
        shape = tuple(self.domain_sizes[self.scope(index)])
        if len(shape) > MOST_AXES:
            raise ProblemError(
                f"factor {self.factor_name(index)!r} has {len(shape)} variables; a table has {MOST_AXES} axes at most"
            )
        return self.cells(index).reshape(shape)

    def factor(self, index: int) -> Factor:
        """One factor as a view."""
        scope = tuple(int(v) for v in self.scope(index))
        return Factor(index, self.factor_name(index), scope, self.table(index))

    @property
    def factors(self) -> Views[Factor]:
        """Every factor, a view each, as a sequence."""
        return Views(range(self.num_factors), self.factor)

    # ---- cost --------------------------------------------------------------------------------

    @cached_property
    def arity_groups(self) -> tuple[ArityGroup, ...]:
        """Factors by arity, with the strides that turn values into positions of `pool`."""
        groups = []
        uniform = self.num_variables > 0 and bool((self.domain_sizes == self.domain_sizes[0]).all())
        for arity in np.flatnonzero(np.bincount(self.arities)).tolist():
            factors = np.flatnonzero(self.arities == arity)
            first, last = int(factors[0]), int(factors[-1]) + 1
            together = last - first == len(factors)
            if together:  # as they mostly are: then nothing is copied
                entries = slice(self.scope_offsets[first], self.scope_offsets[last])
                variables = self.scope_variables[entries].reshape(len(factors), arity)
            else:
                variables = self.scope_variables[self.scope_offsets[factors][:, None] + np.arange(arity)]
            if uniform:
                powers = self.domain_sizes[0] ** np.arange(arity - 1, -1, -1)
                strides = np.broadcast_to(powers, variables.shape)
            else:
                lengths = self.domain_sizes[variables]
                strides = np.ones_like(lengths)
                for axis in range(arity - 2, -1, -1):
                    strides[:, axis] = strides[:, axis + 1] * lengths[:, axis + 1]
            bases = self.pool_offsets[self.factor_table[first:last] if together else self.factor_table[factors]]
            groups.append(ArityGroup(factors, variables, strides, bases))
        return tuple(groups)

    def cost(self, assignment: Mapping[Any, Label] | ArrayLike) -> Any:
        """Total cost of an assignment [N] as a float, or of a batch [B, N] as an array [B]; exact.

        Assignments are value indices, or labels by name; auxiliary variables can be left out.
        """
        values = self.checked(assignment)
        if values.ndim > 1:
            rows = values.reshape(math.prod(values.shape[:-1]), self.num_variables)
            block = max(1, 4_000_000 // max(1, len(self.scope_variables)))  # bounds the index arrays
            parts = [self._costs(rows[i : i + block]) for i in range(0, len(rows), block)]
            return (np.concatenate(parts) if parts else np.zeros(0)).reshape(values.shape[:-1])
        total = 0.0
        for group in self.arity_groups:
            total += self._costs_of(group, values).sum()
        return float(total + self.constant)

    def _costs_of(self, group: ArityGroup, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the factors of a group cost under one assignment, some at a time: places in memory are reused."""
        costs = np.empty(len(group.bases))
        for first in range(0, len(costs), _BLOCK):
            part = slice(first, first + _BLOCK)
            cells = group.bases[part]
            for variables, strides in zip(group.variables[part].T, group.strides[part].T, strict=True):
                cells = cells + values[variables] * strides
            np.take(self.pool, cells, out=costs[part], mode="clip")  # they are within: nothing is clipped
        return costs

    def _costs(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.zeros(len(rows))
        for group in self.arity_groups:
            total += self.pool[self._cells(group, rows)].sum(axis=-1)
        return total + self.constant

    @staticmethod
    def _cells(group: ArityGroup, values: NDArray[np.int64]) -> NDArray[np.int64]:
        arity = group.variables.shape[1]
        cells = group.bases if arity else np.broadcast_to(group.bases, (*values.shape[:-1], len(group.bases)))
        for axis in range(arity):
            cells = cells + values[..., group.variables[:, axis]] * group.strides[:, axis]
        # In this layout the costs of a row are added up in one order, however many rows there are.
        return np.ascontiguousarray(cells)

    def factor_costs(self, assignment: Mapping[Any, Label] | ArrayLike) -> NDArray[np.float64]:
        """What each factor costs under one assignment, [F]."""
        values = self.checked(assignment)
        costs = np.zeros(self.num_factors)
        for group in self.arity_groups:
            costs[group.factors] = self._costs_of(group, values)
        return costs

    def explain(self, assignment: Mapping[Any, Label] | ArrayLike, limit: int | None = None) -> list[FactorCost]:
        """Factors by what they cost under an assignment: the violated first, then the costliest.

        In place of an auxiliary variable stand those that it follows from, and its definition is no line.
        """
        values = self.checked(assignment)
        costs = self.factor_costs(values)
        badness = -costs if self.maximize else costs
        order = np.argsort(-badness, kind="stable")
        if len(self.definitions):
            order = order[~(np.isin(order, self.definitions) & (costs[order] == 0))]
        lines = []
        for f in order[:limit].tolist():
            scope = self.visible_scope(f)
            names = tuple(self.variable_name(v) for v in scope)
            taken = tuple(self.labels(v)[values[v]] for v in scope)
            lines.append(FactorCost(f, self.factor_name(f), names, taken, float(costs[f]), bool(np.isinf(costs[f]))))
        return lines

    # ---- what follows from the columns -----------------------------------------------------------

    def derived(self, compute: Callable[[Problem], Derived]) -> Derived:
        """``compute(self)``, computed once for this problem and kept as long as it lives.

        For what follows from the columns alone and several stages ask for, such as the components of the graph.
        `compute` is the key: a function of a module, not a lambda. Any thread may ask; the first one computes while
        the others wait. Pickling, and `replace`, leave it out; what follows from the structure is `structural`.
        """
        return self._derived.get(compute, lambda: compute(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles are made into problems by the constructor: checked, read-only and with nothing derived."""
        return partial(Problem, **self._columns()), ()

    # ---- other forms of the same problem --------------------------------------------------------

    def replace(self, **changes: Any) -> Problem:
        """A copy with some of the constructor's arguments changed; what follows from the others is handed on."""
        if changes.keys() & _OF_SCOPES:
            changes = {"keys": None, "definitions": (), **changes}
        copy = Problem.__new__(Problem)
        if not changes.keys() & {"pool", "pool_offsets", "factor_table"}:  # what is known of the tables stays so
            copy.__dict__.update({name: self.__dict__[name] for name in _OF_TABLES if name in self.__dict__})
        if np.shape(changes.get("pool", self.pool)) == self.pool.shape:
            copy.__dict__.update(self._known_structure(changes))
        Problem.__init__(copy, **{**self._columns(), **changes})
        return copy

    def _columns(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            "domain_sizes": self.domain_sizes,
            "scope_variables": self.scope_variables,
            "scope_offsets": self.scope_offsets,
            "pool": self.pool,
            "pool_offsets": self.pool_offsets,
            "factor_table": self.factor_table,
            "constant": self.constant,
            "maximize": self.maximize,
            "variable_names": self._variable_names,
            "factor_names": self._factor_names,
            "labels": self._labels,
            "limit": self.limit,
            "name": self.name,
            "keys": self._keys,
            "definitions": self.definitions,
        }

    def minimized(self) -> Problem:
        """The same problem as a minimisation: itself, or every cost negated."""
        if not self.maximize:
            return self
        limit = None if self.limit is None else -self.limit
        return self.replace(pool=-self.pool, constant=-self.constant, limit=limit, maximize=False)

    @cached_property
    def digest(self) -> str:
        """A hash of all that decides costs and what is feasible: the problem's identity for checkpoints and results."""
        limit = () if self.limit is None else (self.limit,)
        sha = hashlib.sha256(repr((self.constant, self.maximize, *limit)).encode())
        columns: tuple[NDArray[Any], ...] = (
            self.domain_sizes,
            self.scope_variables,
            self.scope_offsets,
            self.pool,
            self.pool_offsets,
            self.factor_table,
        )
        for column in columns:
            sha.update(np.ascontiguousarray(column).view(np.uint8).data)
            sha.update(b"|")
        return sha.hexdigest()

    def __eq__(self, other: object) -> bool:
        """Same variables, names, labels and factors with the same costs; sharing of tables does not matter."""
        if not isinstance(other, Problem):
            return NotImplemented
        if (
            self.maximize != other.maximize
            or self.constant != other.constant
            or self.limit != other.limit
            or not np.array_equal(self.domain_sizes, other.domain_sizes)
            or not np.array_equal(self.scope_offsets, other.scope_offsets)
            or not np.array_equal(self.scope_variables, other.scope_variables)
            or self.variable_names != other.variable_names
        ):
            return False
        same_labels = all(self.labels(i) == other.labels(i) for i in range(self.num_variables))
        return same_labels and all(np.array_equal(self.cells(f), other.cells(f)) for f in range(self.num_factors))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sense = "maximise" if self.maximize else "minimise"
        return (
            f"Problem({self.name!r}, {sense}, {self.num_variables} variables, {self.num_factors} factors, "
            f"{len(self.pool)} costs)"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from dabp.problem.cards import problem_card

        return problem_card(self)

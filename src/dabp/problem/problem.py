"""The problem: variables with finite domains and cost functions over some of them (paper Eq. 1).

A `Problem` is columns, not objects, so that a million variables fit: domain sizes, scopes as flat
indices with offsets, and a pool of float64 tables that factors share by index. `Variable` and `Factor`
are light views made on demand. This module is the only definition of cost.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError, named_keywords
from dabp.problem.auxiliaries import Auxiliaries
from dabp.problem.columns import Indices, handed_over, offsets_of, ragged_positions
from dabp.problem.conversion import as_float, as_floats, as_integers
from dabp.problem.data import cost_table, positional
from dabp.problem.facts import ArityGroup, Columns, Facts, Structure, structural
from dabp.problem.names import Assignment, Names
from dabp.problem.validation import validate_costs, validate_names, validate_structure
from dabp.problem.views import Factor, FactorCost, Label, Variable, Views

if TYPE_CHECKING:
    from dabp.problem.globals.base import Posted

__all__ = ["Assignment", "Factor", "FactorCost", "Label", "Problem", "Variable"]

_MOVED = {
    **dict.fromkeys(["num_constraints", "digest", "integral", "magnitude", "forbidden"], "facts.{}"),
    **dict.fromkeys(["rounding", "rounding_error"], "facts.{}"),
    **dict.fromkeys(["labelled", "named", "labels", "keys", "assignment", "checked", "value_index"], "names.{}"),
    **dict.fromkeys(["variable_index", "factor_index"], "names.{}"),
    **dict.fromkeys(["num_visible", "completed", "visible"], "auxiliaries.{}"),
    **dict.fromkeys(["variable", "factor"], "{}s[index]"),
    "variable_name": "names.variable",
    "variable_names": "names.variables",
    "factor_name": "names.factor",
    "num_auxiliary": "auxiliaries.count",
}
"""Attributes of version 0.1 and where a `Problem` has them now; to be removed in version 0.3."""

MOST_AXES = 64
"""Axes of a NumPy array. Factors may have more variables: those of one value take no axis."""

Number = TypeVar("Number", np.int64, np.float64)


def _fixed(column: ArrayLike, convert: Callable[[Any, str], NDArray[Number]], what: str) -> NDArray[Number]:
    """A read-only column; a column that is read-only already is not copied."""
    wanted = np.float64 if convert is as_floats else np.int64
    if isinstance(column, np.ndarray) and column.dtype == wanted and column.base is None and not column.flags.writeable:
        return column
    return handed_over(convert(column, what))


def _converter(name: str) -> Callable[..., Problem]:
    """A function of `dabp.problem.interop`, which is imported when the function is first called."""

    def convert(*arguments: Any, **options: Any) -> Problem:
        made: Problem = getattr(importlib.import_module("dabp.problem.interop"), name)(*arguments, **options)
        return made

    convert.__name__, convert.__doc__ = name, f"A problem from other data: the function `dabp.interop.{name}`."
    return convert


class Problem:
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
    statements
        The global functions that some factors, or all, together are (`dabp.problem.globals`).
    """

    @named_keywords
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
        statements: Sequence[Posted] = (),
    ):
        self.domain_sizes = _fixed(domain_sizes, as_integers, "domain sizes")
        self.scope_variables = _fixed(scope_variables, as_integers, "variables of scopes")
        self.scope_offsets = _fixed(scope_offsets, as_integers, "scope offsets")
        self.pool = _fixed(pool, as_floats, "costs of a problem")
        self.pool_offsets = _fixed(pool_offsets, as_integers, "pool offsets")
        num_factors = self.scope_offsets.size - 1
        numbers = np.arange(num_factors) if factor_table is None else factor_table
        self.factor_table = _fixed(numbers, as_integers, "the tables of factors")
        self.constant = as_float(constant, "the constant")
        if not isinstance(maximize, int | np.bool_):
            raise ProblemError(f"maximize is True or False, not {maximize!r}")
        self.maximize = bool(maximize)
        self.limit = None if limit is None else as_float(limit, "the limit")
        self.name = name
        chosen = _fixed(definitions, as_integers, "definitions")
        if factor_names is not None and len(factor_names) != num_factors:
            raise ProblemError(f"{num_factors} factors, but {len(factor_names)} names")
        columns = Columns(
            self.domain_sizes, self.scope_variables, self.scope_offsets, self.pool_offsets, self.factor_table, chosen
        )
        known: Facts | None = self.__dict__.pop("_known", None)  # `replace` hands it on
        shared = known is not None and known.share_structure(columns, self.pool)
        structure = known.structure if known is not None and shared else Structure(columns)
        self.facts = Facts(structure, self.pool, self.constant, self.maximize, self.limit)
        self.auxiliaries = Auxiliaries(structure, self.pool, self.maximize, tuple(statements))
        self.names = Names(name, variable_names, factor_names, labels, keys, columns, self.auxiliaries)
        validate_names(self, self.names.value_labels)
        if not shared:
            validate_structure(self)
        if known is not None:
            self.facts.take_over(known)
        validate_costs(self)

    # ---- shape -------------------------------------------------------------------------------

    @property
    def num_variables(self) -> int:
        """Number of variables N, auxiliary ones included."""
        return len(self.domain_sizes)

    @property
    def num_factors(self) -> int:
        """F, factors of arity 0 and 1 included."""
        return len(self.scope_offsets) - 1

    @property
    def arities(self) -> NDArray[np.int64]:
        """Arity of each factor, [F]."""
        return self.facts.structure.arities

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
        index = self.names.factor_index(index)
        shape = tuple(self.domain_sizes[self.scope(index)])
        if len(shape) > MOST_AXES:
            raise ProblemError(
                f"factor {self.names.factor(index)!r} has {len(shape)} variables; a table has {MOST_AXES} axes at most"
            )
        return self.cells(index).reshape(shape)

    def _factor(self, index: int) -> Factor:
        scope = tuple(int(v) for v in self.scope(index))
        return Factor(index, self.names.factor(index), scope, self.table(index))

    @property
    def factors(self) -> Views[Factor]:
        """Every factor, a view each, as a sequence."""
        return Views(range(self.num_factors), self._factor)

    @property
    def variables(self) -> Views[Variable]:
        """Every variable, a view each, as a sequence."""
        return Views(range(self.num_variables), self._variable)

    def _variable(self, index: int) -> Variable:
        return Variable(index, self.names.variable(index), self.names.labels(index))

    # ---- cost --------------------------------------------------------------------------------

    def cost(self, assignment: Mapping[Any, Label] | ArrayLike) -> Any:
        """Total cost of an assignment [N] as a float, or of a batch [B, N] as an array [B]; exact.

        Assignments are value indices, or labels by name; auxiliary variables can be left out.
        """
        values = self.names.checked(assignment)
        if values.ndim > 1:
            rows = values.reshape(math.prod(values.shape[:-1]), self.num_variables)
            block = max(1, 4_000_000 // max(1, len(self.scope_variables)))  # bounds the index arrays
            parts = [self._costs(rows[i : i + block]) for i in range(0, len(rows), block)]
            return (np.concatenate(parts) if parts else np.zeros(0)).reshape(values.shape[:-1])
        total = 0.0
        for group in self.facts.arity_groups:
            total += self._costs_of(group, values).sum()
        return float(total + self.constant)

    def _costs_of(self, group: ArityGroup, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """Costs of the factors of a group under one assignment; blocks of factors keep the arrays small."""
        costs = np.empty(len(group.bases))
        block = 2**15  # what the costs of so few factors take stays in the processor's cache
        for first in range(0, len(costs), block):
            part = slice(first, first + block)
            cells = group.bases[part]
            for variables, strides in zip(group.variables[part].T, group.strides[part].T, strict=True):
                cells = cells + values[variables] * strides
            np.take(self.pool, cells, out=costs[part], mode="clip")  # they are within: nothing is clipped
        return costs

    def _costs(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.zeros(len(rows))
        for group in self.facts.arity_groups:
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
        """Cost of each factor under one assignment, [F]."""
        values = self.names.checked(assignment)
        costs = np.zeros(self.num_factors)
        for group in self.facts.arity_groups:
            costs[group.factors] = self._costs_of(group, values)
        return costs

    @named_keywords
    def explain(self, assignment: Mapping[Any, Label] | ArrayLike, limit: int | None = None) -> list[FactorCost]:
        """Factors by what they cost under an assignment: the violated first, then the costliest.

        In place of an auxiliary variable stand those that it follows from, and its definition is no line.
        """
        values = self.names.checked(assignment)
        costs = self.factor_costs(values)
        badness = -costs if self.maximize else costs
        order = np.argsort(-badness, kind="stable")
        if len(self.auxiliaries.definitions):
            order = order[~(np.isin(order, self.auxiliaries.definitions) & (costs[order] == 0))]
        lines = []
        for f in order[:limit].tolist():
            scope = self.auxiliaries.visible_scope(f)
            names = tuple(self.names.variable(v) for v in scope)
            taken = tuple(self.names.labels(v)[values[v]] for v in scope)
            lines.append(FactorCost(f, self.names.factor(f), names, taken, float(costs[f]), bool(np.isinf(costs[f]))))
        return lines

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles are made into problems by the constructor: checked, read-only and with nothing derived."""
        return partial(Problem, **self._arguments()), ()

    # ---- other forms of the same problem --------------------------------------------------------

    def replace(self, **changes: Any) -> Problem:
        """A copy with some of the constructor's arguments changed; what follows from the others is handed on."""
        if changes.keys() & {"domain_sizes", "scope_variables", "scope_offsets", "variable_names"}:
            # keys and definitions are of the variables and factors that there were
            changes = {"keys": None, "definitions": (), **changes}
        if changes.keys() - {"constant", "factor_names", "keys", "labels", "limit", "name", "variable_names"}:
            changes = {"statements": (), **changes}  # other costs, other statements
        copy = Problem.__new__(Problem)
        copy.__dict__["_known"] = self.facts
        Problem.__init__(copy, **{**self._arguments(), **changes})
        return copy

    def _arguments(self) -> dict[str, Any]:
        return {
            "domain_sizes": self.domain_sizes,
            "scope_variables": self.scope_variables,
            "scope_offsets": self.scope_offsets,
            "pool": self.pool,
            "pool_offsets": self.pool_offsets,
            "factor_table": self.factor_table,
            "constant": self.constant,
            "maximize": self.maximize,
            "variable_names": self.names.variable_names,
            "factor_names": self.names.factor_names,
            "labels": self.names.value_labels,
            "limit": self.limit,
            "name": self.name,
            "keys": self.names.keys,
            "definitions": self.auxiliaries.definitions,
            "statements": self.auxiliaries.statements,
        }

    @named_keywords
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
        self._check_definitions(pool)
        changed = self.replace(pool=handed_over(pool))
        return changed if constant is None else changed.replace(constant=constant)

    @named_keywords
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
        new = {self.names.factor_index(key): table for key, table in tables.items()}
        if len(new) < len(tables):
            raise ProblemError("with_tables names a cost function twice, by its name and by its number")
        cells = {factor: self._cells_of(factor, table) for factor, table in new.items()}
        users = structural(self, _table_users)
        shared = [factor for factor in cells if users[self.factor_table[factor]] > 1]
        if shared:
            return self._unshared(shared).with_tables(cast("Mapping[str | int, Any]", new))
        pool = self.pool.copy()
        for factor, row in cells.items():
            start = self.pool_offsets[self.factor_table[factor]]
            pool[start : start + len(row)] = row
        self._check_definitions(pool)
        return self.replace(pool=handed_over(pool))

    def _check_definitions(self, pool: NDArray[np.float64]) -> None:
        """Refuse other costs in definitions of auxiliary variables."""
        if len(self.auxiliaries.definitions):
            cells = structural(self, _defining_cells)
            if not np.array_equal(pool[cells], self.pool[cells]):
                raise ProblemError("tables that define auxiliary variables, such as those of a sum, cannot be replaced")

    def _cells_of(self, factor: int, table: Any) -> NDArray[np.float64]:
        scope = self.scope(factor).tolist()
        return cost_table(table, [self.names.variable(v) for v in scope], [self.names.labels(v) for v in scope])

    def _unshared(self, factors: list[int]) -> Problem:
        """The same problem with new tables for these factors, behind the others."""
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

    # ---- problems from other data: see `dabp.problem.interop` and `dabp.problem.grid` ----------------

    from_tables = staticmethod(_converter("from_tables"))
    from_networkx = staticmethod(_converter("from_networkx"))
    from_qubo = staticmethod(_converter("from_qubo"))
    from_ising = staticmethod(_converter("from_ising"))
    from_dimod = staticmethod(_converter("from_dimod"))
    from_pgmpy = staticmethod(_converter("from_pgmpy"))
    from_pyagrum = staticmethod(_converter("from_pyagrum"))
    grid = staticmethod(_converter("grid"))

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
            or self.names.variables != other.names.variables
        ):
            return False
        same_labels = all(self.names.labels(i) == other.names.labels(i) for i in range(self.num_variables))
        return same_labels and all(np.array_equal(self.cells(f), other.cells(f)) for f in range(self.num_factors))

    if not TYPE_CHECKING:  # a type checker would take it for a permission to read any name

        def __getattr__(self, name: str) -> Any:
            """Refuse a name that version 0.1 had with the name that replaces it."""
            hint = ""
            if name in _MOVED:
                hint = f"; since version 0.2 it is problem.{_MOVED[name].format(name)}"
            elif name == "minimized":
                hint = "; since version 0.2 it is dabp.problem.facts.minimized(problem)"
            elif name in ("to_dimod", "to_sampleset", "to_tables", "to_toulbar2"):
                hint = f"; since version 0.2 it is dabp.interop.{name}(problem)"
            raise AttributeError(f"a Problem has no attribute {name!r}{hint}")

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


def _table_users(problem: Problem) -> Indices:
    """How many factors use each table, [T]."""
    return np.bincount(problem.factor_table, minlength=len(problem.pool_offsets) - 1)


def _defining_cells(problem: Problem) -> Indices:
    """Places in the pool of the costs that define auxiliary variables."""
    return ragged_positions(problem.pool_offsets, np.unique(problem.factor_table[problem.auxiliaries.definitions]))

"""A problem while it is being read: variables and factors one at a time, checked where they stand in the file."""

from __future__ import annotations

import math
from array import array
from collections.abc import Hashable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from dabp.formats.domains import Domain, compact, typed
from dabp.formats.meter import Line
from dabp.formats.text import Source
from dabp.problem import Label, Problem
from dabp.problem.columns import offsets_of
from dabp.problem.problem import MOST_AXES


class Draft:
    """Collects what a reader finds and becomes a `Problem`; every complaint carries the line it is given.

    Factors and tables are columns from the start: objects of their own would take ten times the memory of the file.
    """

    def __init__(self, source: Source):
        self.source = source
        self.constant = 0.0
        self.maximize = False
        self.sizes: list[int] = []
        self._names: list[str] = []
        self._index: dict[str, int] = {}
        self._domains: dict[Hashable, Domain] = {}
        self._domain_of: list[Domain] = []
        self._checked: set[Domain] = set()
        self._scopes, self._offsets = array("q"), array("q", [0])
        self._pool, self._pool_offsets = np.empty(1024), array("q", [0])
        self._factor_table = array("q")
        self._factor_names: list[str] | None = None  # as long as they are f0, f1, …

    def domain(self, pieces: Sequence[Sequence[Label]], line: Line = None) -> Domain:
        """The domain of these labels, one piece after another.

        Equal domains are one, and all that differ have together no more values than the limit.
        """
        self.source.meter.check_labels(sum(map(len, pieces)), line)
        values = compact(pieces[0] if len(pieces) == 1 else tuple(chain.from_iterable(pieces)))
        key = typed(values)
        if key not in self._domains:
            self.source.meter.take_labels(len(values), line)
            self._domains[key] = Domain(values)
        return self._domains[key]

    def add_variable(self, name: str, domain: int | Domain, line: Line = None) -> int:
        """A new variable with so many values, or with this domain; the index it gets."""
        if name in self._index:
            raise self.source.error(f"variable {name!r} is defined twice", line)
        if not name.isprintable():
            raise self.source.error(f"a name has characters that cannot be printed: {name[:40]!r}", line)
        size = domain if isinstance(domain, int) else len(domain.values)
        if size < 1:
            raise self.source.error(f"variable {name!r} has an empty domain", line)
        self.source.meter.take_values(size, line)
        if isinstance(domain, int):
            domain = self._domains.setdefault(range(size), Domain(range(size)))
        elif domain not in self._checked:
            self._check_labels(name, domain, line)
            self._checked.add(domain)
        self._index[name] = len(self.sizes)
        self.sizes.append(size)
        self._names.append(name)
        self._domain_of.append(domain)
        return len(self.sizes) - 1

    def _check_labels(self, name: str, domain: Domain, line: Line) -> None:
        """Labels can be told apart and shown."""
        if isinstance(domain.values, range):
            return
        for text in domain.values:
            if isinstance(text, str) and not text.isprintable():
                raise self.source.error(f"a name has characters that cannot be printed: {text[:40]!r}", line)
        if len(set(map(str, domain.values))) != len(domain.values):
            raise self.source.error(f"variable {name!r} has two values of one name", line)

    def variable(self, name: str, line: Line = None) -> int:
        """The index of a variable that was added."""
        if name not in self._index:
            raise self.source.error(f"there is no variable {name!r}", line)
        return self._index[name]

    def index_of(self, name: str) -> int | None:
        """The index of a variable, None if there is none of this name."""
        return self._index.get(name)

    def name_of(self, variable: int) -> str:
        """The name of a variable."""
        return self._names[variable]

    def domain_of(self, variable: int) -> Domain:
        """The domain of a variable; the same object for all that share it."""
        return self._domain_of[variable]

    def check_scope(self, scope: Sequence[int], line: Line = None) -> None:
        """Refuse a scope that has a variable twice."""
        if len(set(scope)) != len(scope):
            raise self.source.error("a cost function names a variable twice", line)

    def shape(self, scope: Sequence[int], line: Line = None) -> tuple[int, ...]:
        """The shape of a new table over these variables, within what the limit leaves."""
        self.check_scope(scope, line)
        shape = tuple(self.sizes[v] for v in scope)
        if len(shape) > MOST_AXES:
            raise self.source.error(f"a cost function has {len(shape)} variables; {MOST_AXES} is the most", line)
        self.source.meter.check_cells(math.prod(shape), line)
        return shape

    def add_table(self, table: ArrayLike, line: Line = None) -> int:
        """A table for `add_factor`, which many factors may share."""
        cells = np.asarray(table, dtype=np.float64).ravel()
        self.source.meter.take_cells(cells.size, line)
        bad = np.isnan(cells) | (cells == (np.inf if self.maximize else -np.inf))
        if bad.any():
            raise self.source.error(f"a cost is {cells[bad][0]}; {self.forbidden} is the only infinite one", line)
        start = self._pool_offsets[-1]
        end = start + cells.size
        if end > len(self._pool):  # in place: memory is only given another address, as it would not fit twice
            self._pool.resize(max(end, len(self._pool) * 9 // 8), refcheck=False)
        self._pool[start:end] = cells
        self._pool_offsets.append(end)
        return len(self._pool_offsets) - 2

    @property
    def forbidden(self) -> float:
        """The cost of a forbidden combination."""
        return -math.inf if self.maximize else math.inf

    def add_factor(self, scope: Sequence[int], table: int, name: str | None = None) -> int:
        """A factor on a table that was added, or on one to be told later (−1); its index.

        One without variables goes into the constant, and has the index −1.
        """
        if not len(scope) and math.isfinite(value := self._pool[self._pool_offsets[table]]):
            self.constant += value
            return -1
        self.source.meter.take_factors(1)
        index = len(self._factor_table)
        self._scopes.extend(scope)
        self._offsets.append(len(self._scopes))
        self._factor_table.append(table)
        if self._factor_names is not None:
            self._factor_names.append(f"f{index}" if name is None else name)
        elif name is not None and name != f"f{index}":
            self._factor_names = [*(f"f{i}" for i in range(index)), name]
        return index

    def share_table(self, factor: int, other: int) -> bool:
        """Give a factor the table of another; whether that has the same shape."""
        shapes = [[self.sizes[v] for v in self._scopes[slice(*self._offsets[f : f + 2])]] for f in (factor, other)]
        self._factor_table[factor] = self._factor_table[other]
        return shapes[0] == shapes[1]

    def problem(self, name: str) -> Problem:
        """The finished problem; names and labels that say nothing new are left out."""
        lengths, factor_table = np.diff(self._pool_offsets), np.array(self._factor_table, dtype=np.int64)
        used = np.zeros(len(lengths), dtype=np.bool_)
        used[factor_table] = True
        pool, self._pool = self._pool, np.empty(0)
        pool.resize(self._pool_offsets[-1], refcheck=False)
        if not used.all():  # constants leave tables behind
            pool = pool[np.repeat(used, lengths)]
        names = self._names if any(one != f"x{i}" for i, one in enumerate(self._names)) else None
        return self.source.problem(
            np.array(self.sizes, dtype=np.int64),
            np.array(self._scopes, dtype=np.int64),
            np.array(self._offsets, dtype=np.int64),
            pool,
            offsets_of(lengths[used]),
            (np.cumsum(used) - 1)[factor_table],
            constant=self.constant,
            maximize=self.maximize,
            variable_names=names,
            factor_names=self._factor_names,
            labels=[domain.labels for domain in self._domain_of],
            name=name,
        )

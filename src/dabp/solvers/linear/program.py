"""The linear relaxation of a problem as columns and rows.

A column x_va for each value a of each variable v, x_va ≥ 0 with Σ_a x_va = 1. A table over several variables has a
column for each cell that is allowed, and its cells that have a value add up to the column of the value (the local
polytope). Statements give their own linear rows in place of the tables that they were cut into, sets of values of which
at most one can be taken a row each. What is too large is left out, and counts with the least that it can cost, so that
the optimum remains a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.presolve.exclusion import exclusions
from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.facts import minimized
from dabp.problem.globals.base import Posted, Row
from dabp.problem.guard import Guard

Floats = NDArray[np.float64]

MOST_CELLS = 300_000
"""Columns for cells of tables that a program may have."""

LARGEST_TABLE = 10_000
"""Cells of the largest table that gets columns."""


class Tables(Enum):
    """Which tables of several variables have columns."""

    NONE = "none"
    VISIBLE = "those without auxiliary variables"
    ALL = "all"


@dataclass(frozen=True)
class Program:
    """min c'x + constant with low ≤ Ax ≤ high, 0 ≤ x ≤ upper and, for each variable, Σ_a x_va = 1."""

    starts: Indices
    """The first column of each variable, and the end, [N + 1]."""
    costs: Floats
    """c: of the columns of values, then of cells and violations."""
    upper: Floats
    low: Floats
    high: Floats
    """Bounds of the rows; those of Σ_a x_va = 1 are not among them."""
    row: Indices
    column: Indices
    entry: Floats
    """The entries of A, in the order of rows."""
    constant: float
    origin: tuple[str, ...] = ()
    """The statement of each of the first rows."""

    @property
    def num_values(self) -> int:
        """Columns that are values of variables."""
        return int(self.starts[-1])


@dataclass
class _Rows:
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    row: list[Any] = field(default_factory=list)
    column: list[Any] = field(default_factory=list)
    entry: list[Any] = field(default_factory=list)

    def add(self, columns: Indices, entries: Floats, low: float, high: float) -> None:
        self.row.append(np.full(len(columns), len(self.low)))
        self.column.append(columns)
        self.entry.append(entries)
        self.low.append(low)
        self.high.append(high)


def program_of(problem: Problem, guard: Guard | None = None, *, tables: Tables = Tables.ALL) -> Program:
    """The relaxation of a problem; other tables of several variables than `tables` count with their least cost only."""
    problem = minimized(problem)
    starts = offsets_of(problem.domain_sizes)
    rows, costs, upper = _Rows(), [np.zeros(int(starts[-1]))], [np.ones(int(starts[-1]))]
    count, origin = int(starts[-1]), list[str]()
    stated = np.zeros(problem.num_factors, dtype=np.bool_)
    for posted in problem.auxiliaries.statements:
        found = posted.function.rows(posted.symbols)
        if not found:
            continue
        stated[list(posted.factors)] = True
        for row in found:
            extra = _add_row(rows, posted, row, starts, count)
            origin.append(posted.name)
            costs.append(np.full(len(extra), row.price))
            upper.append(extra)
            count += len(extra)
    kept = np.flatnonzero(~stated)
    least = problem.facts.per_table(np.minimum)
    lengths = np.diff(problem.pool_offsets)
    exact = [problem.constant]
    larger = []
    for f in kept.tolist():
        table = int(problem.factor_table[f])
        arity = int(problem.arities[f])
        if arity == 1:
            v, cells = (
                int(problem.scope(f)[0]),
                problem.pool[problem.pool_offsets[table] : problem.pool_offsets[table + 1]],
            )
            part = slice(int(starts[v]), int(starts[v + 1]))
            upper[0][part][np.isinf(cells)] = 0.0
            costs[0][part] += np.where(np.isinf(cells), 0.0, cells)
        else:
            exact.append(float(least[table]))
            if arity and lengths[table] <= LARGEST_TABLE:
                larger.append(f)
    constant = math.fsum(exact)
    covered = _add_exclusions(problem, rows, starts, kept, guard) if len(kept) else set()
    if tables is not Tables.NONE:
        hidden = problem.num_variables if tables is Tables.ALL else problem.auxiliaries.num_visible
        chosen = [f for f in larger if f not in covered and int(problem.scope(f).max()) < hidden]
        _add_tables(problem, chosen, rows, costs, upper, starts, count)
    if rows.low:
        places, columns, entries = (np.concatenate(part) for part in (rows.row, rows.column, rows.entry))
    else:
        places, columns, entries = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    return Program(
        starts,
        np.concatenate(costs),
        np.concatenate(upper),
        np.array(rows.low),
        np.array(rows.high),
        places.astype(np.int64),
        columns.astype(np.int64),
        entries.astype(np.float64),
        constant,
        tuple(origin),
    )


def _add_row(rows: _Rows, posted: Posted, row: Row, starts: Indices, count: int) -> Floats:
    """A row of a statement; upper bounds of its new columns, by how much it is below and above where it has a price."""
    columns, entries, shift, least, most = [], [], 0.0, 0.0, 0.0
    for variable, own in zip(posted.scope, row.coefficients, strict=True):
        least, most = least + float(own.min()), most + float(own.max())
        if variable < 0:
            shift += float(own[0])
            continue
        used = np.flatnonzero(own)
        columns.append(starts[variable] + used)
        entries.append(own[used])
    extra = []
    if math.isfinite(row.price):
        if row.low > -math.inf and row.low > least:
            columns.append(np.array([count]))
            entries.append(np.array([1.0]))
            extra.append(row.low - least)
        if row.high < math.inf and row.high < most:
            columns.append(np.array([count + len(extra)]))
            entries.append(np.array([-1.0]))
            extra.append(most - row.high)
    nothing = np.zeros(0)
    rows.add(
        np.concatenate([nothing.astype(np.int64), *columns]),
        np.concatenate([nothing, *entries]),
        row.low - shift,
        row.high - shift,
    )
    return np.array(extra)


def _add_exclusions(problem: Problem, rows: _Rows, starts: Indices, kept: Indices, guard: Guard | None) -> set[int]:
    """A row for each set of values of which at most one can be taken; factors that say nothing else."""
    whole = len(kept) == problem.num_factors
    part = problem if whole else _part(problem, kept)
    sets = exclusions(part, guard)
    if not sets:
        return set()
    known = set[tuple[int, int]]()
    for one in sets:
        values = np.concatenate([starts[v] + np.array(own) for v, own in one.items()])
        rows.add(values, np.ones(len(values)), -math.inf, 1.0)
        if len(values) <= 2_000:
            owner = np.concatenate([np.full(len(own), v) for v, own in one.items()])
            order = np.argsort(values)
            values, owner = values[order].tolist(), owner[order].tolist()
            known.update((values[i], values[j]) for i in range(len(values)) for j in range(i) if owner[i] != owner[j])
    covered = set()
    for f in kept.tolist():
        if problem.arities[f] != 2:
            continue
        table = int(problem.factor_table[f])
        cells = _cells(problem, table)
        forbidden = np.flatnonzero(np.isinf(cells))
        finite = cells[np.isfinite(cells)]
        if not len(forbidden) or len(finite) == 0 or (finite != finite[0]).any():
            continue
        x, y = problem.scope(f).tolist()
        first, second = np.divmod(forbidden, problem.domain_sizes[y])
        pairs = zip((starts[x] + first).tolist(), (starts[y] + second).tolist(), strict=True)
        if all((max(pair), min(pair)) in known for pair in pairs):
            covered.add(f)
    return covered


def _cells(problem: Problem, table: int) -> Floats:
    return problem.pool[problem.pool_offsets[table] : problem.pool_offsets[table + 1]]


def _part(problem: Problem, kept: Indices) -> Problem:
    """A problem of these factors."""
    return Problem(
        problem.domain_sizes,
        problem.scope_variables[ragged_positions(problem.scope_offsets, kept)],
        offsets_of(problem.arities[kept]),
        problem.pool,
        problem.pool_offsets,
        problem.factor_table[kept],
    )


def _add_tables(
    problem: Problem,
    factors: list[int],
    rows: _Rows,
    costs: list[Floats],
    upper: list[Floats],
    starts: Indices,
    count: int,
) -> None:
    """Columns and rows of tables, the smallest first, as long as they fit."""
    lengths = np.diff(problem.pool_offsets)[problem.factor_table[factors]] if factors else np.zeros(0, dtype=np.int64)
    added = 0
    for place in np.argsort(lengths, kind="stable").tolist():
        f = factors[place]
        table, scope = int(problem.factor_table[f]), problem.scope(f)
        cells = _cells(problem, table)
        allowed = np.flatnonzero(np.isfinite(cells))
        if len(allowed) == len(cells) and (cells == cells[0]).all():
            continue
        if added + len(allowed) > MOST_CELLS:
            break
        places = np.stack(np.unravel_index(allowed, problem.domain_sizes[scope]))
        least = cells[allowed].min() if len(allowed) else 0.0
        costs.append(cells[allowed] - least)
        upper.append(np.ones(len(allowed)))
        own = count + added + np.arange(len(allowed))
        for axis, v in enumerate(scope.tolist()):
            size = int(problem.domain_sizes[v])
            first = len(rows.low)
            order = np.argsort(places[axis], kind="stable")
            rows.row.append(first + np.concatenate([places[axis][order], np.arange(size)]))
            rows.column.append(np.concatenate([own[order], starts[v] + np.arange(size)]))
            rows.entry.append(np.concatenate([np.ones(len(allowed)), np.full(size, -1.0)]))
            rows.low += [0.0] * size
            rows.high += [0.0] * size
        added += len(allowed)

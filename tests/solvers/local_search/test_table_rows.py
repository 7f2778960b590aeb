"""Rows of tables: every cell where its variable looks for it."""

from __future__ import annotations

from itertools import product

import numpy as np

from dabp.problem import Problem
from dabp.solvers.local_search.table_rows import Entries, TableRows, padded_widths


def test_rows_are_the_tables_along_each_variable() -> None:
    """For each entry and each choice of the others: the cells of the table, less their least."""
    rng = np.random.default_rng(1)
    sizes = [2, 3, 4, 3]
    scopes = [(0, 1), (2, 1), (3, 0, 2), (1, 3), (0, 1, 2, 3)]
    tables = [(scope, rng.random([sizes[v] for v in scope])) for scope in scopes]
    problem = Problem.from_tables(sizes, tables)
    entries = Entries.of(problem)
    rows = TableRows(problem, entries, np.arange(len(entries.variable)), 4, scale=2.0)
    assert len(entries.variable) == sum(map(len, scopes))
    for entry in range(len(entries.variable)):
        own = int(entries.variable[entry])
        others = [v for v in entries.others[entry].tolist() if v >= 0]
        scope, table = next(
            (scope, table) for scope, table in tables if own in scope and set(others) | {own} == set(scope)
        )
        for values in product(*(range(sizes[v]) for v in others)):
            row = int(rows.base_of(np.array([entry]))[0] + (entries.strides[entry, : len(others)] * values).sum())
            chosen = dict(zip(others, values, strict=True))
            line = table[tuple(slice(None) if v == own else chosen[v] for v in scope)]
            np.testing.assert_allclose(rows.costs[row, : sizes[own]], (line - line.min()) / 2.0, atol=1e-6)


def test_shared_tables_share_rows_and_forbidden_cells_cost_the_penalty() -> None:
    """One table of ten factors is laid out twice, once for each place; inf becomes what is asked for."""
    table = np.array([[np.inf, 1.0], [2.0, np.inf]])
    problem = Problem.from_tables([2] * 11, [((i, i + 1), table) for i in range(10)])
    entries = Entries.of(problem)
    rows = TableRows(problem, entries, np.arange(20), 2, scale=1.0)
    assert len(rows.costs) == 4
    rows.forbid(7.0)
    assert np.sort(rows.costs.ravel()).tolist() == [0.0] * 4 + [7.0] * 4


def test_widths_are_the_largest_between_powers_of_two() -> None:
    """So that no row is more than twice as long as it needs to be, and equal domains are not padded at all."""
    assert padded_widths(np.array([1, 2, 3, 4, 5, 300, 300])).tolist() == [1, 2, 4, 4, 5, 300, 300]
    assert padded_widths(np.array([5, 7, 6])).tolist() == [7, 7, 7]

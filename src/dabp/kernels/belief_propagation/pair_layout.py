"""Compiled part of `dabp.graph.message_layout`: the columns of `Pairs`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.belief_propagation.message_arrays import UNIT, Ints
from dabp.kernels.decorators import array_kernel

Array = Any


class Edges(NamedTuple):
    """The edges of a factor graph, and where the messages of its variables lie."""

    by_variable: Ints
    """[E]: `FactorGraph.variable_edges`."""
    start: Ints
    """[N + 1]: the edges of each variable in it."""
    unary_start: Ints
    """[N + 1]: `Variables.unary_start`; a message of a variable is as long as its padded slice there."""
    message_start: Ints
    """[N + 1]: `Variables.message_start`."""
    uniform: int
    """The length of all messages, 0 if they differ."""
    copies: int


class PairGroups(NamedTuple):
    """The K groups of all arities; of those of arity 2 the factors one after the other."""

    first: Ints
    """[K]: the first edge of each, in rising order."""
    binary: NDArray[np.bool_]
    """[K]: whether it is of arity 2."""
    factor: Ints
    """[K]: its first factor in `scope` and `table_index`."""
    table: Ints
    """[K]: its first table in the columns of `PairColumns.number` and `PairColumns.table_order`."""
    senders: Ints
    """[K, 2]: how many values the other variable has, for the first and for the second variable of the scope."""
    cells: Ints
    """[K, 2]: numbers that a table takes whose lanes run over this variable."""
    stack: Ints
    """[K, 2]: where these tables begin."""
    scope: Ints
    """[2F]: the variables of all factors of arity 2."""
    table_index: Ints
    """[F]: which of its group's tables each uses."""


class PairColumns(NamedTuple):
    """What is filled in: columns of `Pairs`, and the order of the tables."""

    table: Ints
    source: NDArray[np.int32]
    rows: NDArray[np.int32]
    number: Ints
    """[2, U]: the place of each table among those of its group, lanes over the first or second variable; −1 before."""
    table_order: Ints
    """[2, U]: the table at each place: tables lie in the order in which variables first use them."""
    used: Ints
    """[K, 2]: how many have a place; 0 before."""


@array_kernel
def fill_pairs(edges: Edges, groups: PairGroups, rank: NDArray[np.int32], columns: PairColumns) -> None:
    """Go through the factors of each variable: which table, whose message, and how long it is."""
    copies, last = edges.copies, len(groups.first) - 1
    group = 0
    for here in range(len(columns.rows)):
        edge = edges.by_variable[here * copies]
        if edge < groups.first[group] or (group < last and edge >= groups.first[group + 1]):
            low, high = 0, last
            while low < high:
                middle = (low + high + 1) // 2
                if edge < groups.first[middle]:
                    high = middle - 1
                else:
                    low = middle
            group = low
        if not groups.binary[group]:
            columns.table[here] = -1
            columns.source[here], columns.rows[here] = 0, 0
            continue
        local = edge - groups.first[group]
        side, factor = local & 1, groups.factor[group] + local // (2 * copies)
        table = groups.table[group] + groups.table_index[factor]
        number = columns.number[side, table]
        if number < 0:
            number = columns.used[group, side]
            columns.number[side, table] = number
            columns.table_order[side, groups.table[group] + number] = groups.table_index[factor]
            columns.used[group, side] += 1
        other, across = groups.scope[2 * factor + 1 - side], rank[edge + 1 - 2 * side]
        position = np.int64(across) * edges.uniform
        if edges.uniform == 0:
            width = edges.unary_start[other + 1] - edges.unary_start[other]
            position = edges.message_start[other] + (across - edges.start[other]) * width
        columns.table[here] = groups.stack[group, side] + number * groups.cells[group, side]
        columns.source[here] = position // UNIT
        columns.rows[here] = groups.senders[group, side]

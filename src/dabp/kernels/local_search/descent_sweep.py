# mypy: disable-error-code="untyped-decorator"
"""Descent (iterated conditional modes): each variable in turn takes the value that is cheapest beside the others'.

What a variable's turn reads is contiguous: for each of its factors of k ≥ 2 variables one *record* of k words,

    first cell of the table, first other variable · k + own place in the scope, the other variables in order.

Only the others' values are read elsewhere, a byte each where domains are small. On a random graph a sweep is then many
times faster than through the scopes, and writing the records takes as long as writing a list of the scopes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel, part
from dabp.kernels.local_search.search_arrays import Floats, Ints

Words = NDArray[Any]
"""32 bits each where cells and variables fit, else 64."""


class Scopes(NamedTuple):
    """Columns of a problem: which variables and which table each factor has."""

    start: Ints  # [F + 1]
    variable: Ints  # [E]
    table: Ints  # [F]
    first_cell: Ints  # [T + 1]
    group: Ints  # for each arity from 2 on, which group of records its factors are in


class Records(NamedTuple):
    """The records of the variables from `first` on, by arity and by variable."""

    first: int
    arity: Ints  # [G]
    start: NDArray[np.int32]  # [G, n + 1]: how many records of the group the variables before each have
    place: Ints  # [G + 1]: where the words of each group begin
    words: Words


class OwnCosts(NamedTuple):
    """The unary costs of every variable, and all tables."""

    domain: Words  # [N]: the number of its values, a byte each where values are
    uniform: int  # the number of values if all variables have as many, else 0
    start: Ints  # [N + 1]
    own: Floats  # [sum D]
    pool: Floats


@array_kernel
def count_records(scopes: Scopes, first: int, last: int, start: NDArray[np.int32]) -> None:
    """Fill `start` [G, last − first + 1], zeros before, for the variables from `first` to `last`."""
    count = last - first
    for f in range(len(scopes.start) - 1):
        begin, end = scopes.start[f], scopes.start[f + 1]
        if end - begin < 2:
            continue
        group = scopes.group[end - begin]
        for e in range(begin, end):
            own = scopes.variable[e] - first
            if 0 <= own < count:
                start[group, own + 1] += 1
    for group in range(start.shape[0]):
        for i in range(count):
            start[group, i + 1] += start[group, i]


@array_kernel
def write_records(scopes: Scopes, first: int, last: int, start: NDArray[np.int32], place: Ints, words: Words) -> None:
    """Fill `words` with the records of the variables from `first` to `last`, factor after factor."""
    count = last - first
    for f in range(len(scopes.start) - 1):
        begin, end = scopes.start[f], scopes.start[f + 1]
        arity = end - begin
        if arity < 2:
            continue
        group, cell = scopes.group[arity], scopes.first_cell[scopes.table[f]]
        for e in range(begin, end):
            own = scopes.variable[e] - first
            if 0 <= own < count:
                record = place[group] + np.int64(start[group, own]) * arity
                start[group, own] += 1
                words[record] = cell
                word = record + 1
                for other in range(begin, end):
                    if other != e:
                        words[word] = scopes.variable[other]
                        word += 1
                words[record + 1] = np.int64(words[record + 1]) * arity + e - begin
    for group in range(start.shape[0]):
        for i in range(count, 0, -1):
            start[group, i] = start[group, i - 1]
        start[group, 0] = 0


@part(_nrt=False)
def _add_pairs(one: int, two: int, size: int, costs: OwnCosts, words: Words, values: Words, sums: Floats) -> None:
    """Add what the factors of two variables in the words from `one` to `two` cost for each value of one of them."""
    pool = costs.pool
    for record in range(one, two, 2):
        cell, code = np.int64(words[record]), np.int64(words[record + 1])
        other = code >> 1
        if code & 1:
            cell += np.int64(values[other]) * size
            for value in range(size):
                sums[value] += pool[cell + value]
        else:
            stride = costs.uniform if costs.uniform else np.int64(costs.domain[other])
            cell += np.int64(values[other])
            for value in range(size):
                sums[value] += pool[cell + value * stride]


@part(_nrt=False)
def _add_factor(record: int, arity: int, size: int, costs: OwnCosts, words: Words, values: Words, sums: Floats) -> None:
    """Add what a factor of `arity` variables costs for each value of one of them."""
    code = np.int64(words[record + 1])
    own, other = code % arity, code // arity
    cell, stride, word = np.int64(0), np.int64(0), record + 2
    for place in range(arity):
        if place == own:
            cell *= size
            stride = np.int64(1)
        else:
            step = costs.uniform if costs.uniform else np.int64(costs.domain[other])
            cell = cell * step + np.int64(values[other])
            stride *= step
            if word < record + arity:
                other = np.int64(words[word])
            word += 1
    cell += np.int64(words[record])
    for value in range(size):
        sums[value] += costs.pool[cell + value * stride]


@array_kernel
def descend(records: Records, costs: OwnCosts, values: Words, sums: Floats, first: int, last: int) -> int:
    """Let the variables from `first` to `last`, which have records, take their cheapest values; how many took another.

    `sums` is as long as the largest domain. A value is left only for a cheaper one, so that the total never rises.
    """
    changed = 0
    arities, starts, places, words, before = records.arity, records.start, records.place, records.words, records.first
    for i in range(first, last):
        size, begin = np.int64(costs.domain[i]), costs.start[i]
        for value in range(size):
            sums[value] = costs.own[begin + value]
        for group in range(len(arities)):
            arity = arities[group]
            one = places[group] + arity * np.int64(starts[group, i - before])
            two = places[group] + arity * np.int64(starts[group, i - before + 1])
            if arity == 2:
                _add_pairs(one, two, size, costs, words, values, sums)
            else:
                for record in range(one, two, arity):
                    _add_factor(record, arity, size, costs, words, values, sums)
        best = int(values[i])
        for value in range(size):
            if sums[value] < sums[best]:
                best = value
        if best != values[i]:
            changed += 1
            values[i] = best
    return changed

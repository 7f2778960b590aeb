"""Domains of files: labels of values, kept and named once for all the variables that share them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import getitem

import numpy as np

from dabp.problem import Label, Problem

Values = range | tuple[Label, ...]
"""Labels in order; consecutive integers are a `range`, however many there are."""


def compact(labels: Sequence[Label]) -> Values:
    """The same labels as a `range`, if they are consecutive integers (1.0 is none), otherwise as a tuple."""
    if isinstance(labels, range):
        return labels
    labels = tuple(labels)
    if set(map(type, labels)) == {int}:
        first = int(labels[0])
        span = range(first, first + len(labels))
        if labels == tuple(span):
            return span
    return labels


def typed(values: Values) -> Hashable:
    """A key for compact labels that tells 1 from 1.0 and 0.0 from -0.0, which Python takes for equal."""
    return values if isinstance(values, range) else tuple(map(repr, values))


class Domain:
    """The values of the variables that share them, in compact form."""

    def __init__(self, values: Values):
        self.values = values

    @cached_property
    def labels(self) -> tuple[Label, ...] | None:
        """What a `Problem` takes: every label, None if they are 0, 1, …."""
        if isinstance(self.values, range):
            return None if self.values.start == 0 else tuple(self.values)
        return self.values

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Where each label stands, by its text; ``index[text]`` raises `KeyError` for any other text."""
        if isinstance(self.values, range):
            return _RangeIndex(self.values)
        return {str(label): i for i, label in enumerate(self.values)}


class _RangeIndex(dict[str, int]):
    """Where integers stand in a range, filled on demand."""

    def __init__(self, values: range):
        self._values = values

    def __missing__(self, text: str) -> int:
        if not re.fullmatch(r"0|-?[1-9][0-9]{0,400}", text) or int(text) not in self._values:
            raise KeyError(text)
        place = self[text] = int(text) - self._values.start
        return place


def named_domains(problem: Problem, prefix: str) -> tuple[dict[str, Values], list[str]]:
    """Name → labels of every different domain of a problem, and the name of each variable's."""
    domains: dict[str, Values] = {}
    names: dict[Hashable, str] = {}
    of_row: dict[int, tuple[str, Sequence[Label]]] = {}  # by id; rows in here stay alive, so that ids stay theirs
    of_variable = []
    for labels in map(problem.names.labels, range(problem.num_variables)):
        if id(labels) not in of_row:
            values = compact(labels)
            name = names.setdefault(typed(values), f"{prefix}{len(names)}")
            if domains.setdefault(name, values) is values:
                of_row[id(labels)] = name, labels
            of_variable.append(name)
        else:
            of_variable.append(of_row[id(labels)][0])
    return domains, of_variable


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names, with underscores at the end of those that occurred before."""
    seen: dict[str, None] = {}
    for name in names:
        while name in seen:
            name += "_"
        seen[name] = None
    return list(seen)


def tuples_by_cost(problem: Problem, factor: int) -> tuple[float, dict[float, list[str]]]:
    """The commonest cost of a factor, and for each other cost its tuples, each with its labels between spaces."""
    table = problem.table(factor)
    labels = [[str(one) for one in problem.names.labels(v)] for v in problem.scope(factor).tolist()]
    costs, inverse, counts = np.unique(table.ravel(), return_inverse=True, return_counts=True)
    common = int(np.argmax(counts))
    cells = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
    groups = {}
    for number, (cost, places) in enumerate(zip(costs.tolist(), cells, strict=True)):
        if number == common:
            continue
        rows = zip(*(axis.tolist() for axis in np.unravel_index(places, table.shape)), strict=True)
        groups[cost] = [" ".join(map(getitem, labels, row)) for row in rows]
    return float(costs[common]), groups

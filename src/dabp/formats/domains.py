"""Domains of files: labels of values, kept and named once for all the variables that share them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

from dabp.problem import Label, Problem

Values = range | tuple[Label, ...]
"""Labels in order; consecutive integers are a `range`, which takes no memory however long it is."""


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
        """Where each label stands, by its text; to be asked with ``index[text]``, which raises `KeyError`."""
        if isinstance(self.values, range):
            return _RangeIndex(self.values)
        return {str(label): i for i, label in enumerate(self.values)}


class _RangeIndex(dict[str, int]):
    """Where integers stand in a range; filled with those that were asked for."""

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
    of_row: dict[int, str] = {}  # rows in here stay alive, so that no other has their id
    rows, of_variable = [], []
    for i in range(problem.num_variables):
        labels = problem.names.labels(i)
        name = of_row.get(id(labels))
        if name is None:
            values = compact(labels)
            name = names.setdefault(typed(values), f"{prefix}{len(names)}")
            if name not in domains:
                domains[name] = values
                of_row[id(labels)] = name
                rows.append(labels)
        of_variable.append(name)
    return domains, of_variable

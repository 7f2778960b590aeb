"""Bayesian networks while they are read, and problems that are one: a distribution of each variable given its parents.

A probability p is a cost of −ln p and p = 0 is forbidden, as in `.uai` files.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.draft import Draft
from dabp.formats.meter import Line
from dabp.formats.text import Source
from dabp.problem import Problem

TOLERANCE = 0.01
"""By how much a distribution in a file may miss 1: people and programs round."""


def costs_of(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """−ln p, without a negative zero."""
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(probabilities)


class Network:
    """Collects variables and distributions, and becomes a problem when every variable has one."""

    def __init__(self, source: Source):
        self.source = source
        self.draft = Draft(source)
        self._defined: set[int] = set()

    def add_variable(self, name: str, states: Sequence[str], line: Line) -> None:
        """A variable and the names of its values."""
        self.draft.add_variable(name, self.draft.domain([tuple(states)], line), line)

    def scope(self, child: str, parents: Sequence[str], line: Line) -> tuple[list[int], tuple[int, ...]]:
        """Parents and child, in this order, and the shape of their table."""
        scope = [self.draft.variable(name, line) for name in (*parents, child)]
        if scope[-1] in self._defined:
            raise self.source.error(f"variable {child[:40]!r} has two distributions", line)
        self._defined.add(scope[-1])
        return scope, self.draft.shape(scope, line)

    def add_table(self, scope: Sequence[int], table: NDArray[np.float64], name: str, line: Line) -> None:
        """The distribution of the last variable given the others; one that does not add up to 1 is reported."""
        wrong = ~(np.isfinite(table) & (table >= 0))
        if wrong.any():
            raise self.source.error(f"a probability of {name[:40]!r} is {table[wrong][0]:g}", line)
        totals = table.sum(axis=-1)
        off = np.abs(totals - 1) > TOLERANCE
        if off.any():
            self.source.warn(f"the probabilities of {name[:40]!r} add up to {totals[off][0]:g}, not to 1", line)
        self.draft.add_factor(scope, self.draft.add_table(costs_of(table), line), name)

    def problem(self, name: str) -> Problem:
        """The finished problem."""
        for i, size in enumerate(self.draft.sizes):
            if i not in self._defined and size > 1:
                raise self.source.error(f"variable {self.draft.name_of(i)[:40]!r} has no distribution")
        return self.draft.problem(name)


def distributions(problem: Problem) -> list[int]:
    """The factor that is each variable's distribution given the others of its scope, in the variables' order.

    Raises `FormatError` if a problem is no Bayesian network: some factor is no distribution, or some variable has not
    exactly one.
    """
    if problem.maximize or problem.constant:
        raise FormatError("this is no Bayesian network: its cost is no negated logarithm of a probability")
    found = np.full(problem.num_variables, -1, dtype=np.int64)
    for f in range(problem.num_factors):
        scope = problem.scope(f).tolist()
        name = problem.names.factor(f)
        if not scope or found[scope[-1]] >= 0:
            raise FormatError(f"this is no Bayesian network: factor {name!r} is a second distribution of its variable")
        found[scope[-1]] = f
        likely = np.exp(np.minimum(-problem.table(f), 1.0))  # any e in it adds up to more than 1; exp(1000) overflows
        if (np.abs(likely.sum(axis=-1) - 1) > 1e-6).any():
            last = problem.names.variable(scope[-1])
            raise FormatError(f"this is no Bayesian network: factor {name!r} does not add up to 1 over {last!r}")
    if (found < 0).any():
        missing = problem.names.variable(int(np.argmax(found < 0)))
        raise FormatError(f"this is no Bayesian network: variable {missing!r} has no distribution")
    return [int(f) for f in found]

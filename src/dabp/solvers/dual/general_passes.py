"""Passes of message passing on the dual of a problem with factors of any arity."""

from __future__ import annotations

import numpy as np

from dabp.kernels.dual.certificate import certified_bound, certified_sum
from dabp.kernels.dual.passes import Relaxation, Scratch, dual_pass
from dabp.problem import Assignment, Problem
from dabp.problem.columns import offsets_of
from dabp.problem.exactness import UNIT_ROUNDOFF
from dabp.problem.incidence import Incidence


class Passes:
    """A problem's relaxation; every pass moves costs between its factors and variables."""

    coarse = False
    """Whether passes are in single precision."""

    def __init__(self, problem: Problem):
        whole, self._problem = Incidence(problem), problem
        self.constant = whole.constant
        lowest = np.full(len(whole.table_start), problem.num_variables)
        np.minimum.at(lowest, whole.factor, whole.variable)
        highest = np.full(len(whole.table_start), -1)
        np.maximum.at(highest, whole.factor, whole.variable)
        message_start = offsets_of(problem.domain_sizes[whole.variable])
        self._relaxation = Relaxation(
            sizes=whole.sizes,
            unary=whole.unary,
            unary_start=whole.unary_start,
            variable=whole.variable,
            stride=whole.stride,
            factor=whole.factor,
            scope_start=whole.scope_start,
            table_start=whole.table_start,
            pool=whole.pool,
            incident=whole.incident,
            incident_start=whole.incident_start,
            is_first=lowest[whole.factor] == whole.variable,
            is_last=highest[whole.factor] == whole.variable,
            message_start=message_start,
            incident_message=message_start[whole.incident],
            messages=np.zeros(message_start[-1]),
        )
        self._scratch = Scratch(
            theta=np.zeros((2, int(problem.domain_sizes.max(initial=1)))),
            digit=np.zeros(whole.longest + 1, dtype=np.int64),
            moved=np.zeros(whole.longest + 1),
        )
        self.messages = self._relaxation.messages
        """M, flat."""
        self.largest = largest_total(problem)
        self._values = np.zeros(problem.num_variables, dtype=np.int64)

    def refine(self) -> None:
        """Nothing: passes are in double precision."""

    def run(self, forward: bool) -> float:
        """One pass; returns the bound, which is not finite if some cost is not."""
        bound, magnitude = dual_pass(forward, self._relaxation, self._scratch, self._values)
        return float(bound) if np.isfinite(magnitude) else -np.inf

    def certified(self) -> float:
        """A bound, without the constant, that the messages prove; not finite if some of them are not."""
        parts = len(self._relaxation.sizes) + len(self._relaxation.table_start)
        return certified_sum([certified_bound(self._relaxation, self._scratch)], parts)

    @property
    def cost(self) -> float:
        """The cost of the assignment that the last pass decoded."""
        return float(self._problem.cost(self._values))

    def decoded(self) -> Assignment:
        """The assignment that the last pass decoded."""
        return self._values.copy()

    def close(self) -> None:
        """Nothing: there are no threads."""


def largest_total(problem: Problem) -> float:
    """An upper limit of the cost of feasible assignments, without the constant."""
    _, highest = problem.facts.finite_extremes
    tops = highest[problem.factor_table[problem.arities > 0]]
    return float(tops.sum()) + UNIT_ROUNDOFF * (len(tops) + 1) * float(np.abs(tops).sum())

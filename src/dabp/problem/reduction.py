"""Exact reductions: a smaller problem, and the way back for its assignments.

Fixing variables (`condition`) is one, presolve another; the driver applies them before a solver
starts, so every solver gets them for free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem import Assignment, Problem
from dabp.problem.columns import offsets_of
from dabp.problem.globals.base import Posted


class Reduction(Protocol):
    """A reduced problem whose optimum, lifted, is an optimum of the original (costs equal, constant included)."""

    @property
    def problem(self) -> Problem:
        """The problem with fewer or smaller variables and factors."""

    def lift(self, assignment: Assignment) -> Assignment:
        """From the reduced problem to the original; the cost stays the same or improves."""

    def project(self, assignment: Assignment) -> Assignment:
        """From the original to the reduced problem (for warm starts); need not keep the cost."""


class Conditioned:
    """A problem with some variables fixed: they are gone from it, their costs folded in."""

    def __init__(self, problem: Problem, fixed: Mapping[int, int]):
        self._values = np.zeros(problem.num_variables, dtype=np.int64)
        keep = np.ones(problem.num_variables, dtype=bool)
        for variable, value in fixed.items():
            if not 0 <= variable < problem.num_variables or not 0 <= value < problem.domain_sizes[variable]:
                raise ProblemError(f"cannot fix variable {variable} to value {value}: there is no such thing")
            self._values[variable], keep[variable] = value, False
        self._kept: NDArray[np.int64] = np.flatnonzero(keep)
        self.problem = self._reduced(problem, keep)

    def lift(self, assignment: Assignment) -> Assignment:
        """Fill in the fixed values."""
        result = self._values.copy()
        result[self._kept] = assignment
        return result

    def project(self, assignment: Assignment) -> Assignment:
        """Drop the fixed variables."""
        return np.asarray(assignment, dtype=np.int64)[self._kept]

    def _reduced(self, problem: Problem, keep: NDArray[np.bool_]) -> Problem:
        number = np.cumsum(keep) - 1
        touched_scope = ~keep[problem.scope_variables]
        touched = np.zeros(problem.num_factors, dtype=bool)
        owner = np.repeat(np.arange(problem.num_factors), problem.arities)
        touched[owner[touched_scope]] = True

        # Untouched factors keep their tables; touched ones get a slice appended to the pool.
        pools = [problem.pool]
        sizes: list[int] = []
        factor_table = problem.factor_table.copy()
        num_tables = len(problem.pool_offsets) - 1
        constant, dropped = problem.constant, np.zeros(problem.num_factors, dtype=bool)
        for f in np.flatnonzero(touched).tolist():
            scope = problem.scope(f)
            wide = scope[problem.domain_sizes[scope] > 1]  # without axes of length 1, of which there may be too many
            index = tuple(slice(None) if keep[v] else int(self._values[v]) for v in wide)
            rest = np.asarray(problem.cells(f).reshape(problem.domain_sizes[wide])[index]).ravel()
            if rest.size == 1 and not keep[scope].any() and np.isfinite(rest[0]):
                constant += float(rest[0])
                dropped[f] = True
                continue
            factor_table[f] = num_tables + len(sizes)
            pools.append(rest)
            sizes.append(rest.size)
        pool_offsets = np.concatenate([problem.pool_offsets, len(problem.pool) + offsets_of(sizes)[1:]])

        in_scope = keep[problem.scope_variables] & ~dropped[owner]
        arities = np.bincount(owner[in_scope], minlength=problem.num_factors)[~dropped]
        kept, labels = self._kept.tolist(), problem.names.value_labels
        return Problem(
            problem.domain_sizes[keep],
            number[problem.scope_variables[in_scope]],
            offsets_of(arities),
            np.concatenate(pools),
            pool_offsets,
            factor_table[~dropped],
            constant=constant,
            maximize=problem.maximize,
            variable_names=[problem.names.variable(i) for i in kept],
            labels=None if labels is None else [labels[i] for i in kept],
            limit=problem.limit,
            name=problem.name,
            statements=[self._fixed(posted, keep, number) for posted in problem.auxiliaries.hard_statements],
        )

    def _fixed(self, posted: Posted, keep: NDArray[np.bool_], number: NDArray[np.int64]) -> Posted:
        """A hard statement with the symbols of fixed variables as constants; it follows from the other factors."""
        symbols = [
            own if keep[variable] else own[[self._values[variable]]]
            for variable, own in zip(posted.scope, posted.symbols, strict=True)
        ]
        scope = tuple(int(number[variable]) if keep[variable] else -1 for variable in posted.scope)
        return posted._replace(scope=scope, symbols=tuple(symbols), factors=())

"""Tables laid out for gathers: for each variable of a factor, a row of costs over its values per choice of others'."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions

MOST = 1e6
"""No scaled cost counts as more than this: costs beyond all ranges come from rounding only."""


class Entries(NamedTuple):
    """One for each (factor, variable) of the scopes of factors with two variables or more."""

    variable: Indices
    table: Indices
    stride: Indices
    """Cells that a step of the variable's own value moves."""
    size: Indices
    """How many values it has."""
    others: Indices
    """The other variables of the scope, −1 beyond its end, [E, largest arity − 1]."""
    strides: Indices
    """Rows that a step of the value of each of them moves, 0 beyond the end."""
    order: Indices
    """Entries by variable, [E]."""
    starts: Indices
    """Where each variable's part of `order` starts, [N + 1]."""

    @classmethod
    def of(cls, problem: Problem) -> Entries:
        """Those of a problem."""
        groups = [group for group in problem.arity_groups if group.variables.shape[1] > 1]
        most = max((group.variables.shape[1] for group in groups), default=2) - 1
        parts: list[tuple[Indices, ...]] = [(*[np.zeros(0, dtype=np.int64)] * 4, *[np.zeros((0, most), np.int64)] * 2)]
        for group in groups:
            count, arity = group.variables.shape
            for place in range(arity):
                own = group.variables[:, place]
                size = problem.domain_sizes[own]
                rest = np.delete(np.arange(arity), place)
                others, strides = np.full((count, most), -1), np.zeros((count, most), dtype=np.int64)
                others[:, : arity - 1] = group.variables[:, rest]
                steps = group.strides[:, rest]
                strides[:, : arity - 1] = np.where(rest < place, steps // size[:, None], steps)
                table = problem.factor_table[group.factors]
                parts.append((own, table, group.strides[:, place], size, others, strides))
        variable, table, stride, size, others, strides = (np.concatenate(column) for column in zip(*parts, strict=True))
        starts = offsets_of(np.bincount(variable, minlength=problem.num_variables))
        order = np.argsort(variable, kind="stable")
        return cls(variable, table, stride, size, others, strides, order, starts)

    def at(self, variables: Indices) -> tuple[Indices, Indices]:
        """The entries of some variables, one variable's after the other's, and how many each has."""
        return self.order[ragged_positions(self.starts, variables)], self.starts[variables + 1] - self.starts[variables]


class TableRows:
    """The rows of some entries, which share those of tables that their factors share.

    Parameters
    ----------
    problem, entries
        Whose tables.
    chosen
        Entries of variables with at most `width` values.
    width
        Length of each row.
    scale
        What costs are divided by.

    Attributes
    ----------
    costs
        The least of each row is 0, which changes nothing for its variable; what is forbidden costs a penalty.
    """

    def __init__(self, problem: Problem, entries: Entries, chosen: Indices, width: int, scale: float):
        keys = np.stack([entries.table[chosen], entries.stride[chosen], entries.size[chosen]], axis=1)
        blocks, which = np.unique(keys, axis=0, return_inverse=True)
        which = which.reshape(-1)
        table, stride, size = blocks.T if len(blocks) else np.zeros((3, 0), dtype=np.int64)
        lengths = (problem.pool_offsets[table + 1] - problem.pool_offsets[table]) // np.maximum(size, 1)
        starts = offsets_of(lengths)
        self._base = np.zeros(len(entries.variable), dtype=np.int64)
        self._base[chosen] = starts[which]
        block = np.repeat(np.arange(len(blocks)), lengths)
        row, step = np.arange(starts[-1]) - starts[block], stride[block]
        first = (
            problem.pool_offsets[table[block]]
            + row // np.maximum(step, 1) * step * size[block]
            + row % np.maximum(step, 1)
        )
        value = np.arange(width)
        cells = first[:, None] + np.minimum(value, size[block][:, None] - 1) * step[:, None]
        costs = problem.pool[cells]
        own = value < size[block][:, None]
        barred = np.isinf(costs) & own
        self._forbidden = np.flatnonzero(barred)
        least = np.where(own, costs, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        costs[barred | ~own] = 0.0  # values that a variable does not have cost what it says of itself
        with np.errstate(over="ignore"):
            costs = np.maximum(costs / scale - np.where(np.isfinite(least), least, 0.0) / scale, 0.0)
        self.costs: NDArray[np.float32] = np.minimum(costs, MOST).astype(np.float32)
        self.forbid(1.0)

    def base_of(self, chosen: Indices) -> Indices:
        """The first row of each entry."""
        return self._base[chosen]

    def forbid(self, penalty: float) -> None:
        """Let what is forbidden cost this."""
        self.costs.reshape(-1)[self._forbidden] = penalty


def padded_widths(sizes: Indices) -> Indices:
    """The length of each variable's rows: the largest number of values between the same powers of two, [N]."""
    bucket = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    largest = np.zeros(int(bucket.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(largest, bucket, sizes)
    return largest[bucket]

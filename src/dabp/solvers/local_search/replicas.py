"""Many assignments of one problem, updated together in NumPy: nothing to compile.

Variables that share no factor (a *class*) can change at once, and each in all replicas at once. For every variable of
a class and each of its factors the row of costs over the variable's own values is gathered, the rows of a variable are
added up, and new values are drawn for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, ragged_positions, table_ranges, unary_costs
from dabp.solvers.local_search.classes import class_of_each
from dabp.solvers.local_search.table_rows import Entries, TableRows, padded_widths

Costs = NDArray[np.float32]

NOISE = 2**20
"""Random numbers that are drawn once, and used again from different places on."""

LARGEST = 1e300
"""No range of costs counts as more than this."""

NEVER = 1e30
"""What values cost that a variable does not have or that are forbidden by themselves."""


MOST_PENALTY = 1e6
"""Of a forbidden combination, in scaled costs."""


class _Level(NamedTuple):
    """Entries of a class, `depth` for each of its first `length` variables."""

    length: int
    depth: int


class _Class(NamedTuple):
    """Variables that share no factor, those with most factors first, and the entries of these."""

    variables: Indices
    rows: TableRows
    base: Indices
    """The row of each entry if all others take their first value, [e, 1]; a level's entries are adjacent."""
    others: tuple[Indices, ...]
    """The other variables of each entry's scope, place by place, [e]."""
    strides: tuple[Indices | None, ...]
    """Rows that a step of the value of each of them moves, [e, 1]; None where it is 1 for all."""
    levels: tuple[_Level, ...]
    unary: Costs
    """Own costs of their values, [n, 1, width]."""

    def local_costs(self, values: Indices) -> Costs:
        """What each value of each variable would cost in each replica, but for a constant, [n, replicas, width]."""
        total = np.repeat(self.unary, values.shape[1], axis=1)
        if not self.levels:
            return total
        rows = values.take(self.others[0], axis=0)
        if (stride := self.strides[0]) is not None:
            rows *= stride
        for other, stride in zip(self.others[1:], self.strides[1:], strict=True):
            rows += values.take(other, axis=0) * (1 if stride is None else stride)
        rows += self.base
        gathered = self.rows.costs.take(rows, axis=0)
        done = 0
        for length, depth in self.levels:
            part = gathered[done : done + length * depth]
            done += length * depth
            total[:length] += part if depth == 1 else part.reshape(depth, length, *part.shape[1:]).sum(axis=0)
        return total


class Replicas:
    """A problem's tables as rows, and sweeps over all variables in all replicas.

    Costs are divided by `scale`, the largest range of a factor's. Forbidden combinations cost a `penalty`, at first as
    much as that.

    Parameters
    ----------
    problem
        A minimisation.
    rng
        Of the noise and the random assignments.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator):
        self._rng = rng
        self._sizes = problem.domain_sizes
        _, ranges = table_ranges(problem)
        used = ranges[problem.factor_table[problem.arities > 0]]
        self.scale = min(float(used.max(initial=0.0)), LARGEST) or 1.0
        self.penalty = 1.0
        widths = padded_widths(problem.domain_sizes)
        entries = Entries.of(problem)
        self._rows = {
            width: TableRows(problem, entries, np.flatnonzero(widths[entries.variable] == width), width, self.scale)
            for width in np.unique(widths).tolist()
        }
        unary, starts = unary_costs(problem)
        colours = class_of_each(problem)
        order = np.lexsort((widths, colours))
        breaks = np.flatnonzero(np.diff(colours[order]) | np.diff(widths[order])) + 1
        self._classes = [
            self._class(members, entries, _own(unary / self.scale, starts, members, int(widths[members[0]])))
            for members in np.split(order, breaks)
        ]
        self._noise = _log_exponential(rng, NOISE)

    @property
    def gathered(self) -> int:
        """Costs that a sweep gathers for each replica."""
        return sum((len(each.base) + len(each.variables)) * each.unary.shape[2] for each in self._classes)

    def _class(self, members: Indices, entries: Entries, unary: Costs) -> _Class:
        """Lay out the entries of a class, level by level."""
        rows = self._rows[unary.shape[2]]
        found, degree = entries.at(members)
        order = np.argsort(-degree, kind="stable")
        most = int(degree.max(initial=0))
        counts = np.searchsorted(-degree[order], -np.arange(most), side="left")  # with more than so many entries
        starts = np.concatenate([[0], np.cumsum(degree)])[:-1][order]
        place = [starts[:count] + depth for depth, count in enumerate(counts.tolist())]
        chosen = found[np.concatenate([np.zeros(0, dtype=np.int64), *place])]
        depths = np.unique(counts, return_counts=True)
        levels = [_Level(int(c), int(d)) for c, d in zip(*depths, strict=True)][::-1]
        arity = int((entries.others[chosen] >= 0).sum(axis=1).max(initial=0))
        strides = [entries.strides[chosen, k][:, None] for k in range(arity)]
        return _Class(
            variables=members[order],
            rows=rows,
            base=rows.base_of(chosen)[:, None],
            others=tuple(np.maximum(entries.others[chosen, k], 0) for k in range(arity)),
            strides=tuple(None if (stride == 1).all() else stride for stride in strides),
            levels=tuple(levels),
            unary=unary[order],
        )

    def random_assignments(self, count: int) -> Indices:
        """So many, in columns, [N, count]."""
        return self._rng.integers(0, self._sizes[:, None], (len(self._sizes), count))

    def sweep(self, values: Indices, temperature: float) -> None:
        """Draw every variable of every replica anew from P(a) ∝ exp(−L[a] / T), one class after the other, in place.

        The least of L[a] + T ln e with e from the exponential distribution is such a draw; with T = 0 it is the best.
        """
        for each in self._classes:
            costs = each.local_costs(values)
            if temperature > 0:
                costs += temperature * self._drawn(costs.size).reshape(costs.shape)
            values[each.variables] = costs.argmin(axis=2)

    def _drawn(self, count: int) -> Costs:
        if count > NOISE // 2:
            return _log_exponential(self._rng, count)
        start = int(self._rng.integers(0, NOISE - count))
        return self._noise[start : start + count]

    def penalise(self, factor: float) -> None:
        """Let forbidden combinations cost so many times more."""
        self.penalty = min(self.penalty * factor, MOST_PENALTY)
        for rows in self._rows.values():
            rows.forbid(self.penalty)

    def rises(self, values: Indices, most: int) -> tuple[Indices, NDArray[np.float64]]:
        """What the values of some variables of the first replica cost more than theirs: whose, and how much."""
        owners, rises, seen = [], [], 0
        for each in self._classes:
            costs = each.local_costs(values[:, :1])[:, 0].astype(np.float64)
            rise = costs - np.take_along_axis(costs, values[each.variables, :1], axis=1)
            own = costs < NEVER / 2
            owners.append(np.repeat(np.arange(seen, seen + len(costs)), own.sum(axis=1)))
            rises.append(rise[own])
            seen += len(costs)
            if seen >= most:
                break
        return np.unique(np.concatenate(owners), return_inverse=True)[1], np.concatenate(rises)


def _log_exponential(rng: np.random.Generator, count: int) -> Costs:
    """Logarithms of draws from the exponential distribution, which in single precision can be 0."""
    return np.log(np.maximum(rng.standard_exponential(count, dtype=np.float32), np.float32(1e-30)))


def _own(costs: NDArray[np.float64], starts: Indices, members: Indices, width: int) -> Costs:
    """Unary costs of a class in rows of one width, the least of each 0, [n, 1, width]."""
    sizes = starts[members + 1] - starts[members]
    rows = np.full((len(members), width), np.inf)
    rows[np.arange(width) < sizes[:, None]] = costs[ragged_positions(starts, members)]
    least = rows.min(axis=1, keepdims=True)
    rows -= np.where(np.isfinite(least), least, 0.0)
    limited: Costs = np.minimum(rows, NEVER).astype(np.float32)[:, None]
    return limited

# mypy: disable-error-code="untyped-decorator"
"""Moves of free variables that take along those which follow from them.

A move gives one or two free variables other values; what follows from them is found by definitions in order, each of
which looks up, for the values of the variables before it, the one value that its table leaves. Only what changes is
looked at again: a definition whose variable keeps its value ends the wave. Forbidden combinations count as violations,
at a weight that rises while the search stays among them and falls while it does not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import local_kernel
from dabp.kernels.local_search.random_stream import below, uniform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CHANGED, WAITING, LOOKED, TOUCHED, VIOLATIONS, FEASIBLE, STREAK, STAMP = range(8)
"""Places of `Wave.tally`: how many entries the four lists have; how many factors and definitions are violated, whether
the best violates none; moves in a row that were, or were not (negative), among violations; the number of this move."""

SOFT, BEST, WEIGHT = range(3)
"""Places of `Wave.costs`: the finite cost, the best without violations, what a violation weighs."""

SOFT_CHANGE, VIOLATION_CHANGE = range(2)
"""Places of `Wave.change`."""

TRIES = 8
"""Variables that are looked at to find one with another value to exchange with."""


class Web(NamedTuple):
    """A problem by what follows from what; N variables, M definitions in order, K other factors."""

    sizes: Ints
    """Domain sizes, [N]."""
    free: Ints
    """Variables that follow from none and have more than one value."""
    follower_start: Ints
    """Where each variable's part of `follower` starts, [N + 1]."""
    follower: Ints
    """Definitions that look at a variable."""
    target: Ints
    """The variable that each definition gives a value, [M]."""
    parent_start: Ints
    """Where each definition's part of the next two starts, [M + 1]."""
    parent: Ints
    """The variables that it looks at."""
    parent_stride: Ints
    """How many rows one value of each moves."""
    row_start: Ints
    """The first row of each definition, [M]."""
    choice: Ints
    """What each row chooses."""
    row_cost: Floats
    """What that costs, inf if the row allows nothing."""
    factor_start: Ints
    """Where each variable's part of `factor` starts, [N + 1]."""
    factor: Ints
    """Factors, other than definitions, that look at a variable."""
    scope_start: Ints
    """Where each factor's part of the next two starts, [K + 1]."""
    scope: Ints
    """The variables of the scopes."""
    scope_stride: Ints
    """How far one value of each moves in the table."""
    first_cell: Ints
    """Where each factor's table starts in `pool`, [K]."""
    pool: Floats
    """The cells of all tables."""


class Wave(NamedTuple):
    """Where a search stands, and the move that it looks at."""

    x: Ints
    """[N]."""
    best: Ints
    """[N]."""
    row_paid: Floats
    """What each definition costs now, [M]."""
    paid: Floats
    """What each factor costs now, [K]."""
    changed: Ints
    """Variables that the move changes, [N]."""
    before: Ints
    """Their values before it."""
    waiting: Ints
    """Definitions to look at, the next one last, [M]."""
    queued: NDArray[np.uint8]
    """Whether each is among them, [M]."""
    looked: Ints
    """Definitions that were looked at, [M]."""
    row_new: Floats
    """What they cost after the move."""
    touched: Ints
    """Factors that the move touches, [K]."""
    new: Floats
    """What they cost after it."""
    stamp: Ints
    """The move that last touched each, [K]."""
    tally: Ints
    costs: Floats
    change: Floats
    random: NDArray[np.uint64]


@array_inner
def _give(c: Web, s: Wave, i: int, value: int) -> None:
    """Give a variable another value, and have what follows from it looked at."""
    count = s.tally[CHANGED]
    s.changed[count] = i
    s.before[count] = s.x[i]
    s.tally[CHANGED] = count + 1
    s.x[i] = value
    for q in range(c.follower_start[i], c.follower_start[i + 1]):
        d = c.follower[q]
        if s.queued[d]:
            continue
        s.queued[d] = 1
        at = s.tally[WAITING]
        while at > 0 and s.waiting[at - 1] < d:
            s.waiting[at] = s.waiting[at - 1]
            at -= 1
        s.waiting[at] = d
        s.tally[WAITING] += 1


@array_inner
def _count(s: Wave, old: Any, new: Any) -> None:
    """Add what one cost changes by."""
    if old == np.inf:
        s.change[VIOLATION_CHANGE] -= 1.0
    else:
        s.change[SOFT_CHANGE] -= old
    if new == np.inf:
        s.change[VIOLATION_CHANGE] += 1.0
    else:
        s.change[SOFT_CHANGE] += new


@array_inner
def _row(c: Web, s: Wave, d: int) -> Any:
    """The row that the values of a definition's variables choose."""
    row = c.row_start[d]
    for q in range(c.parent_start[d], c.parent_start[d + 1]):
        row += s.x[c.parent[q]] * c.parent_stride[q]
    return row


@array_inner
def _cell(c: Web, s: Wave, f: int) -> Any:
    """The cell of a factor that the assignment chooses."""
    cell = c.first_cell[f]
    for q in range(c.scope_start[f], c.scope_start[f + 1]):
        cell += s.x[c.scope[q]] * c.scope_stride[q]
    return cell


@array_inner
def _settle(c: Web, s: Wave) -> None:
    """Take along what follows from the changed variables, and find what the move costs."""
    s.tally[LOOKED] = 0
    while s.tally[WAITING] > 0:
        s.tally[WAITING] -= 1
        d = s.waiting[s.tally[WAITING]]
        s.queued[d] = 0
        row = _row(c, s, d)
        s.looked[s.tally[LOOKED]] = d
        s.row_new[s.tally[LOOKED]] = c.row_cost[row]
        s.tally[LOOKED] += 1
        _count(s, s.row_paid[d], c.row_cost[row])
        if s.x[c.target[d]] != c.choice[row]:
            _give(c, s, c.target[d], c.choice[row])
    s.tally[TOUCHED] = 0
    s.tally[STAMP] += 1
    for k in range(s.tally[CHANGED]):
        i = s.changed[k]
        for q in range(c.factor_start[i], c.factor_start[i + 1]):
            f = c.factor[q]
            if s.stamp[f] == s.tally[STAMP]:
                continue
            s.stamp[f] = s.tally[STAMP]
            cost = c.pool[_cell(c, s, f)]
            s.touched[s.tally[TOUCHED]] = f
            s.new[s.tally[TOUCHED]] = cost
            s.tally[TOUCHED] += 1
            _count(s, s.paid[f], cost)


@array_inner
def _keep(s: Wave) -> None:
    """Make the move."""
    for k in range(s.tally[LOOKED]):
        s.row_paid[s.looked[k]] = s.row_new[k]
    for k in range(s.tally[TOUCHED]):
        s.paid[s.touched[k]] = s.new[k]
    s.costs[SOFT] += s.change[SOFT_CHANGE]
    s.tally[VIOLATIONS] += np.int64(s.change[VIOLATION_CHANGE])


@array_inner
def _undo(s: Wave) -> None:
    """Do not make it."""
    for k in range(s.tally[CHANGED] - 1, -1, -1):
        s.x[s.changed[k]] = s.before[k]


@array_inner
def _propose(c: Web, s: Wave) -> None:
    """Change one free variable, or two, which may exchange their values."""
    s.tally[CHANGED] = 0
    s.change[SOFT_CHANGE] = 0.0
    s.change[VIOLATION_CHANGE] = 0.0
    count = len(c.free)
    i = c.free[below(s.random, count)]
    kind = below(s.random, 4)
    if kind == 0 and count > 1:
        for _ in range(TRIES):
            j = c.free[below(s.random, count)]
            a, b = s.x[i], s.x[j]
            if a != b and a < c.sizes[j] and b < c.sizes[i]:
                _give(c, s, i, b)
                _give(c, s, j, a)
                return
    _give(c, s, i, (s.x[i] + 1 + below(s.random, c.sizes[i] - 1)) % c.sizes[i])
    if kind == 1 and count > 1:
        j = c.free[below(s.random, count)]
        if j != i:
            _give(c, s, j, (s.x[j] + 1 + below(s.random, c.sizes[j] - 1)) % c.sizes[j])


@array_inner
def _remember(s: Wave) -> None:
    """Keep the assignment if it violates nothing and is the best so far."""
    if s.tally[VIOLATIONS] > 0 or (s.tally[FEASIBLE] and s.costs[SOFT] >= s.costs[BEST]):
        return
    s.costs[BEST] = s.costs[SOFT]
    s.tally[FEASIBLE] = 1
    for i in range(len(s.x)):
        s.best[i] = s.x[i]


@local_kernel
def settle_all(c: Web, s: Wave) -> None:
    """Give all that follows its value, and find what the assignment costs."""
    s.costs[SOFT] = 0.0
    s.tally[VIOLATIONS] = 0
    for d in range(len(c.target)):
        row = _row(c, s, d)
        s.x[c.target[d]] = c.choice[row]
        s.row_paid[d] = c.row_cost[row]
        if s.row_paid[d] == np.inf:
            s.tally[VIOLATIONS] += 1
        else:
            s.costs[SOFT] += s.row_paid[d]
    for f in range(len(c.first_cell)):
        s.paid[f] = c.pool[_cell(c, s, f)]
        if s.paid[f] == np.inf:
            s.tally[VIOLATIONS] += 1
        else:
            s.costs[SOFT] += s.paid[f]
    _remember(s)


@local_kernel
def try_moves(c: Web, s: Wave, changes: Floats) -> None:
    """What the finite costs would change by in some moves, none of which is made."""
    for k in range(len(changes)):
        _propose(c, s)
        _settle(c, s)
        changes[k] = s.change[SOFT_CHANGE]
        _undo(s)


@local_kernel
def follow(
    c: Web, s: Wave, moves: int, hot: float, ratio: float, patience: int, growth: float, heaviest: float
) -> None:
    """Offer moves, made with probability min(1, e^(−Δ / T)), Δ with the weight of violations; T falls by `ratio` each.

    After `patience` moves in a row among violations their weight grows by `growth`, after as many without any it falls.
    Beyond `heaviest` it is the finite costs that weigh less, until nothing is violated: where many moves leave what is
    violated violated, the search then wanders, wherever these costs would have it stay.
    """
    temperature = hot
    for _ in range(moves):
        _propose(c, s)
        _settle(c, s)
        rise = s.change[SOFT_CHANGE] + s.costs[WEIGHT] * s.change[VIOLATION_CHANGE]
        warmth = temperature * max(1.0, s.costs[WEIGHT] / heaviest)
        if rise <= 0.0 or uniform(s.random) < np.exp(-rise / warmth):
            _keep(s)
            _remember(s)
        else:
            _undo(s)
        temperature *= ratio
        if s.tally[VIOLATIONS] > 0:
            s.tally[STREAK] = max(s.tally[STREAK], 0) + 1
            if s.tally[STREAK] >= patience:
                s.costs[WEIGHT] *= growth
                s.tally[STREAK] = 0
        else:
            s.tally[STREAK] = min(s.tally[STREAK], 0) - 1
            s.costs[WEIGHT] = min(s.costs[WEIGHT], heaviest)
            if s.tally[STREAK] <= -patience:
                s.costs[WEIGHT] /= growth
                s.tally[STREAK] = 0

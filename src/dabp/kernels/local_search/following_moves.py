"""Moves of free variables together with those that follow from them.

A move gives one or two free variables other values. Definitions, in order, find what follows: each reads, for the
values of its parents, the one value that its table leaves. A definition whose variable keeps its value ends the wave.
Violations have a weight that rises while the search stays among them and falls while it does not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import local_kernel
from dabp.kernels.local_search.random_stream import below, uniform
from dabp.kernels.local_search.search_arrays import Floats, Ints, Record

PROGRESS = np.dtype(
    [
        ("soft", np.float64),  # the finite cost of the assignment
        ("best", np.float64),  # the least cost without violations
        ("feasible", np.int64),  # 1 if there is an assignment without violations, else 0
        ("violations", np.int64),  # factors that forbid the assignment
        ("weight", np.float64),  # what a violation weighs
        ("streak", np.int64),  # moves in a row among violations; negative: without any
        ("soft_change", np.float64),  # what the move changes of the finite cost
        ("violation_change", np.int64),  # and of the number of violations
        ("changed", np.int64),  # entries of `Wave.changed`
        ("waiting", np.int64),  # entries of `Wave.waiting`
        ("touched", np.int64),  # entries of `Wave.touched`
        ("stamp", np.int64),  # the number of the move
    ],
    align=True,
)
"""The numbers of `Wave.progress`."""


class Web(NamedTuple):
    """A problem and what follows from what; N variables, M definitions in order, K factors."""

    sizes: Ints  # domain sizes, [N]
    free: Ints  # variables of more than one value that follow from none
    follower_start: Ints  # where each variable's part of `follower` begins, [N + 1]
    follower: Ints  # the definitions with this parent
    target: Ints  # the variable of each definition, [M]
    parent_start: Ints  # where each definition's part of the next two begins, [M + 1]
    parent: Ints  # the variables that the definition reads
    parent_stride: Ints  # rows between two values of each parent
    row_start: Ints  # the first row of each definition, [M]
    choice: Ints  # the value that each row leaves
    factor_start: Ints  # where each variable's part of `factor` begins, [N + 1]
    factor: Ints  # the factors of this variable
    scope_start: Ints  # where each factor's part of the next two begins, [K + 1]
    scope: Ints  # the variables of the scopes
    scope_stride: Ints  # cells between two values of each
    first_cell: Ints  # where each factor's table begins in `pool`, [K]
    pool: Floats


class Wave(NamedTuple):
    """The state of a search, and the move that it looks at."""

    x: Ints  # [N]
    best: Ints  # [N]
    paid: Floats  # the present cost of each factor, [K]
    changed: Ints  # variables that the move changes, [N + 2]
    before: Ints  # their values before it
    waiting: Ints  # definitions to compute, the next one last, [M]
    queued: NDArray[np.uint8]  # whether each is among them, [M]
    touched: Ints  # factors that the move touches, [K]
    new: Floats  # their costs after it
    stamp: Ints  # the move that last touched each factor, [K]
    progress: Record  # `PROGRESS`, []
    random: NDArray[np.uint64]


class Cooling(NamedTuple):
    """How a search goes."""

    moves: int
    temperature: float  # of the first move
    ratio: float  # by which it falls with each
    patience: int  # moves in a row with violations, or without, after which their weight changes
    growth: float  # by how much
    heaviest: float  # beyond this weight, finite costs weigh less instead


@array_inner
def _give(c: Web, s: Wave, i: int, value: int) -> None:
    """Give a variable another value, and queue the definitions that read it."""
    now = s.progress[()]
    s.changed[now.changed] = i
    s.before[now.changed] = s.x[i]
    now.changed += 1
    s.x[i] = value
    for q in range(c.follower_start[i], c.follower_start[i + 1]):
        d = c.follower[q]
        if s.queued[d]:
            continue
        s.queued[d] = 1
        at = now.waiting
        while at > 0 and s.waiting[at - 1] < d:
            s.waiting[at] = s.waiting[at - 1]
            at -= 1
        s.waiting[at] = d
        now.waiting += 1


@array_inner
def _choice(c: Web, s: Wave, d: int) -> Any:
    """The value that the parents of a definition leave its variable."""
    row = c.row_start[d]
    for q in range(c.parent_start[d], c.parent_start[d + 1]):
        row += s.x[c.parent[q]] * c.parent_stride[q]
    return c.choice[row]


@array_inner
def _cost(c: Web, s: Wave, f: int) -> Any:
    """The cost of a factor."""
    cell = c.first_cell[f]
    for q in range(c.scope_start[f], c.scope_start[f + 1]):
        cell += s.x[c.scope[q]] * c.scope_stride[q]
    return c.pool[cell]


@array_inner
def _settle(c: Web, s: Wave) -> None:
    """Change what follows from the changed variables, and compute what the move costs."""
    now = s.progress[()]
    while now.waiting > 0:
        now.waiting -= 1
        d = s.waiting[now.waiting]
        s.queued[d] = 0
        value = _choice(c, s, d)
        if s.x[c.target[d]] != value:
            _give(c, s, c.target[d], value)
    now.touched = 0
    now.stamp += 1
    now.soft_change = 0.0
    now.violation_change = 0
    for k in range(now.changed):
        i = s.changed[k]
        for q in range(c.factor_start[i], c.factor_start[i + 1]):
            f = c.factor[q]
            if s.stamp[f] == now.stamp:
                continue
            s.stamp[f] = now.stamp
            old, new = s.paid[f], _cost(c, s, f)
            s.touched[now.touched] = f
            s.new[now.touched] = new
            now.touched += 1
            if old == np.inf:
                now.violation_change -= 1
            else:
                now.soft_change -= old
            if new == np.inf:
                now.violation_change += 1
            else:
                now.soft_change += new


@array_inner
def _undo(s: Wave) -> None:
    for k in range(s.progress[()].changed - 1, -1, -1):
        s.x[s.changed[k]] = s.before[k]


@array_inner
def _propose(c: Web, s: Wave) -> None:
    """Change one free variable, or two, which may exchange their values."""
    s.progress[()].changed = 0
    count = len(c.free)
    i = c.free[below(s.random, count)]
    kind = below(s.random, 4)
    if kind == 0 and count > 1:
        for _ in range(8):  # until one with another value is found
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
    now = s.progress[()]
    if now.violations > 0 or (now.feasible and now.soft >= now.best):
        return
    now.best = now.soft
    now.feasible = 1
    for i in range(len(s.x)):
        s.best[i] = s.x[i]


@local_kernel
def settle_all(c: Web, s: Wave) -> None:
    """Give all definitions their values, and compute what the assignment costs."""
    now = s.progress[()]
    for d in range(len(c.target)):
        s.x[c.target[d]] = _choice(c, s, d)
    now.soft = 0.0
    now.violations = 0
    for f in range(len(c.first_cell)):
        s.paid[f] = _cost(c, s, f)
        if s.paid[f] == np.inf:
            now.violations += 1
        else:
            now.soft += s.paid[f]
    _remember(s)


@local_kernel
def try_moves(c: Web, s: Wave, changes: Floats) -> None:
    """What the finite costs would change by in some moves, none of which is made."""
    for k in range(len(changes)):
        _propose(c, s)
        _settle(c, s)
        changes[k] = s.progress[()].soft_change
        _undo(s)


@local_kernel
def follow(c: Web, s: Wave, rules: Cooling) -> None:
    """Offer moves, made with probability min(1, e^(−Δ / T)), Δ with the weight of violations.

    Beyond `heaviest` finite costs weigh less: where violations stay whatever moves are made, the search then wanders.
    """
    now, temperature = s.progress[()], rules.temperature
    for _ in range(rules.moves):
        _propose(c, s)
        _settle(c, s)
        rise = now.soft_change + now.weight * now.violation_change
        warmth = temperature * max(1.0, now.weight / rules.heaviest)
        if rise <= 0.0 or uniform(s.random) < np.exp(-rise / warmth):
            for k in range(now.touched):
                s.paid[s.touched[k]] = s.new[k]
            now.soft += now.soft_change
            now.violations += now.violation_change
            _remember(s)
        else:
            _undo(s)
        temperature *= rules.ratio
        if now.violations > 0:
            now.streak = max(now.streak, 0) + 1
            if now.streak >= rules.patience:
                now.weight *= rules.growth
                now.streak = 0
        else:
            now.streak = min(now.streak, 0) - 1
            now.weight = min(now.weight, rules.heaviest)
            if now.streak <= -rules.patience:
                now.weight /= rules.growth
                now.streak = 0

"""Local search on a table of local costs, compiled.

The table has, for variable i and value a, what the factors at i would cost if i took a and all others stayed:

    L[i, a] = u_i(a) + Σ_{f ∋ i} f(x with x_i = a) + Σ_{f ∋ i} w_f · [f forbids x with x_i = a]

so that a move i → b changes the weighted cost by L[i, b] − L[i, x_i], and only the rows of i's neighbours change
with it. Costs are integers (the caller scales them), so that nothing ever drifts. Rows are padded to a
multiple of `LANES` with costs no search chooses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.search_arrays import (
    BEST,
    FEASIBLE,
    JOURNAL,
    LANES,
    LEVEL,
    ROW,
    SOFT,
    VIOLATIONS,
    WEIGHTED,
    Costs,
    State,
)
from dabp.kernels.simd import full_like, item, load, store, widened


@inlined
def add_difference(local: NDArray[Any], row: int, table: NDArray[Any], plus: int, minus: int, width: int) -> None:
    """``local[row:] += table[plus:] − table[minus:]`` over a padded row."""
    for k in range(0, width, LANES):
        costs = load(local, row + k, ROW)
        change = widened(load(table, plus + k, ROW), costs) - widened(load(table, minus + k, ROW), costs)
        store(local, row + k, costs + change)


@inlined
def add_weighted(local: NDArray[Any], row: int, table: NDArray[Any], start: int, width: int, weight: int) -> None:
    """``local[row:] += weight · table[start:]`` over a padded row."""
    for k in range(0, width, LANES):
        costs = load(local, row + k, ROW)
        store(local, row + k, costs + full_like(weight, costs) * widened(load(table, start + k, ROW), costs))


@array_inner
def change_violated(s: State, factor: int, change: Any) -> None:
    """A factor begins (+1) or ceases (−1) to forbid the assignment."""
    count = s.tally[VIOLATIONS]
    if change > 0:
        s.violated[count] = factor
        s.place[factor] = count
    else:
        last, hole = s.violated[count - 1], s.place[factor]
        s.violated[hole] = last
        s.place[last] = hole
        s.place[factor] = -1
    s.tally[VIOLATIONS] = count + change
    s.tally[WEIGHTED] += change * s.weights[factor]


@inlined
def _place_wide(c: Costs, s: State) -> Any:
    """The part of `restart` for factors of arity 3 or more; gives their finite cost."""
    own: Any = 0
    for f in range(len(s.position)):
        at = 0
        for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
            at += s.x[c.wide.scope_variable[q]] * c.wide.scope_stride[q]
        s.position[f] = at
        if c.wide.soft_at[f] >= 0:
            own += np.int64(c.wide.soft[c.wide.soft_at[f] + at])
        if c.wide.hard_at[f] >= 0 and c.wide.hard[c.wide.hard_at[f] + at] > 0:
            change_violated(s, c.wide.weight[f], 1)
        for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
            j, stride = c.wide.scope_variable[q], c.wide.scope_stride[q]
            start = at - s.x[j] * stride
            for a in range(c.rows.size[j]):
                if c.wide.soft_at[f] >= 0:
                    s.local[c.rows.start[j] + a] += c.wide.soft[c.wide.soft_at[f] + start + a * stride]
                if c.wide.hard_at[f] >= 0:
                    cell = c.wide.hard[c.wide.hard_at[f] + start + a * stride]
                    s.local[c.rows.start[j] + a] += s.weights[c.wide.weight[f]] * cell
    return own


@local_kernel
def restart(c: Costs, s: State) -> None:
    """Make everything anew from x: L, positions, costs, what is violated. The best stays, and x is off its journal."""
    for k in range(len(c.rows.unary)):
        s.local[k] = c.rows.unary[k]
    for f in range(len(s.place)):
        s.place[f] = -1
    s.tally[VIOLATIONS] = 0
    s.tally[WEIGHTED] = 0
    s.tally[JOURNAL] = len(s.x)
    own: Any = 0
    twice: Any = 0
    for i in range(len(s.x)):
        own += np.int64(c.rows.unary[c.rows.start[i] + s.x[i]])
        for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
            j = c.edges.target[e]
            start = s.x[i] * c.rows.width[j]
            if c.edges.soft_at[e] >= 0:
                twice += np.int64(c.edges.soft[c.edges.soft_at[e] + start + s.x[j]])
                add_weighted(s.local, c.rows.start[j], c.edges.soft, c.edges.soft_at[e] + start, c.rows.width[j], 1)
            if c.edges.hard_at[e] >= 0:
                factor = c.edges.weight[e]
                add_weighted(
                    s.local,
                    c.rows.start[j],
                    c.edges.hard,
                    c.edges.hard_at[e] + start,
                    c.rows.width[j],
                    s.weights[factor],
                )
                if i < j and c.edges.hard[c.edges.hard_at[e] + start + s.x[j]] > 0:
                    change_violated(s, factor, 1)
    own += _place_wide(c, s)
    s.tally[SOFT] = own + twice // 2
    s.tally[WEIGHTED] += s.tally[SOFT]
    s.tally[LEVEL] = s.tally[WEIGHTED]


@array_inner
def _move_wide(c: Costs, s: State, i: int, old: int, new: int) -> Any:
    """The part of `move` for factors of arity 3 or more; gives the change of finite cost."""
    soft_change: Any = 0
    for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
        f = c.wide.factor[entry]
        before = s.position[f]
        shift = (new - old) * c.wide.stride[entry]
        soft, hard = c.wide.soft_at[f], c.wide.hard_at[f]
        s.position[f] = before + shift
        if soft >= 0:
            soft_change += np.int64(c.wide.soft[soft + before + shift]) - np.int64(c.wide.soft[soft + before])
        if hard >= 0:
            change = np.int64(c.wide.hard[hard + before + shift]) - np.int64(c.wide.hard[hard + before])
            if change != 0:
                change_violated(s, c.wide.weight[f], change)
        for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
            j, stride = c.wide.scope_variable[q], c.wide.scope_stride[q]
            if j == i:
                continue
            start = before - s.x[j] * stride
            row = c.rows.start[j]
            if soft >= 0:
                at = soft + start
                for a in range(c.rows.size[j]):
                    s.local[row + a] += c.wide.soft[at + a * stride + shift] - c.wide.soft[at + a * stride]
            if hard >= 0:
                at, weight = hard + start, s.weights[c.wide.weight[f]]
                for a in range(c.rows.size[j]):
                    cells = c.wide.hard[at + a * stride + shift] - c.wide.hard[at + a * stride]
                    s.local[row + a] += weight * cells
    return soft_change


@inlined
def _move_rows(c: Costs, s: State, i: int, old: int, new: int, width: int) -> None:
    """The neighbours' rows in `move`, all of one width: where that is written as a constant, no loop is left of one."""
    plus, minus = new * width, old * width
    for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
        row, table = item(c.edges.target, e) * width, item(c.edges.soft_at, e)
        add_difference(s.local, row, c.edges.soft, table + plus, table + minus, width)


@inlined
def move(c: Costs, s: State, i: int, new: int) -> None:
    """Give variable i the value `new`: x, costs, violations and the neighbours' rows of L."""
    old = s.x[i]
    row = c.rows.start[i]
    s.x[i] = new
    if s.tally[JOURNAL] < len(s.journal):
        s.journal[s.tally[JOURNAL]] = i
        s.tally[JOURNAL] += 1
    if len(s.weights) == 0:
        change = np.int64(s.local[row + new]) - np.int64(s.local[row + old])
        if c.rows.uniform == LANES:
            _move_rows(c, s, i, old, new, LANES)
        elif c.rows.uniform == 2 * LANES:
            _move_rows(c, s, i, old, new, 2 * LANES)
        else:
            for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
                j = c.edges.target[e]
                width = c.rows.width[j]
                plus, minus = c.edges.soft_at[e] + new * width, c.edges.soft_at[e] + old * width
                add_difference(s.local, c.rows.start[j], c.edges.soft, plus, minus, width)
        if c.wide.offsets[i] < c.wide.offsets[i + 1]:
            _move_wide(c, s, i, old, new)
    else:
        change = np.int64(c.rows.unary[row + new]) - np.int64(c.rows.unary[row + old])
        for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
            j = c.edges.target[e]
            width = c.rows.width[j]
            plus, minus = new * width, old * width
            if c.edges.soft_at[e] >= 0:
                base = c.edges.soft_at[e]
                change += np.int64(c.edges.soft[base + plus + s.x[j]]) - np.int64(c.edges.soft[base + minus + s.x[j]])
                add_difference(s.local, c.rows.start[j], c.edges.soft, base + plus, base + minus, width)
            if c.edges.hard_at[e] >= 0:
                base, factor = c.edges.hard_at[e], c.edges.weight[e]
                flipped = np.int64(c.edges.hard[base + plus + s.x[j]]) - np.int64(c.edges.hard[base + minus + s.x[j]])
                if flipped != 0:
                    change_violated(s, factor, flipped)
                add_weighted(s.local, c.rows.start[j], c.edges.hard, base + plus, width, s.weights[factor])
                add_weighted(s.local, c.rows.start[j], c.edges.hard, base + minus, width, -s.weights[factor])
        if c.wide.offsets[i] < c.wide.offsets[i + 1]:
            change += _move_wide(c, s, i, old, new)
    s.tally[SOFT] += change
    s.tally[WEIGHTED] += change


@inlined
def remember(s: State) -> bool:
    """Keep x if it is feasible and the best so far; costs as much as moves were made since it last did."""
    if s.tally[VIOLATIONS] > 0 or (s.tally[FEASIBLE] and s.tally[SOFT] >= s.tally[BEST]):
        return False
    s.tally[BEST] = s.tally[SOFT]
    s.tally[FEASIBLE] = 1
    if s.tally[JOURNAL] < len(s.journal):
        for k in range(s.tally[JOURNAL]):
            s.best[s.journal[k]] = s.x[s.journal[k]]
    else:
        for i in range(len(s.x)):
            s.best[i] = s.x[i]
    s.tally[JOURNAL] = 0
    return True


@array_inner
def reweigh(c: Costs, s: State, factor: int, increment: int) -> None:
    """Add to the weight of a factor that forbids x: the rows of its variables and the weighted cost."""
    s.weights[factor] += increment
    s.tally[WEIGHTED] += increment
    f = c.hard.wide[factor]
    for q in range(c.hard.offsets[factor], c.hard.offsets[factor + 1]):
        i = c.hard.scope[q]
        if f < 0:
            e = c.hard.edge[q]
            j = c.edges.target[e]
            width = c.rows.width[j]
            add_weighted(s.local, c.rows.start[j], c.edges.hard, c.edges.hard_at[e] + s.x[i] * width, width, increment)
        else:
            stride = c.wide.scope_stride[c.wide.scope_offsets[f] + q - c.hard.offsets[factor]]
            start = c.wide.hard_at[f] + s.position[f] - s.x[i] * stride
            for a in range(c.rows.size[i]):
                s.local[c.rows.start[i] + a] += increment * c.wide.hard[start + a * stride]


@local_kernel
def remember_now(s: State) -> bool:
    """`remember`, from Python."""
    return remember(s)


@local_kernel
def move_now(c: Costs, s: State, i: int, new: int) -> None:
    """`move`, from Python."""
    move(c, s, i, new)

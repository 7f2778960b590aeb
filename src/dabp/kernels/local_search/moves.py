"""Moves of one variable, and the table of local costs that they keep up to date.

The table has, for variable i and value a, what the factors of i would cost if i took a and all others stayed:

    L[i, a] = u_i(a) + Σ_{f ∋ i} f(x with x_i = a) + Σ_{f ∋ i} w_f · [f forbids x with x_i = a]

so that a move i → b changes the weighted cost by L[i, b] − L[i, x_i], and only the rows of i's neighbours change
with it. Costs are integers (the caller scales them), so that sums are exact. Rows are padded to a multiple of `LANES`
with costs that no search chooses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner
from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.search_arrays import LANES, ROW, Costs, State
from dabp.kernels.simd import full_like, item, load, store, widened


@inlined
def _add_difference(local: NDArray[Any], row: int, table: NDArray[Any], plus: int, minus: int, width: int) -> None:
    """``local[row:] += table[plus:] − table[minus:]`` over a padded row."""
    for k in range(0, width, LANES):
        costs = load(local, row + k, ROW)
        change = widened(load(table, plus + k, ROW), costs) - widened(load(table, minus + k, ROW), costs)
        store(local, row + k, costs + change)


@inlined
def _add_weighted(local: NDArray[Any], row: int, table: NDArray[Any], start: int, width: int, weight: int) -> None:
    """``local[row:] += weight · table[start:]`` over a padded row."""
    for k in range(0, width, LANES):
        costs = load(local, row + k, ROW)
        store(local, row + k, costs + full_like(weight, costs) * widened(load(table, start + k, ROW), costs))


@inlined
def _update_row(c: Costs, s: State, e: int, old: int, new: int) -> None:
    """Change the row at the end of an edge whose first variable moves."""
    j = c.edges.target[e]
    row, width = c.rows.start[j], c.rows.width[j]
    if c.edges.soft_at[e] >= 0:
        base = c.edges.soft_at[e]
        _add_difference(s.local, row, c.edges.soft, base + new * width, base + old * width, width)
    if c.edges.hard_at[e] >= 0:
        base, weight = c.edges.hard_at[e], s.weights[c.edges.weight[e]]
        _add_weighted(s.local, row, c.edges.hard, base + new * width, width, weight)
        _add_weighted(s.local, row, c.edges.hard, base + old * width, width, -weight)


@inlined
def _update_wide_row(c: Costs, s: State, f: int, q: int, before: int, shift: int) -> None:
    """Change the row of the variable at place q of a wide factor whose cell moves by `shift` from `before`."""
    j, stride = c.wide.scope_variable[q], c.wide.scope_stride[q]
    row, start = c.rows.start[j], before - s.x[j] * stride
    if c.wide.soft_at[f] >= 0:
        base = c.wide.soft_at[f] + start
        for a in range(c.rows.size[j]):
            s.local[row + a] += c.wide.soft[base + a * stride + shift] - c.wide.soft[base + a * stride]
    if c.wide.hard_at[f] >= 0:
        base, weight = c.wide.hard_at[f] + start, s.weights[c.wide.weight[f]]
        for a in range(c.rows.size[j]):
            s.local[row + a] += weight * (c.wide.hard[base + a * stride + shift] - c.wide.hard[base + a * stride])


@inlined
def _edge_violation(c: Costs, s: State, e: int, old: int, new: int) -> Any:
    """1 if an edge's factor begins to forbid the assignment as its first variable moves, −1 if it ceases, else 0."""
    if c.edges.hard_at[e] < 0:
        return np.int64(0)
    j = c.edges.target[e]
    at, width = c.edges.hard_at[e] + s.x[j], c.rows.width[j]
    return np.int64(c.edges.hard[at + new * width]) - np.int64(c.edges.hard[at + old * width])


@inlined
def _wide_violation(c: Costs, s: State, f: int, shift: int) -> Any:
    """The same of a wide factor whose cell moves by `shift`."""
    if c.wide.hard_at[f] < 0:
        return np.int64(0)
    at = c.wide.hard_at[f] + s.position[f]
    return np.int64(c.wide.hard[at + shift]) - np.int64(c.wide.hard[at])


@array_inner
def _change_violated(s: State, factor: int, change: Any) -> None:
    """A factor begins (+1) or ceases (−1) to forbid the assignment."""
    tally = s.tally[()]
    count = tally.violations
    if change > 0:
        s.violated[count] = factor
        s.place[factor] = count
    else:
        last, hole = s.violated[count - 1], s.place[factor]
        s.violated[hole] = last
        s.place[last] = hole
        s.place[factor] = -1
    tally.violations = count + change
    tally.weighted += change * s.weights[factor]


@inlined
def _place_wide(c: Costs, s: State) -> Any:
    """The part of `restart` for wide factors; returns their finite cost."""
    own: Any = 0
    for f in range(len(s.position)):
        at = 0
        for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
            at += s.x[c.wide.scope_variable[q]] * c.wide.scope_stride[q]
        s.position[f] = at
        if c.wide.soft_at[f] >= 0:
            own += np.int64(c.wide.soft[c.wide.soft_at[f] + at])
        if c.wide.hard_at[f] >= 0 and c.wide.hard[c.wide.hard_at[f] + at] > 0:
            _change_violated(s, c.wide.weight[f], 1)
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
    """Compute everything from x: L, positions, costs, violations. `best` stays."""
    tally = s.tally[()]
    for k in range(len(c.rows.unary)):
        s.local[k] = c.rows.unary[k]
    for f in range(len(s.place)):
        s.place[f] = -1
    tally.violations = 0
    tally.weighted = 0
    tally.journal = len(s.x)
    own: Any = 0
    twice: Any = 0
    for i in range(len(s.x)):
        own += np.int64(c.rows.unary[c.rows.start[i] + s.x[i]])
        for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
            j = c.edges.target[e]
            row, width = c.rows.start[j], c.rows.width[j]
            if c.edges.soft_at[e] >= 0:
                start = c.edges.soft_at[e] + s.x[i] * width
                twice += np.int64(c.edges.soft[start + s.x[j]])
                _add_weighted(s.local, row, c.edges.soft, start, width, 1)
            if c.edges.hard_at[e] >= 0:
                start, factor = c.edges.hard_at[e] + s.x[i] * width, c.edges.weight[e]
                _add_weighted(s.local, row, c.edges.hard, start, width, s.weights[factor])
                if i < j and c.edges.hard[start + s.x[j]] > 0:
                    _change_violated(s, factor, 1)
    own += _place_wide(c, s)
    tally.soft = own + twice // 2
    tally.weighted += tally.soft
    tally.level = tally.weighted


@array_inner
def _move_wide(c: Costs, s: State, i: int, old: int, new: int) -> None:
    """The part of `move` for wide factors."""
    for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
        f, before = c.wide.factor[entry], s.position[c.wide.factor[entry]]
        shift = (new - old) * c.wide.stride[entry]
        change = _wide_violation(c, s, f, shift)
        if change != 0:
            _change_violated(s, c.wide.weight[f], change)
        s.position[f] = before + shift
        for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
            if c.wide.scope_variable[q] != i:
                _update_wide_row(c, s, f, q, before, shift)


@inlined
def _move_rows(c: Costs, s: State, i: int, old: int, new: int, width: int) -> None:
    """The neighbours' rows in `move`, all of one width; the loop over a constant width disappears."""
    plus, minus = new * width, old * width
    for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
        row, table = item(c.edges.target, e) * width, item(c.edges.soft_at, e)
        _add_difference(s.local, row, c.edges.soft, table + plus, table + minus, width)


@inlined
def note_moved(s: Any, i: int) -> None:
    """Write a variable that moves into the journal."""
    tally = s.tally[()]
    if tally.journal < len(s.journal):
        s.journal[tally.journal] = i
        tally.journal += 1


@inlined
def move(c: Costs, s: State, i: int, new: int) -> None:
    """Give variable i the value `new`: x, costs, violations and the neighbours' rows of L."""
    old, row, tally = s.x[i], c.rows.start[i], s.tally[()]
    weighted = tally.weighted
    change = np.int64(s.local[row + new]) - np.int64(s.local[row + old])
    s.x[i] = new
    note_moved(s, i)
    if len(s.weights) == 0 and c.rows.uniform == LANES:
        _move_rows(c, s, i, old, new, LANES)
    elif len(s.weights) == 0 and c.rows.uniform == 2 * LANES:
        _move_rows(c, s, i, old, new, 2 * LANES)
    else:
        for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
            violation = _edge_violation(c, s, e, old, new)
            if violation != 0:
                _change_violated(s, c.edges.weight[e], violation)
            _update_row(c, s, e, old, new)
    if c.wide.offsets[i] < c.wide.offsets[i + 1]:
        _move_wide(c, s, i, old, new)
    tally.soft += change - (tally.weighted - weighted)
    tally.weighted = weighted + change


@inlined
def remember(s: Any, x: NDArray[Any]) -> bool:
    """Copy `x` to `best` if it is feasible and the best so far; takes as long as the moves in the journal."""
    tally = s.tally[()]
    if tally.violations > 0 or (tally.feasible and tally.soft >= tally.best):
        return False
    tally.best = tally.soft
    tally.feasible = 1
    if tally.journal < len(s.journal):
        for k in range(tally.journal):
            s.best[s.journal[k]] = x[s.journal[k]]
    else:
        for i in range(len(s.best)):
            s.best[i] = x[i]
    tally.journal = 0
    return True


@array_inner
def reweigh(c: Costs, s: State, factor: int, increment: int) -> None:
    """Add to the weight of a factor that forbids x: the rows of its variables and the weighted cost."""
    s.weights[factor] += increment
    s.tally[()].weighted += increment
    f = c.hard.wide[factor]
    for q in range(c.hard.offsets[factor], c.hard.offsets[factor + 1]):
        i = c.hard.scope[q]
        if f < 0:
            for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
                if c.edges.weight[e] == factor:
                    j = c.edges.target[e]
                    width = c.rows.width[j]
                    start = c.edges.hard_at[e] + s.x[i] * width
                    _add_weighted(s.local, c.rows.start[j], c.edges.hard, start, width, increment)
        else:
            stride = c.wide.scope_stride[c.wide.scope_offsets[f] + q - c.hard.offsets[factor]]
            start = c.wide.hard_at[f] + s.position[f] - s.x[i] * stride
            for a in range(c.rows.size[i]):
                s.local[c.rows.start[i] + a] += increment * c.wide.hard[start + a * stride]


@local_kernel
def remember_now(s: Any, x: NDArray[Any]) -> bool:
    """Call the inner kernel `remember` from Python."""
    return remember(s, x)


@local_kernel
def move_now(c: Costs, s: State, i: int, new: int) -> None:
    """`move`, from Python and from kernels that need not be fast."""
    move(c, s, i, new)

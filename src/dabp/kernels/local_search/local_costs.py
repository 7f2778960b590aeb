"""Local search on a table of local costs, compiled.

The table has, for variable i and value a, what the factors at i would cost if i took a and all others stayed:

    L[i, a] = u_i(a) + Σ_{f ∋ i} f(x with x_i = a) + Σ_{f ∋ i} w_f · [f forbids x with x_i = a]

so that a move i → b changes the weighted cost by L[i, b] − L[i, x_i], and only the rows of i's neighbours change
with it. Costs are integers (the caller scales them), so that nothing ever drifts. Rows are padded to a
multiple of `LANES` with costs no search chooses.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import Function, kernel
from dabp.kernels.simd import full_like, lanes_of, load, store

LANES = 8
"""Rows are padded to a multiple of this, and handled that many values at a time."""

ROW = lanes_of(LANES)

SOFT, WEIGHTED, VIOLATIONS, BEST, FEASIBLE, JOURNAL, LEVEL = range(7)
"""Places of `State.tally`: the assignment's finite cost, that plus the weights of what it violates, how many factors
forbid it; the best feasible cost and whether there is one; the journal's length; the least weighted cost lately."""

NOTHING = int(np.iinfo(np.int64).max)
"""The cost of an iteration that saw nothing feasible."""


class Costs(NamedTuple):
    """A problem compiled for local search; N variables, R = sum of padded row widths, costs int32 or int64."""

    sizes: NDArray[np.int64]
    """Domain sizes, [N]."""
    rows: NDArray[np.int64]
    """Where variable i's row of L begins, [N]."""
    widths: NDArray[np.int64]
    """Padded row lengths, [N]."""
    unary: NDArray[Any]
    """A variable's own costs; `pad` where padded or forbidden, [R]."""
    pad: int
    """Larger than any difference of local costs."""
    heaviest: int
    """No factor gains weight beyond this, so that local costs stay well below `pad`."""
    edge_offsets: NDArray[np.int64]
    """Binary factors at variable i are edges ``edge_offsets[i]:edge_offsets[i + 1]``, [N + 1]."""
    edge_target: NDArray[np.int64]
    """The other variable, [E]."""
    edge_soft: NDArray[np.int64]
    """Where in `soft` the finite costs begin, a padded row of the target for each value of i; −1 if all are 0, [E]."""
    edge_hard: NDArray[np.int64]
    """Where in `hard` the forbidden combinations (1, else 0) begin, laid out the same; −1 if there are none, [E]."""
    edge_weight: NDArray[np.int64]
    """Which of `State.weights` the forbidden combinations have, [E]."""
    soft: NDArray[Any]
    hard: NDArray[Any]
    wide_offsets: NDArray[np.int64]
    """Factors of arity 3 or more at variable i: ``wide_offsets[i]:wide_offsets[i + 1]``, [N + 1]."""
    wide_factor: NDArray[np.int64]
    wide_stride: NDArray[np.int64]
    """How far one value of i moves in the factor's table."""
    scope_offsets: NDArray[np.int64]
    """Their scopes, [K + 1]."""
    scope_variable: NDArray[np.int64]
    scope_stride: NDArray[np.int64]
    table_soft: NDArray[np.int64]
    """Where in `wide_soft` the factor's table begins, −1 if all zero, [K]."""
    table_hard: NDArray[np.int64]
    table_weight: NDArray[np.int64]
    wide_soft: NDArray[Any]
    wide_hard: NDArray[Any]
    hard_offsets: NDArray[np.int64]
    """The scope of each factor that forbids something, [H + 1]."""
    hard_scope: NDArray[np.int64]
    hard_edge: NDArray[np.int64]
    """For a binary one the edge that starts at this variable of the scope, −1 for a wide one."""
    hard_table: NDArray[np.int64]
    """Which wide factor it is, −1 for a binary one, [H]."""
    neighbour_offsets: NDArray[np.int64]
    """Each variable's neighbours, once each, [N + 1]."""
    neighbours: NDArray[np.int64]


class State(NamedTuple):
    """Where a search stands."""

    x: NDArray[np.int64]
    """The assignment, [N]."""
    local: NDArray[Any]
    """L, [R]."""
    position: NDArray[np.int64]
    """Σ stride · value of each wide factor, [K]."""
    weights: NDArray[Any]
    """w of each factor that forbids anything, [H]."""
    violated: NDArray[np.int64]
    """The factors (by place in `weights`) that forbid x, in the first `VIOLATIONS` places, [H]."""
    place: NDArray[np.int64]
    """Where in `violated` each factor is, −1 if nowhere, [H]."""
    best: NDArray[np.int64]
    """The best feasible assignment, [N]; behind by the journal's moves while x is it."""
    journal: NDArray[np.int64]
    """Variables that moved since `best` and x were equal; as long as it overflows, all did, [N]."""
    tally: NDArray[np.int64]
    random: NDArray[np.uint64]


def local_kernel(function: Function) -> Function:
    """A kernel without reference counting, which around a call costs as much as a move; it cannot allocate."""
    return cast(Function, kernel(_nrt=False, no_cfunc_wrapper=True)(function))


def inlined(function: Function) -> Function:
    """The same inside its caller, a kernel: a call that hands over `Costs` and `State` copies 250 words."""
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, kernel(_nrt=False, **options)(function))


@inlined
def draw(random: NDArray[np.uint64]) -> Any:
    """64 random bits (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def below(random: NDArray[np.uint64], bound: int) -> Any:
    """A random integer in 0..bound−1, for bounds up to 2^32."""
    return np.int64(((draw(random) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@inlined
def uniform(random: NDArray[np.uint64]) -> Any:
    """A random number in [0, 1)."""
    return (draw(random) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inlined
def _add_difference(local: NDArray[Any], row: int, table: NDArray[Any], plus: int, minus: int, width: int) -> None:
    """``local[row:] += table[plus:] − table[minus:]`` over a padded row."""
    for k in range(0, width, LANES):
        change = load(table, plus + k, ROW) - load(table, minus + k, ROW)
        store(local, row + k, load(local, row + k, ROW) + change)


@inlined
def _add_weighted(local: NDArray[Any], row: int, table: NDArray[Any], start: int, width: int, weight: int) -> None:
    """``local[row:] += weight · table[start:]`` over a padded row."""
    for k in range(0, width, LANES):
        cells = load(table, start + k, ROW)
        store(local, row + k, load(local, row + k, ROW) + full_like(weight, cells) * cells)


@local_kernel
def _flip(s: State, factor: int, change: Any) -> None:
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


@local_kernel
def restart(c: Costs, s: State) -> None:
    """Make everything anew from x: L, positions, costs, what is violated. The best stays, and x is off its journal."""
    for k in range(len(c.unary)):
        s.local[k] = c.unary[k]
    for f in range(len(s.place)):
        s.place[f] = -1
    s.tally[VIOLATIONS] = 0
    s.tally[WEIGHTED] = 0
    s.tally[JOURNAL] = len(s.x)
    own: Any = 0
    twice: Any = 0
    for i in range(len(s.x)):
        own += np.int64(c.unary[c.rows[i] + s.x[i]])
        for e in range(c.edge_offsets[i], c.edge_offsets[i + 1]):
            j = c.edge_target[e]
            start = s.x[i] * c.widths[j]
            if c.edge_soft[e] >= 0:
                twice += np.int64(c.soft[c.edge_soft[e] + start + s.x[j]])
                _add_weighted(s.local, c.rows[j], c.soft, c.edge_soft[e] + start, c.widths[j], 1)
            if c.edge_hard[e] >= 0:
                factor = c.edge_weight[e]
                _add_weighted(s.local, c.rows[j], c.hard, c.edge_hard[e] + start, c.widths[j], s.weights[factor])
                if i < j and c.hard[c.edge_hard[e] + start + s.x[j]] > 0:
                    _flip(s, factor, 1)
    for f in range(len(s.position)):
        at = 0
        for q in range(c.scope_offsets[f], c.scope_offsets[f + 1]):
            at += s.x[c.scope_variable[q]] * c.scope_stride[q]
        s.position[f] = at
        if c.table_soft[f] >= 0:
            own += np.int64(c.wide_soft[c.table_soft[f] + at])
        if c.table_hard[f] >= 0 and c.wide_hard[c.table_hard[f] + at] > 0:
            _flip(s, c.table_weight[f], 1)
        for q in range(c.scope_offsets[f], c.scope_offsets[f + 1]):
            j, stride = c.scope_variable[q], c.scope_stride[q]
            start = at - s.x[j] * stride
            for a in range(c.sizes[j]):
                if c.table_soft[f] >= 0:
                    s.local[c.rows[j] + a] += c.wide_soft[c.table_soft[f] + start + a * stride]
                if c.table_hard[f] >= 0:
                    cell = c.wide_hard[c.table_hard[f] + start + a * stride]
                    s.local[c.rows[j] + a] += s.weights[c.table_weight[f]] * cell
    s.tally[SOFT] = own + twice // 2
    s.tally[WEIGHTED] += s.tally[SOFT]
    s.tally[LEVEL] = s.tally[WEIGHTED]


@local_kernel
def _move_wide(c: Costs, s: State, i: int, old: int, new: int) -> Any:
    """The part of `move` for factors of arity 3 or more; gives the change of finite cost."""
    soft_change: Any = 0
    for entry in range(c.wide_offsets[i], c.wide_offsets[i + 1]):
        f = c.wide_factor[entry]
        before = s.position[f]
        shift = (new - old) * c.wide_stride[entry]
        soft, hard = c.table_soft[f], c.table_hard[f]
        s.position[f] = before + shift
        if soft >= 0:
            soft_change += np.int64(c.wide_soft[soft + before + shift]) - np.int64(c.wide_soft[soft + before])
        if hard >= 0:
            change = np.int64(c.wide_hard[hard + before + shift]) - np.int64(c.wide_hard[hard + before])
            if change != 0:
                _flip(s, c.table_weight[f], change)
        for q in range(c.scope_offsets[f], c.scope_offsets[f + 1]):
            j, stride = c.scope_variable[q], c.scope_stride[q]
            if j == i:
                continue
            start = before - s.x[j] * stride
            row = c.rows[j]
            if soft >= 0:
                at = soft + start
                for a in range(c.sizes[j]):
                    s.local[row + a] += c.wide_soft[at + a * stride + shift] - c.wide_soft[at + a * stride]
            if hard >= 0:
                at, weight = hard + start, s.weights[c.table_weight[f]]
                for a in range(c.sizes[j]):
                    cells = c.wide_hard[at + a * stride + shift] - c.wide_hard[at + a * stride]
                    s.local[row + a] += weight * cells
    return soft_change


@inlined
def move(c: Costs, s: State, i: int, new: int) -> None:
    """Give variable i the value `new`: x, costs, violations and the neighbours' rows of L."""
    old = s.x[i]
    row = c.rows[i]
    s.x[i] = new
    if s.tally[JOURNAL] < len(s.journal):
        s.journal[s.tally[JOURNAL]] = i
        s.tally[JOURNAL] += 1
    if len(s.weights) == 0:
        change = np.int64(s.local[row + new]) - np.int64(s.local[row + old])
        for e in range(c.edge_offsets[i], c.edge_offsets[i + 1]):
            j = c.edge_target[e]
            width = c.widths[j]
            plus, minus = c.edge_soft[e] + new * width, c.edge_soft[e] + old * width
            _add_difference(s.local, c.rows[j], c.soft, plus, minus, width)
        if c.wide_offsets[i] < c.wide_offsets[i + 1]:
            _move_wide(c, s, i, old, new)
    else:
        change = np.int64(c.unary[row + new]) - np.int64(c.unary[row + old])
        for e in range(c.edge_offsets[i], c.edge_offsets[i + 1]):
            j = c.edge_target[e]
            width = c.widths[j]
            plus, minus = new * width, old * width
            if c.edge_soft[e] >= 0:
                base = c.edge_soft[e]
                change += np.int64(c.soft[base + plus + s.x[j]]) - np.int64(c.soft[base + minus + s.x[j]])
                _add_difference(s.local, c.rows[j], c.soft, base + plus, base + minus, width)
            if c.edge_hard[e] >= 0:
                base, factor = c.edge_hard[e], c.edge_weight[e]
                flipped = np.int64(c.hard[base + plus + s.x[j]]) - np.int64(c.hard[base + minus + s.x[j]])
                if flipped != 0:
                    _flip(s, factor, flipped)
                _add_weighted(s.local, c.rows[j], c.hard, base + plus, width, s.weights[factor])
                _add_weighted(s.local, c.rows[j], c.hard, base + minus, width, -s.weights[factor])
        if c.wide_offsets[i] < c.wide_offsets[i + 1]:
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


@local_kernel
def reweigh(c: Costs, s: State, factor: int, increment: int) -> None:
    """Add to the weight of a factor that forbids x: the rows of its variables and the weighted cost."""
    s.weights[factor] += increment
    s.tally[WEIGHTED] += increment
    f = c.hard_table[factor]
    for q in range(c.hard_offsets[factor], c.hard_offsets[factor + 1]):
        i = c.hard_scope[q]
        if f < 0:
            e = c.hard_edge[q]
            j = c.edge_target[e]
            width = c.widths[j]
            _add_weighted(s.local, c.rows[j], c.hard, c.edge_hard[e] + s.x[i] * width, width, increment)
        else:
            stride = c.scope_stride[c.scope_offsets[f] + q - c.hard_offsets[factor]]
            start = c.table_hard[f] + s.position[f] - s.x[i] * stride
            for a in range(c.sizes[i]):
                s.local[c.rows[i] + a] += increment * c.wide_hard[start + a * stride]


@local_kernel
def remember_now(s: State) -> bool:
    """`remember`, from Python."""
    return remember(s)


@local_kernel
def move_now(c: Costs, s: State, i: int, new: int) -> None:
    """`move`, from Python."""
    move(c, s, i, new)

# mypy: disable-error-code="untyped-decorator"
"""Fusion of two assignments of a pairwise problem by a minimum cut: each variable keeps its value or takes the other.

With y_i = 0 for keeping x_i and y_i = 1 for taking x'_i a factor costs E_00, E_01, E_10 or E_11, and

    E(y_i, y_j) = E_00 + (E_10 − E_00) y_i + (E_11 − E_10) y_j + (E_01 + E_10 − E_00 − E_11) (1 − y_i) y_j,

an arc from i to j if the last bracket is not negative. Where it is, E_01 is raised until it is 0: the cut then
minimises costs that are too high for some moves and right for keeping all, so what it gives is never worse.

A factor of more variables enters with what moving each of its variables alone would change. Only then the cut can be
worse than keeping all; the caller compares the costs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dabp.kernels.decorators import array_kernel
from dabp.kernels.graph_cut.max_flow import SINK, Network

Array = Any


class Factors(NamedTuple):
    """Unary and binary factors of a problem by columns."""

    unary: Array
    """Own costs of each variable's values, [sum D]."""
    unary_start: Array
    """Where each variable's begin, [N + 1]."""
    first: Array
    """The first variable of each binary factor, [F]."""
    second: Array
    """The second one, [F]."""
    table: Array
    """Where the factor's table begins in `pool`, the second variable fastest, [F]."""
    pool: Array
    """Costs."""
    arc: Array
    """The arc of the network from the first to the second variable, [F]."""
    many_start: Array
    """The first entry of each factor of more variables in the two columns below, [M + 1]."""
    many_variable: Array
    """Their variables."""
    many_stride: Array
    """Cells that a step of the variable moves."""
    many_table: Array
    """Where the factor's table begins in `pool`, [M]."""


@array_kernel
def set_up(factors: Factors, net: Network, values: Array, proposal: Array) -> int:
    """Capacities of the fusion of `values` with `proposal`; returns the number of variables with two values."""
    count = 0
    for i in range(len(values)):
        net.alive[i] = values[i] != proposal[i]
        count += net.alive[i]
        own = factors.unary_start[i]
        net.excess[i] = factors.unary[own + proposal[i]] - factors.unary[own + values[i]]
    for f in range(len(factors.first)):
        i, j = factors.first[f], factors.second[f]
        if not (net.alive[i] or net.alive[j]):
            continue
        width = factors.unary_start[j + 1] - factors.unary_start[j]
        old = factors.table[f] + values[i] * width
        new = factors.table[f] + proposal[i] * width
        keep_keep, keep_take = factors.pool[old + values[j]], factors.pool[old + proposal[j]]
        take_keep, take_take = factors.pool[new + values[j]], factors.pool[new + proposal[j]]
        p = factors.arc[f]
        if not net.alive[j]:
            net.excess[i] += take_keep - keep_keep
        elif not net.alive[i]:
            net.excess[j] += keep_take - keep_keep
        else:
            net.excess[i] += take_keep - keep_keep
            net.excess[j] += take_take - take_keep
            net.capacity[p] = max(0.0, keep_take + take_keep - keep_keep - take_take)
            net.capacity[net.partner[p]] = 0.0
    for f in range(len(factors.many_table)):
        first, last = factors.many_start[f], factors.many_start[f + 1]
        cell = factors.many_table[f]
        for e in range(first, last):
            cell += factors.many_stride[e] * values[factors.many_variable[e]]
        for e in range(first, last):
            i = factors.many_variable[e]
            moved = cell + factors.many_stride[e] * (proposal[i] - values[i])
            net.excess[i] += factors.pool[moved] - factors.pool[cell]
    return count


@array_kernel
def take(net: Network, values: Array, proposal: Array) -> int:
    """Move the variables on the sink's side of the minimum cut to their proposals; returns their number."""
    moved = 0
    for i in range(len(values)):
        if net.alive[i] and net.tree[i] == SINK:
            values[i] = proposal[i]
            moved += 1
    return moved

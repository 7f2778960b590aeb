# mypy: disable-error-code="untyped-decorator"
"""Compiled passes of sequential reweighted message passing on the dual of the LP relaxation.

Every factor α and variable i in its scope have a message M_{α,i} [D_i], cost moved from the factor to the
variable. They give reparametrised costs θ_i = u_i + Σ_α M_{α,i} and θ_α = f_α − Σ_i M_{α,i} with the same
totals, so Σ_i min θ_i + Σ_α min θ_α is a lower bound for any messages. A pass only ever raises it.

Arrays, with an *entry* for each (factor, variable) of a scope: ``scope_start[f]`` the first entry of factor f,
``variable[e]``, ``stride[e]`` in cells of the factor's table, ``message_start[e]`` in `messages`;
``incident[incident_start[v]:incident_start[v + 1]]`` are the entries of variable v.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.decorators import kernel

Array = Any

LENIENT = {"nnan", "nsz", "contract"}
"""Costs may be inf but are never nan: enough for the compiler to take minima by SIMD."""


@kernel(fastmath=LENIENT)
def _binary_marginal(
    pool: Array, start: int, size: int, stride: int, other: Array, other_stride: int, out: Array
) -> None:
    """out(a) = min_b f(a, b) − other(b)."""
    if stride == 1:  # a runs fastest: whole rows at a time
        for a in range(size):
            out[a] = np.inf
        for b in range(len(other)):
            row = start + b * other_stride
            moved = other[b]
            for a in range(size):
                out[a] = min(out[a], pool[row + a] - moved)
    else:
        for a in range(size):
            row = start + a * stride
            least = np.inf
            for b in range(len(other)):
                least = min(least, pool[row + b] - other[b])
            out[a] = least


@kernel(fastmath=LENIENT)
def _marginal(
    pool: Array,
    start: int,
    first: int,
    last: int,
    axis: int,
    sizes: Array,
    variable: Array,
    messages: Array,
    message_start: Array,
    digit: Array,
    moved: Array,
    out: Array,
) -> None:
    """out(a) = min f(x) − Σ_{j ≠ i} M_j(x_j) over x with x_i = a, for a factor with entries first … last − 1."""
    out[:] = np.inf
    arity = last - first
    inner = arity - 1
    width = sizes[variable[first + inner]]
    tail = message_start[first + inner]
    for k in range(arity):
        digit[k] = 0
    # moved[k] = Σ of the messages at the digits of the axes before k, the free axis left out
    fresh, cell = 0, start
    moved[0] = 0.0
    while True:
        for k in range(fresh, inner):
            own = messages[message_start[first + k] + digit[k]] if k != axis else 0.0
            moved[k + 1] = moved[k] + own
        base = moved[inner]
        if axis == inner:
            for a in range(width):
                out[a] = min(out[a], pool[cell + a] - base)
        else:
            least = np.inf
            for b in range(width):
                least = min(least, pool[cell + b] - messages[tail + b])
            out[digit[axis]] = min(out[digit[axis]], least - base)
        cell += width
        k = inner - 1
        while k >= 0:
            digit[k] += 1
            if digit[k] < sizes[variable[first + k]]:
                break
            digit[k] = 0
            k -= 1
        if k < 0:
            return
        fresh = k


@kernel
def dual_pass(
    forward: bool,
    sizes: Array,
    unary: Array,
    unary_start: Array,
    variable: Array,
    stride: Array,
    factor: Array,
    scope_start: Array,
    table_start: Array,
    pool: Array,
    incident: Array,
    incident_start: Array,
    is_first: Array,
    is_last: Array,
    messages: Array,
    message_start: Array,
    theta: Array,
    digit: Array,
    moved: Array,
    values: Array,
) -> tuple[float, float]:
    """One pass over the variables in (or against) their order; changes `messages` and decodes `values` [N].

    At variable i each factor's min-marginal is collected, θ_i = u_i + Σ_α M_{α,i}, and each factor with a variable
    still to come takes w θ_i back, w = 1 / max(number of factors with one to come, number with one behind). The
    value decoded is the best one given the values before it, and the messages from what comes.

    Returns
    -------
    bound, magnitude
        Σ_i min θ_i at the end of the pass, when every factor's minimum is 0; and the sum of the absolute values
        of all terms that entered it, which bounds the rounding error: inf if some θ_i is not finite, so that the
        bound means nothing.
    """
    num_variables = len(sizes)
    bound, magnitude, sound = 0.0, 0.0, True
    for turn in range(num_variables):
        i = turn if forward else num_variables - 1 - turn
        size = sizes[i]
        begin, end = incident_start[i], incident_start[i + 1]
        score = theta[1]
        cost = theta[0]
        for a in range(size):
            cost[a] = unary[unary_start[i] + a]
            score[a] = cost[a]
        to_come, behind = 0, 0
        for position in range(begin, end):
            e = incident[position]
            opens = is_first[e] if forward else is_last[e]
            closes = is_last[e] if forward else is_first[e]
            to_come += not closes
            behind += not opens
            message = messages[message_start[e] : message_start[e] + size]
            f = factor[e]
            first, last = scope_start[f], scope_start[f + 1]
            if not opens:  # else nothing it depends on has changed since the last pass
                if last - first == 2:
                    o = first if e != first else first + 1
                    other = messages[message_start[o] : message_start[o] + sizes[variable[o]]]
                    _binary_marginal(pool, table_start[f], size, stride[e], other, stride[o], message)
                else:
                    _marginal(
                        pool,
                        table_start[f],
                        first,
                        last,
                        e - first,
                        sizes,
                        variable,
                        messages,
                        message_start,
                        digit,
                        moved,
                        message,
                    )
            largest = 0.0
            for a in range(size):
                cost[a] += message[a]
                largest = max(largest, abs(message[a]))
            magnitude += largest
            if closes:
                place = table_start[f]
                for other_entry in range(first, last):
                    if other_entry != e:
                        place += stride[other_entry] * values[variable[other_entry]]
                for a in range(size):
                    score[a] += pool[place + a * stride[e]]
            else:
                for a in range(size):
                    score[a] += message[a]
        least, best = cost[0], 0
        for a in range(size):
            least = min(least, cost[a])
            sound &= np.isfinite(cost[a])
            if score[a] < score[best]:
                best = a
        values[i] = best
        share = 1.0 / max(1, to_come, behind)
        bound += least * (1.0 - share * to_come)
        magnitude += abs(least)
        if to_come:
            for position in range(begin, end):
                e = incident[position]
                closes = is_last[e] if forward else is_first[e]
                if not closes:
                    for a in range(size):
                        messages[message_start[e] + a] -= share * cost[a]
    return bound, magnitude if sound else np.inf


@kernel
def total_cost(
    unary: Array,
    unary_start: Array,
    variable: Array,
    stride: Array,
    scope_start: Array,
    table_start: Array,
    pool: Array,
    values: Array,
) -> float:
    """The cost of an assignment, without the constant."""
    total = 0.0
    for i in range(len(values)):
        total += unary[unary_start[i] + values[i]]
    for f in range(len(table_start)):
        place = table_start[f]
        for e in range(scope_start[f], scope_start[f + 1]):
            place += stride[e] * values[variable[e]]
        total += pool[place]
    return total

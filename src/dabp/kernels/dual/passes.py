# mypy: disable-error-code="untyped-decorator"
"""Compiled passes of sequential reweighted message passing on the dual of the LP relaxation.

Every factor α and variable i in its scope have a message M_{α,i} [D_i], cost moved from the factor to the
variable. They give reparametrised costs θ_i = u_i + Σ_α M_{α,i} and θ_α = f_α − Σ_i M_{α,i} with the same
totals, so Σ_i min θ_i + Σ_α min θ_α is a lower bound for any messages. A pass never lowers it.

There is an *entry* for each (factor, variable) of a scope, numbered factor after factor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel

Array = Any
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LENIENT = {"nnan", "nsz", "contract"}
"""Options of fastmath: costs may be inf but are never nan, so that minima are taken by SIMD."""


class Relaxation(NamedTuple):
    """A problem's columns as the passes read them, and the messages, which they change."""

    sizes: Ints
    """[N]: values of each variable."""
    unary: Floats
    """[sum D]: own costs of each variable's values, u."""
    unary_start: Ints
    """[N + 1]: where each variable's start."""
    variable: Ints
    """[E]: the variable of each entry."""
    stride: Ints
    """[E]: cells of the factor's table that a step of the entry's variable moves."""
    factor: Ints
    """[E]: the factor of each entry."""
    scope_start: Ints
    """[F + 1]: the first entry of each factor."""
    table_start: Ints
    """[F]: the first cell of each factor's table."""
    pool: Floats
    """All tables."""
    incident: Ints
    """[E]: entries by variable."""
    incident_start: Ints
    """[N + 1]: where each variable's part of `incident` starts."""
    is_first: NDArray[np.bool_]
    """[E]: whether no variable of the factor comes before the entry's."""
    is_last: NDArray[np.bool_]
    """[E]: whether none comes after it."""
    message_start: Ints
    """[E + 1]: where each entry's message starts."""
    incident_message: Ints
    """[E]: the same in the order of `incident`."""
    messages: Floats
    """M, flat."""


class Scratch(NamedTuple):
    """Memory for one variable's sums and one factor's combinations."""

    theta: Floats
    """[2, largest D]: θ_i, and what the values are decoded from."""
    digit: Ints
    """[largest arity + 1]: a combination of values."""
    moved: Floats
    """[largest arity + 1]: sums of the messages at its first digits."""


@inner(fastmath=LENIENT)
def _marginal(relaxation: Relaxation, factor: int, axis: int, scratch: Scratch, out: Array) -> None:
    """out(a) = min f(x) − Σ_{j ≠ i} M_j(x_j) over x with x_i = a, where i is variable `axis` of the factor's scope."""
    pool, sizes, variable = relaxation.pool, relaxation.sizes, relaxation.variable
    messages, message_start = relaxation.messages, relaxation.message_start
    digit, moved = scratch.digit, scratch.moved
    first, last = relaxation.scope_start[factor], relaxation.scope_start[factor + 1]
    out[:] = np.inf
    arity = last - first
    inner = arity - 1
    width = sizes[variable[first + inner]]
    tail = message_start[first + inner]
    for k in range(arity):
        digit[k] = 0
    # moved[k] = Σ of the messages at the digits of the axes before k, the free axis left out
    fresh, cell = 0, relaxation.table_start[factor]
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


@inner
def _add_row(relaxation: Relaxation, entry: int, values: Array, score: Array, size: int) -> None:
    """Add what an entry's factor costs with each value of its variable, the others at `values`."""
    f = relaxation.factor[entry]
    place = relaxation.table_start[f]
    for other in range(relaxation.scope_start[f], relaxation.scope_start[f + 1]):
        if other != entry:
            place += relaxation.stride[other] * values[relaxation.variable[other]]
    for a in range(size):
        score[a] += relaxation.pool[place + a * relaxation.stride[entry]]


@kernel
def dual_pass(forward: bool, relaxation: Relaxation, scratch: Scratch, values: Array) -> tuple[float, float]:
    """One pass over the variables in (or against) their order; changes the messages and decodes `values` [N].

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
    messages, message_start = relaxation.messages, relaxation.message_start
    opening = relaxation.is_first if forward else relaxation.is_last
    closing = relaxation.is_last if forward else relaxation.is_first
    num_variables = len(relaxation.sizes)
    bound, magnitude, sound = 0.0, 0.0, True
    cost, score = scratch.theta[0], scratch.theta[1]
    for turn in range(num_variables):
        i = turn if forward else num_variables - 1 - turn
        size = relaxation.sizes[i]
        begin, end = relaxation.incident_start[i], relaxation.incident_start[i + 1]
        for a in range(size):
            cost[a] = relaxation.unary[relaxation.unary_start[i] + a]
            score[a] = cost[a]
        to_come, behind = 0, 0
        for position in range(begin, end):
            e = relaxation.incident[position]
            to_come += not closing[e]
            behind += not opening[e]
            message = messages[message_start[e] : message_start[e] + size]
            if not opening[e]:  # else nothing it depends on has changed since the last pass
                f = relaxation.factor[e]
                _marginal(relaxation, f, e - relaxation.scope_start[f], scratch, message)
            largest = 0.0
            for a in range(size):
                cost[a] += message[a]
                largest = max(largest, abs(message[a]))
            magnitude += largest
            if closing[e]:
                _add_row(relaxation, e, values, score, size)
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
                e = relaxation.incident[position]
                if not closing[e]:
                    for a in range(size):
                        messages[message_start[e] + a] -= share * cost[a]
    return bound, magnitude if sound else np.inf

"""Exact minimisation on a forest of factors, compiled: one pass up, one pass down."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel

Ints = NDArray[np.int64]


class Scopes(NamedTuple):
    """The factors of arity 1 and more, and what a variable takes part in."""

    scope_start: Ints
    """[F + 1]: scopes in `variable` and `stride`."""
    variable: Ints
    stride: Ints
    base: Ints
    """[F]: ``pool[base + Σ value · stride]`` is a factor's cost."""
    factor_start: Ints
    """[N + 1]: factors of each variable in `factor`."""
    factor: Ints
    domain: Ints
    belief_start: Ints
    """[N + 1]: each variable's slice of the beliefs."""
    pool: NDArray[np.float64]


@kernel
def hang(scopes: Scopes, order: Any, parent: Any) -> int:
    """Hang every component on its first variable, breadth first.

    Writes the factors of arity 2 and more into `order` as they are reached, and the place in its scope that each was
    reached from into `parent` (−1 = not reached). Returns how many there are, or −1 if there is a cycle.
    """
    variables = len(scopes.domain)
    seen = np.zeros(variables, dtype=np.bool_)
    queue = np.empty(variables, dtype=np.int64)
    count = 0
    for root in range(variables):
        if seen[root]:
            continue
        seen[root] = True
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            head += 1
            for place in range(scopes.factor_start[i], scopes.factor_start[i + 1]):
                f = scopes.factor[place]
                first, last = scopes.scope_start[f], scopes.scope_start[f + 1]
                if last - first < 2 or parent[f] >= 0:
                    continue
                order[count] = f
                count += 1
                for k in range(first, last):
                    j = scopes.variable[k]
                    if j == i:
                        parent[f] = k - first
                    elif seen[j]:
                        return -1
                    else:
                        seen[j] = True
                        queue[tail] = j
                        tail += 1
    return count


@inner
def _next_row(scopes: Scopes, values: Any, first: int, last: int, fixed: int) -> int:
    """Step `values` to the next combination, the variable at place `fixed` held.

    Returns how far the cell moves, which is positive, or 0 after the last combination.
    """
    moved = 0
    for k in range(last - 1, first - 1, -1):
        if k - first == fixed:
            continue
        size = scopes.domain[scopes.variable[k]]
        if values[k - first] + 1 < size:
            values[k - first] += 1
            return moved + int(scopes.stride[k])
        moved -= values[k - first] * scopes.stride[k]
        values[k - first] = 0
    return 0


@inner
def _best_row(scopes: Scopes, belief: Any, values: Any, f: int, fixed: int, value: int) -> float:
    """Least cost of a factor and the subtrees below it with the variable at place `fixed` at `value`.

    Leaves the combination in `values` if there is one of finite cost, else the first.
    """
    first, last = scopes.scope_start[f], scopes.scope_start[f + 1]
    arity = last - first
    for k in range(arity):
        values[k] = value if k == fixed else 0
        values[arity + k] = values[k]
    cell = scopes.base[f] + value * scopes.stride[first + fixed]
    lowest = np.inf
    while True:
        total = scopes.pool[cell]
        for k in range(first, last):
            if k - first != fixed:
                total += belief[scopes.belief_start[scopes.variable[k]] + values[k - first]]
        if total < lowest:
            lowest = total
            for k in range(arity):
                values[arity + k] = values[k]
        step = _next_row(scopes, values, first, last, fixed)
        if step == 0:
            break
        cell += step
    for k in range(arity):
        values[k] = values[arity + k]
    return lowest


@kernel
def minimise_up(scopes: Scopes, order: Any, parent: Any, belief: Any, values: Any) -> None:
    """Beliefs of each variable over its subtree: ``b_i(x) = Σ unary + Σ_factors below min T + Σ b``, leaves first.

    Only sums are taken, never differences, so that infinite costs stay what they are.
    """
    for i in range(len(scopes.domain)):
        for place in range(scopes.factor_start[i], scopes.factor_start[i + 1]):
            f = scopes.factor[place]
            if scopes.scope_start[f + 1] - scopes.scope_start[f] == 1:
                for x in range(scopes.domain[i]):
                    belief[scopes.belief_start[i] + x] += scopes.pool[scopes.base[f] + x]
    for place in range(len(order) - 1, -1, -1):
        f = order[place]
        i = scopes.variable[scopes.scope_start[f] + parent[f]]
        for x in range(scopes.domain[i]):
            belief[scopes.belief_start[i] + x] += _best_row(scopes, belief, values, f, parent[f], x)


@kernel
def decode_down(scopes: Scopes, order: Any, parent: Any, belief: Any, values: Any, assignment: Any) -> float:
    """Root to leaf: each factor gives the variables below it the values that go with the one above.

    Returns the sum of the roots' minima: the optimum, infinite if nothing is allowed.
    """
    below = np.zeros(len(assignment), dtype=np.bool_)
    for f in order:
        for k in range(scopes.scope_start[f], scopes.scope_start[f + 1]):
            if k - scopes.scope_start[f] != parent[f]:
                below[scopes.variable[k]] = True
    total = 0.0
    for i in range(len(assignment)):
        if not below[i]:
            start = scopes.belief_start[i]
            for x in range(1, scopes.domain[i]):
                if belief[start + x] < belief[start + assignment[i]]:
                    assignment[i] = x
            total += belief[start + assignment[i]]
    for f in order:
        first = scopes.scope_start[f]
        _best_row(scopes, belief, values, f, parent[f], assignment[scopes.variable[first + parent[f]]])
        for k in range(first, scopes.scope_start[f + 1]):
            assignment[scopes.variable[k]] = values[k - first]
    return total

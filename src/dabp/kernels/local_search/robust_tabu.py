"""Robust tabu search on quadratic assignments: every exchange of two values evaluated in constant time.

Variable i has the value p(i); a layer k costs ½ Σ_ij G_k[i, j] · D_k[p(i), p(j)] with G_k[i, j] · D_k[a, b] =
G_k[j, i] · D_k[b, a]: both matrices are symmetric, or both are antisymmetric; their diagonals are 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.random_stream import below
from dabp.kernels.local_search.search_arrays import Ints

CLOCK = np.dtype(
    [("step", np.int64), ("cost", np.int64), ("best", np.int64), ("improved", np.int64)],
    align=True,
)
"""The numbers of `Exchanging.clock`; `improved` is the step that found the best."""


class Exchanging(NamedTuple):
    """The state of a search; n variables, K layers, costs int32 or int64."""

    flow: NDArray[Any]  # G, [K, n, n]
    distance: NDArray[Any]  # D, [K, n, n]
    sign: NDArray[Any]  # 1 for symmetric matrices, −1 for antisymmetric ones, [K]
    own: NDArray[Any]  # what each value costs each variable, [n, n]
    placed: NDArray[Any]  # D[p(i), p(j)], [K, n, n]
    change: NDArray[Any]  # what exchanging i and j costs, `pad` for i = j, [n, n]
    row: NDArray[Any]  # at most the least of each row of `change`, [n]
    until: Ints  # the step until which a variable should not take a value again, [n, n]
    values: Ints  # p, [n]
    best: Ints  # the best p, [n]
    alpha: NDArray[Any]  # G[k, i, r] − G[k, i, s], [n]
    beta: NDArray[Any]  # D[k, p(i), p(r)] − D[k, p(i), p(s)], [n]
    clock: Any  # `CLOCK`, []
    random: NDArray[np.uint64]
    pad: int  # larger than what any exchange costs


@inlined
def _weigh(s: Exchanging, r: Any) -> None:
    """Compute what exchanging r with each k costs.

    Own costs, and Σ_j (G[r, j] − G[k, j]) (D[p(k), p(j)] − D[p(r), p(j)]) over all others. Inner loops over all k from
    0 on become vector instructions.
    """
    n, a = len(s.values), s.values[r]
    for k in range(n):
        b = s.values[k]
        s.alpha[k] = s.own[r, b] - s.own[r, a] + s.own[k, a] - s.own[k, b]
    for layer in range(len(s.flow)):
        flow, placed, sign = s.flow[layer], s.placed[layer], s.sign[layer]
        for j in range(n):
            g, e, column, line = flow[r, j], placed[r, j], flow[j], placed[j]
            for k in range(n):
                s.alpha[k] += (g - sign * column[k]) * (sign * line[k] - e)
        for k in range(n):  # without j = r and j = k, whose partner moves too; the pair itself turns round
            s.alpha[k] += (1 + sign) * flow[r, k] * placed[r, k]
    for k in range(n):
        s.change[r, k] = s.alpha[k]
        s.change[k, r] = s.alpha[k]
        s.row[k] = min(s.row[k], s.alpha[k])
    s.change[r, r] = s.pad
    lowest = s.change[r, 0]
    for k in range(n):
        lowest = min(lowest, s.change[r, k])
    s.row[r] = lowest


@inlined
def _remember(s: Exchanging) -> None:
    """Note a new best."""
    clock = s.clock[()]
    clock.best, clock.improved = clock.cost, clock.step
    for k in range(len(s.best)):
        s.best[k] = s.values[k]


@local_kernel
def restart(s: Exchanging) -> None:
    """Compute everything from `values`; nothing is tabu."""
    n, clock = len(s.values), s.clock[()]
    twice = np.int64(0)
    s.until[:] = -1
    for layer in range(len(s.flow)):
        for i in range(n):
            for j in range(n):
                s.placed[layer, i, j] = s.distance[layer, s.values[i], s.values[j]]
                twice += np.int64(s.flow[layer, i, j]) * np.int64(s.placed[layer, i, j])
    clock.cost = twice // 2
    for i in range(n):
        clock.cost += s.own[i, s.values[i]]
    s.row[:] = s.pad
    for u in range(n):
        _weigh(s, u)
    if clock.cost < clock.best:
        _remember(s)


@inlined
def _exchange(s: Exchanging, r: Any, q: Any) -> None:
    """Exchange the values of r and q, and what exchanges cost: in constant time each, but for those of r and q."""
    n = len(s.values)
    s.clock[()].cost += s.change[r, q]
    s.values[r], s.values[q] = s.values[q], s.values[r]
    for layer in range(len(s.flow)):
        placed, flow = s.placed[layer], s.flow[layer]
        for k in range(n):
            placed[r, k], placed[q, k] = placed[q, k], placed[r, k]
        for k in range(n):
            placed[k, r], placed[k, q] = placed[k, q], placed[k, r]
        for k in range(n):
            s.alpha[k] = flow[k, r] - flow[k, q]
            s.beta[k] = placed[k, r] - placed[k, q]
        for u in range(n):
            a, b, row = s.alpha[u], s.beta[u], s.change[u]
            lowest = row[0]
            for v in range(n):
                row[v] -= (s.alpha[v] - a) * (s.beta[v] - b)
                lowest = min(lowest, row[v])
            s.row[u] = lowest
    _weigh(s, r)
    _weigh(s, q)


@local_kernel
def robust_tabu(s: Exchanging, steps: int, least: int, spread: int) -> None:
    """Steps that each make the best exchange that is not tabu or reaches a new best.

    An exchange is tabu while both values have been left by their new variables within the tenure, `least` +
    U{0 … spread − 1} steps. Reference: É. Taillard, *Robust taboo search for the quadratic assignment problem*,
    Parallel Computing 1991.
    """
    n, clock = len(s.values), s.clock[()]
    for _ in range(steps):
        clock.step += 1
        step, r, q, lowest = clock.step, np.int64(-1), np.int64(-1), np.int64(2**62)
        goal = clock.best - clock.cost
        for u in range(n):
            if s.row[u] >= lowest:
                continue
            for v in range(n):
                if s.change[u, v] < lowest and (
                    s.change[u, v] < goal or s.until[u, s.values[v]] < step or s.until[v, s.values[u]] < step
                ):
                    r, q, lowest = np.int64(u), np.int64(v), np.int64(s.change[u, v])
        if r < 0:
            continue
        s.until[r, s.values[r]] = step + least + below(s.random, spread)
        s.until[q, s.values[q]] = step + least + below(s.random, spread)
        _exchange(s, r, q)
        if clock.cost < clock.best:
            _remember(s)

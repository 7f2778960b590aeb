"""Compiled large-neighbourhood moves: free a random induced forest and set it to its joint optimum.

Given the values of all other variables, a set of variables that no cycle of factors connects is solved exactly by
min-sum from the leaves to the roots. A factor of any arity takes part if at most two of its variables are free: it
is then a matrix, cut out of its table by strides. Arrays are those of `dabp.problem.incidence.Incidence`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.decorators import kernel

Array = Any


@kernel
def _random(state: Array) -> float:
    """A number in [0, 1) from a xorshift generator; `state` [1] is changed in place."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float(x * np.uint64(2685821657736338717) >> np.uint64(11)) / 9007199254740992.0


@kernel
def _root(parent: Array, v: int) -> int:
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@kernel
def _place(f: int, scope_start: Array, variable: Array, stride: Array, table_start: Array, values: Array) -> int:
    """The cell of factor f under `values`."""
    cell = table_start[f]
    for e in range(scope_start[f], scope_start[f + 1]):
        cell += stride[e] * values[variable[e]]
    return int(cell)


@kernel
def forest_moves(
    moves: int,
    temperature: float,
    state: Array,
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
    values: Array,
) -> None:
    """Make `moves` moves on `values` [N], in place.

    At temperature T the forest minimises Σ costs + T · noise, the noise drawn per variable and value from a Gumbel
    distribution (perturb and minimise), so that at T > 0 the moves wander and at 0 the cost never rises. Ties are
    broken at random.
    """
    n = len(sizes)
    order = np.arange(n)
    free = np.zeros(n, dtype=np.uint8)
    parent = np.arange(n)
    degree = np.zeros(n, dtype=np.int64)
    head = np.full(n, -1, dtype=np.int64)
    edge_to = np.zeros(2 * n, dtype=np.int64)
    edge_own = np.zeros(2 * n, dtype=np.int64)
    edge_their = np.zeros(2 * n, dtype=np.int64)
    edge_next = np.zeros(2 * n, dtype=np.int64)
    peeled = np.zeros(n, dtype=np.uint8)
    queue = np.zeros(n, dtype=np.int64)
    upward = np.full(n, -1, dtype=np.int64)  # the edge towards the root, −1 at the root
    start = np.zeros(n, dtype=np.int64)  # the value from which the best one is looked for, which breaks ties
    cost = np.zeros(len(unary))
    for _ in range(moves):
        num_free, num_edges = 0, 0
        for v in range(n):
            free[v] = 0
            parent[v] = v
            head[v] = -1
            degree[v] = 0
            peeled[v] = 0
            upward[v] = -1
        for turn in range(n):
            swap = turn + int(_random(state) * (n - turn))
            v = order[swap]
            order[swap] = order[turn]
            order[turn] = v
            # v may be free if its factors have at most one other free variable each, all in different trees
            old_edges, fits = num_edges, True
            for position in range(incident_start[v], incident_start[v + 1]):
                e = incident[position]
                f = factor[e]
                other = -1
                for o in range(scope_start[f], scope_start[f + 1]):
                    if o != e and free[variable[o]]:
                        if other >= 0:
                            fits = False
                        other = o
                if not fits:
                    break
                if other >= 0:
                    tree = _root(parent, variable[other])
                    for earlier in range(old_edges, num_edges, 2):
                        if _root(parent, edge_to[earlier]) == tree:
                            fits = False
                    if not fits:
                        break
                    edge_to[num_edges], edge_own[num_edges], edge_their[num_edges] = variable[other], e, other
                    edge_to[num_edges + 1], edge_own[num_edges + 1], edge_their[num_edges + 1] = v, other, e
                    num_edges += 2
            if not fits:
                num_edges = old_edges
                continue
            free[v] = 1
            num_free += 1
            for edge in range(old_edges, num_edges, 2):
                w = edge_to[edge]
                parent[_root(parent, w)] = v
                edge_next[edge] = head[v]
                head[v] = edge
                edge_next[edge + 1] = head[w]
                head[w] = edge + 1
                degree[v] += 1
                degree[w] += 1
        # own costs given the fixed variables, and the leaves
        waiting = 0
        for v in range(n):
            if not free[v]:
                continue
            begin = unary_start[v]
            for a in range(sizes[v]):
                cost[begin + a] = unary[begin + a]
                if temperature > 0.0:
                    cost[begin + a] += temperature * np.log(-np.log(1e-12 + (1.0 - 2e-12) * _random(state)))
            for position in range(incident_start[v], incident_start[v + 1]):
                e = incident[position]
                f = factor[e]
                alone = True
                for o in range(scope_start[f], scope_start[f + 1]):
                    if o != e and free[variable[o]]:
                        alone = False
                if alone:
                    cell = _place(f, scope_start, variable, stride, table_start, values) - stride[e] * values[v]
                    for a in range(sizes[v]):
                        cost[begin + a] += pool[cell + a * stride[e]]
            if degree[v] <= 1:
                queue[waiting] = v
                waiting += 1
        # leaves to roots: each adds its least costs to those of the next
        done = 0
        while done < waiting:
            v = queue[done]
            done += 1
            peeled[v] = 1
            edge = head[v]
            while edge >= 0 and peeled[edge_to[edge]]:
                edge = edge_next[edge]
            upward[v] = edge
            start[v] = int(_random(state) * sizes[v])
            if edge < 0:
                continue
            w, own, their = edge_to[edge], stride[edge_own[edge]], stride[edge_their[edge]]
            cell = _place(factor[edge_own[edge]], scope_start, variable, stride, table_start, values)
            cell -= own * values[v] + their * values[w]
            begin = unary_start[v]
            for b in range(sizes[w]):
                least = np.inf
                for a in range(sizes[v]):
                    candidate = cost[begin + a] + pool[cell + a * own + b * their]
                    if candidate < least:
                        least = candidate
                cost[unary_start[w] + b] += least
            degree[w] -= 1
            if degree[w] == 1:
                queue[waiting] = w
                waiting += 1
        # roots to leaves: the best value given the next one's. Looked for again, since a table of the best values
        # for all of the next one's would have as many cells as the factors have.
        for position in range(done - 1, -1, -1):
            v = queue[position]
            edge, begin, size = upward[v], unary_start[v], sizes[v]
            if edge >= 0:
                own = stride[edge_own[edge]]
                cell = _place(factor[edge_own[edge]], scope_start, variable, stride, table_start, values)
                cell -= own * values[v]
                for a in range(size):
                    cost[begin + a] += pool[cell + a * own]
            best = start[v]
            for shift in range(1, size):
                a = (start[v] + shift) % size
                if cost[begin + a] < cost[begin + best]:
                    best = a
            values[v] = best

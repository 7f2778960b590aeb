"""A compiled large-neighbourhood move: free a random induced forest and set it to its joint optimum.

Given the values of all other variables, a set of variables that no cycle of factors connects is solved exactly by
min-sum from the leaves to the roots. A factor of any arity takes part if at most two of its variables are free: it
is then a matrix, cut out of its table by strides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.entries import Entries, chosen_cell
from dabp.kernels.local_search.search_arrays import Ints


class ForestCosts(NamedTuple):
    """The costs of a problem; forbidden combinations have a finite cost above any finite total."""

    entries: Entries
    unary: NDArray[np.float64]  # own costs of each variable's values, flat
    unary_start: Ints  # where each variable's values begin in `unary`, [N + 1]
    pool: NDArray[np.float64]  # the cells of all tables


class Forest(NamedTuple):
    """The variables that a move frees and the edges between them; made for N variables, filled by each move."""

    order: Ints  # in which variables are tried, [N]
    free: NDArray[np.uint8]  # 1 for those in the forest, [N]
    parent: Ints  # of the union-find structure that tells trees apart, [N]
    degree: Ints  # edges of a free variable that are not worked off yet, [N]
    head: Ints  # the first of its edges, −1 if it has none, [N]
    edge_to: Ints  # the variable that an edge leads to; the edge back is the next or the one before, [2 N]
    edge_own: Ints  # the entry of the variable that it starts at, [2 N]
    edge_their: Ints  # the entry of the one it leads to, [2 N]
    edge_next: Ints  # the next edge that starts at the same variable, −1 after the last, [2 N]
    peeled: NDArray[np.uint8]  # 1 for what is worked off on the way to the roots, [N]
    queue: Ints  # free variables, leaves first, [N]
    upward: Ints  # the edge towards the root, −1 at the root, [N]
    start: Ints  # the value from which the best one is looked for, which breaks ties, [N]
    cost: NDArray[np.float64]  # of the values of free variables with everything below them, laid out as `unary`

    @classmethod
    def empty(cls, columns: ForestCosts) -> Forest:
        """The arrays for the moves on a problem."""
        n = len(columns.entries.sizes)
        order, parent, degree, head, queue, upward, start = (np.zeros(n, dtype=np.int64) for _ in range(7))
        edge_to, edge_own, edge_their, edge_next = (np.zeros(2 * n, dtype=np.int64) for _ in range(4))
        free, peeled = (np.zeros(n, dtype=np.uint8) for _ in range(2))
        return cls(
            order, free, parent, degree, head, edge_to, edge_own, edge_their, edge_next, peeled, queue, upward, start,
            cost=np.zeros(len(columns.unary)),
        )  # fmt: skip


@inlined
def _random(state: NDArray[np.uint64]) -> float:
    """A number in [0, 1) from a xorshift generator; `state` [1] is changed in place."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float(x * np.uint64(2685821657736338717) >> np.uint64(11)) / 9007199254740992.0


@inlined
def _root(parent: Ints, v: int) -> int:
    """The representative of v's tree."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@inlined
def _first_cell(c: ForestCosts, e: int, values: Ints) -> int:
    """The cell of entry e's factor under `values`, with its variable at value 0."""
    f, v = c.entries.factor[e], c.entries.variable[e]
    return int(c.entries.table_start[f] + chosen_cell(c.entries, f, values) - c.entries.stride[e] * values[v])


@local_kernel
def penalised_cost(c: ForestCosts, values: Ints) -> float:
    """The cost of an assignment, without the constant."""
    total = 0.0
    for i in range(len(values)):
        total += c.unary[c.unary_start[i] + values[i]]
    for f in range(len(c.entries.table_start)):
        total += c.pool[c.entries.table_start[f] + chosen_cell(c.entries, f, values)]
    return total


@inlined
def _free_neighbour(c: ForestCosts, forest: Forest, e: int) -> int:
    """The entry of the other free variable of entry e's factor: −1 if there is none, −2 if there are several."""
    f, found = c.entries.factor[e], -1
    for o in range(c.entries.scope_start[f], c.entries.scope_start[f + 1]):
        if o != e and forest.free[c.entries.variable[o]]:
            if found >= 0:
                return -2
            found = o
    return found


@inlined
def _connect(c: ForestCosts, forest: Forest, v: int, num_edges: int) -> int:
    """Write v's edges into the forest after the first `num_edges`; how many there are then, −1 if v may not be free.

    It may if its factors have at most one other free variable each, all of them in different trees.
    """
    end = num_edges
    for position in range(c.entries.incident_start[v], c.entries.incident_start[v + 1]):
        e = c.entries.incident[position]
        other = _free_neighbour(c, forest, e)
        if other == -2:
            return -1
        if other >= 0:
            w = c.entries.variable[other]
            tree = _root(forest.parent, w)
            for earlier in range(num_edges, end, 2):
                if _root(forest.parent, forest.edge_to[earlier]) == tree:
                    return -1
            forest.edge_to[end], forest.edge_own[end], forest.edge_their[end] = w, e, other
            forest.edge_to[end + 1], forest.edge_own[end + 1], forest.edge_their[end + 1] = v, other, e
            end += 2
    return end


@inlined
def _grow(c: ForestCosts, forest: Forest, random: NDArray[np.uint64]) -> None:
    """Choose a random forest that no further variable could join, and link its edges."""
    n = len(c.entries.sizes)
    for v in range(n):
        forest.order[v], forest.parent[v] = v, v
        forest.free[v], forest.peeled[v], forest.degree[v] = 0, 0, 0
        forest.head[v], forest.upward[v] = -1, -1
    num_edges = 0
    for turn in range(n):
        swap = turn + int(_random(random) * (n - turn))
        v = forest.order[swap]
        forest.order[swap] = forest.order[turn]
        forest.order[turn] = v
        end = _connect(c, forest, v, num_edges)
        if end < 0:
            continue
        forest.free[v] = 1
        for edge in range(num_edges, end, 2):
            w = forest.edge_to[edge]
            forest.parent[_root(forest.parent, w)] = v
            forest.edge_next[edge] = forest.head[v]
            forest.head[v] = edge
            forest.edge_next[edge + 1] = forest.head[w]
            forest.head[w] = edge + 1
            forest.degree[v] += 1
            forest.degree[w] += 1
        num_edges = end


@inlined
def _own_costs(c: ForestCosts, forest: Forest, temperature: float, random: NDArray[np.uint64], values: Ints) -> int:
    """Costs of free variables given the fixed ones, perturbed; queues the leaves and tells how many there are."""
    waiting = 0
    for v in range(len(c.entries.sizes)):
        if not forest.free[v]:
            continue
        begin = c.unary_start[v]
        for a in range(c.entries.sizes[v]):
            forest.cost[begin + a] = c.unary[begin + a]
            if temperature > 0.0:
                forest.cost[begin + a] += temperature * np.log(-np.log(1e-12 + (1.0 - 2e-12) * _random(random)))
        for position in range(c.entries.incident_start[v], c.entries.incident_start[v + 1]):
            e = c.entries.incident[position]
            if _free_neighbour(c, forest, e) == -1:
                cell = _first_cell(c, e, values)
                for a in range(c.entries.sizes[v]):
                    forest.cost[begin + a] += c.pool[cell + a * c.entries.stride[e]]
        if forest.degree[v] <= 1:
            forest.queue[waiting] = v
            waiting += 1
    return waiting


@inlined
def _to_roots(c: ForestCosts, forest: Forest, waiting: int, random: NDArray[np.uint64], values: Ints) -> int:
    """Leaves to roots: each adds its least costs to those of the next. How many there were."""
    done = 0
    while done < waiting:
        v = forest.queue[done]
        done += 1
        forest.peeled[v] = 1
        edge = forest.head[v]
        while edge >= 0 and forest.peeled[forest.edge_to[edge]]:
            edge = forest.edge_next[edge]
        forest.upward[v] = edge
        forest.start[v] = int(_random(random) * c.entries.sizes[v])
        if edge < 0:
            continue
        w, entry = forest.edge_to[edge], forest.edge_own[edge]
        own, their = c.entries.stride[entry], c.entries.stride[forest.edge_their[edge]]
        cell = _first_cell(c, entry, values) - their * values[w]
        begin = c.unary_start[v]
        for b in range(c.entries.sizes[w]):
            least = np.inf
            for a in range(c.entries.sizes[v]):
                candidate = forest.cost[begin + a] + c.pool[cell + a * own + b * their]
                if candidate < least:
                    least = candidate
            forest.cost[c.unary_start[w] + b] += least
        forest.degree[w] -= 1
        if forest.degree[w] == 1:
            forest.queue[waiting] = w
            waiting += 1
    return done


@inlined
def _to_leaves(c: ForestCosts, forest: Forest, count: int, values: Ints) -> None:
    """Roots to leaves: the best value given the next one's.

    Looked for again, since a table of the best values for all of the next one's would have as many cells as the
    factors have.
    """
    for position in range(count - 1, -1, -1):
        v = forest.queue[position]
        edge, begin, size = forest.upward[v], c.unary_start[v], c.entries.sizes[v]
        if edge >= 0:
            entry = forest.edge_own[edge]
            cell, own = _first_cell(c, entry, values), c.entries.stride[entry]
            for a in range(size):
                forest.cost[begin + a] += c.pool[cell + a * own]
        best = forest.start[v]
        for shift in range(1, size):
            a = (forest.start[v] + shift) % size
            if forest.cost[begin + a] < forest.cost[begin + best]:
                best = a
        values[v] = best


@local_kernel
def forest_move(c: ForestCosts, forest: Forest, temperature: float, random: NDArray[np.uint64], values: Ints) -> None:
    """Make a move on `values` [N], in place.

    At temperature T the forest minimises Σ costs + T · noise, the noise drawn per variable and value from a Gumbel
    distribution (perturb and minimise), so that at T > 0 the moves wander and at 0 the cost never rises. Ties are
    broken at random.
    """
    _grow(c, forest, random)
    waiting = _own_costs(c, forest, temperature, random, values)
    count = _to_roots(c, forest, waiting, random, values)
    _to_leaves(c, forest, count, values)

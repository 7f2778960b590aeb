"""Compiled packing of a graph's edges into small cliques."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel

Array = Any
Ints = NDArray[np.int64]


class Edges(NamedTuple):
    """A graph's edges by their ends, and the neighbours of each vertex."""

    first: Ints
    """[E]."""
    second: Ints
    """[E]."""
    neighbour_start: Ints
    """[N + 1]: vertex v has ``neighbours[neighbour_start[v]:neighbour_start[v + 1]]``, sorted."""
    neighbours: Ints
    """[2 E]."""
    neighbour_edge: Ints
    """[2 E]: the edges to them."""


@kernel
def pack_cliques(
    sizes: Array, edges: Edges, largest_table: float, max_cells: float, members: Array, clique_of_edge: Array
) -> int:
    """Greedily pack edges into cliques of 3 or more vertices, each edge into at most one.

    A vertex joins a clique if all but one of its edges to it are unused (two, for a triangle), and the product of the
    sizes stays at most `largest_table`. Fills `members` [cliques, largest clique] and `clique_of_edge` [E] (−1 =
    none) and returns the number of cliques, or −1 as soon as these products sum to more than `max_cells`.
    """
    neighbour_start, neighbours, neighbour_edge = edges.neighbour_start, edges.neighbours, edges.neighbour_edge
    largest = members.shape[1]
    count, total = 0, 0.0
    num_edges = len(edges.first)
    used = np.zeros(num_edges, dtype=np.uint8)
    clique_of_edge[:] = -1
    current = np.zeros(largest, dtype=np.int64)
    for edge in range(num_edges):
        if used[edge]:
            continue
        current[0], current[1] = edges.first[edge], edges.second[edge]
        length = 2
        cells = float(sizes[current[0]]) * float(sizes[current[1]])
        while length < largest:
            best, best_fresh = -1, 0
            base = current[0]
            for position in range(neighbour_start[base], neighbour_start[base + 1]):
                vertex = neighbours[position]
                if cells * sizes[vertex] > largest_table:
                    continue
                fresh = 1 - used[neighbour_edge[position]]
                complete = True
                for k in range(1, length):
                    other = current[k]
                    if vertex == other:
                        complete = False
                        break
                    first, last = neighbour_start[other], neighbour_start[other + 1]
                    place = first + np.searchsorted(neighbours[first:last], vertex)
                    if place >= last or neighbours[place] != vertex:
                        complete = False
                        break
                    fresh += 1 - used[neighbour_edge[place]]
                if complete and fresh > best_fresh:
                    best, best_fresh = vertex, fresh
            if best < 0 or best_fresh < max(2, length - 1):
                break
            current[length] = best
            cells *= sizes[best]
            length += 1
        if length < 3:
            continue
        total += cells
        if total > max_cells:
            return -1
        for k in range(largest):
            members[count, k] = current[k] if k < length else -1
        for k in range(length):
            vertex = current[k]
            for position in range(neighbour_start[vertex], neighbour_start[vertex + 1]):
                if used[neighbour_edge[position]]:
                    continue
                for j in range(length):
                    if neighbours[position] == current[j]:
                        used[neighbour_edge[position]] = 1
                        clique_of_edge[neighbour_edge[position]] = count
        count += 1
    return count

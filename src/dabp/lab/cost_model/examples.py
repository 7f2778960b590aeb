"""Training examples: small random problems as a search meets them, walked from the root with exact labels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.lab.cost_model.microstructure import Subtree

Table = tuple[tuple[int, ...], NDArray[np.floating[Any]]]
"""A scope in rising order, and an axis for each of its variables."""


@dataclass(frozen=True)
class Example:
    """A subtree and the exact optimal cost of each value of its target, both in units of cost / 100."""

    subtree: Subtree
    label: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Where examples come from.

    A component of free variables is a random connected graph, given a depth-first pseudo-tree. Constraints have
    random tables (or punish equal values, as in graph colouring), and every variable carries the summed costs of
    a random number of assigned neighbours; where a search has been at work one value of these is better than
    chance. The component is then walked from the root as a search does, mostly by the best values.

    Parameters
    ----------
    min_variables, max_variables
        Of a component.
    min_domain, max_domain
        Values per variable; one size in most problems, mixed in the others.
    max_extra_edges
        Constraints beyond a spanning tree, as a multiple of the variables.
    max_assigned
        Assigned neighbours of a free variable.
    colouring
        Share of graph colouring problems.
    mixed
        Share of problems with mixed domains.
    exploration
        Probability that the walk takes a random value instead of the best one.
    max_entries
        Subtrees that need larger tables for their labels give no example.
    """

    min_variables: int = 3
    max_variables: int = 16
    min_domain: int = 3
    max_domain: int = 15
    max_extra_edges: float = 1.0
    max_assigned: int = 20
    colouring: float = 0.15
    mixed: float = 0.15
    exploration: float = 0.3
    max_entries: int = 400_000

    def __post_init__(self) -> None:
        if not 2 <= self.min_variables <= self.max_variables or not 1 <= self.min_domain <= self.max_domain:
            raise ParameterError("examples need at least 2 variables and 1 value, and no minimum above its maximum")

    def stream(self, rng: np.random.Generator) -> Iterator[Example]:
        """Examples of random components, without end."""
        while True:
            yield from self._walk(rng)

    def _walk(self, rng: np.random.Generator) -> Iterator[Example]:
        component = self._component(rng)
        root = 0
        while True:
            subtree, members = component.below(root)
            if len(members) == 1:
                return
            value = int(rng.integers(subtree.sizes[0]))
            try:
                costs = exact_costs(subtree, self.max_entries)
            except ParameterError:
                pass  # further down the walk the subtree becomes small enough
            else:
                yield Example(subtree, costs.astype(np.float32))
                if rng.random() >= self.exploration:
                    value = int(costs.argmin())
            component.assign(root, value)
            children = [i for i in members.tolist() if component.parent[i] == root]
            inner = [i for i in children if (component.parent == i).any()]
            if not inner:
                return
            root = int(rng.choice(inner))

    def _component(self, rng: np.random.Generator) -> _Component:
        n = int(rng.integers(self.min_variables, self.max_variables + 1))
        adjacent = np.zeros((n, n), dtype=bool)
        for i in range(1, n):
            adjacent[i, rng.integers(i)] = True
        extra = int(rng.random() * self.max_extra_edges * n)
        adjacent[rng.integers(n, size=extra), rng.integers(n, size=extra)] = True
        adjacent = (adjacent | adjacent.T) & ~np.eye(n, dtype=bool)
        order, parent = _depth_first(adjacent, rng)

        colouring = rng.random() < self.colouring
        high = 6 if colouring else self.max_domain
        sizes = np.full(n, rng.integers(min(self.min_domain, high), high + 1))
        if not colouring and rng.random() < self.mixed:
            sizes = rng.integers(self.min_domain, self.max_domain + 1, size=n)

        tables, unary = {}, []
        for i in range(n):
            for j in range(i):
                if adjacent[order[i], order[j]]:
                    tables[i, j] = _table(rng, int(sizes[i]), int(sizes[j]), colouring)
        most = int(rng.integers(self.max_assigned + 1))
        for i in range(n):
            count = int(rng.integers(most // 2, most + 1))
            unary.append(_assigned(rng, int(sizes[i]), count, colouring) if count else None)
        return _Component(sizes, parent, tables, unary)


@dataclass
class _Component:
    """Variables in depth-first order (so ancestors come first); `tables[i, j]` is [values of i, values of j], j < i."""

    sizes: NDArray[np.int64]
    parent: NDArray[np.int64]
    tables: dict[tuple[int, int], NDArray[np.float32]]
    unary: list[NDArray[np.float32] | None]

    def below(self, root: int) -> tuple[Subtree, NDArray[np.int64]]:
        """The subtree of a variable whose ancestors are all assigned, and its variables."""
        inside = np.zeros(len(self.sizes), dtype=bool)
        inside[root] = True
        for i in range(root + 1, len(self.sizes)):
            inside[i] = self.parent[i] >= 0 and inside[self.parent[i]]
        members = np.flatnonzero(inside)
        number = np.cumsum(inside) - 1
        edges = [(i, j) for (i, j) in self.tables if inside[i] and inside[j]]
        subtree = Subtree(
            self.sizes[members],
            tuple(self.unary[i] for i in members),
            np.array([number[i] for i, _ in edges], dtype=np.int64),
            np.array([number[j] for _, j in edges], dtype=np.int64),
            tuple(self.tables[edge] for edge in edges),
        )
        return subtree, members

    def assign(self, variable: int, value: int) -> None:
        """Turn the constraints between a variable and its descendants into unary costs of these."""
        for i, j in [edge for edge in self.tables if edge[1] == variable]:
            row = self.tables.pop((i, j))[:, value]
            before = self.unary[i]
            self.unary[i] = row.copy() if before is None else before + row


def _depth_first(adjacent: NDArray[np.bool_], rng: np.random.Generator) -> tuple[list[int], NDArray[np.int64]]:
    """Vertices in depth-first order from a random root, and each one's parent as a position in that order."""
    order: list[int] = []
    parent: list[int] = []
    position: dict[int, int] = {}

    def visit(vertex: int, above: int) -> None:
        position[vertex] = len(order)
        order.append(vertex)
        parent.append(above)
        for neighbour in rng.permutation(np.flatnonzero(adjacent[vertex])).tolist():
            if neighbour not in position:
                visit(neighbour, position[vertex])

    visit(int(rng.integers(len(adjacent))), -1)
    return order, np.array(parent, dtype=np.int64)


def _table(rng: np.random.Generator, rows: int, columns: int, colouring: bool) -> NDArray[np.float32]:
    if not colouring:
        return np.asarray(rng.integers(101, size=(rows, columns)) / 100, dtype=np.float32)
    # Unequal colours cost a little noise, in whole hundredths so that pairs of one cost share a node.
    costs = rng.integers(11, size=(rows, columns)) / 10_000
    diagonal = np.arange(min(rows, columns))
    costs[diagonal, diagonal] = rng.integers(1, 101, size=len(diagonal)) / 100
    return costs.astype(np.float32)


def _assigned(rng: np.random.Generator, size: int, count: int, colouring: bool) -> NDArray[np.float32]:
    """The summed costs with `count` assigned neighbours; half of the time one value is better than chance."""
    if colouring:
        costs = rng.integers(11, size=(count, size)) / 10_000
        costs[np.arange(count), rng.integers(size, size=count)] = rng.integers(1, 101, size=count) / 100
        return np.asarray(costs.sum(axis=0), dtype=np.float32)
    costs = rng.integers(101, size=(count, size)) / 100
    if rng.random() < 0.5:
        costs[:, rng.integers(size)] *= rng.random()
    return np.asarray(costs.sum(axis=0), dtype=np.float32)


def exact_costs(subtree: Subtree, max_entries: int = 2_000_000) -> NDArray[np.float64]:
    """Min over all variables but the target of the subtree's summed costs, by value of the target: bucket elimination.

    Variables are eliminated in order of the size of the table that this makes (least first).
    Raises a `ParameterError` if a table would need more than `max_entries` entries.
    """
    tables: list[Table] = [((i,), u.astype(np.float64)) for i, u in enumerate(subtree.unary) if u is not None]
    for low, high, table in zip(subtree.lower.tolist(), subtree.upper.tolist(), subtree.tables, strict=True):
        tables.append(((low, high), table) if low < high else ((high, low), table.T))
    tables.append(((0,), np.zeros(subtree.sizes[0])))

    sizes = subtree.sizes.tolist()
    left = set(range(1, len(sizes)))
    neighbours = {i: {v for scope, _ in tables if i in scope for v in scope} - {i} for i in [0, *left]}
    while left:
        entries = {i: math.prod(sizes[v] for v in (i, *neighbours[i])) for i in left}
        variable = min(left, key=lambda i: (entries[i], i))
        if entries[variable] > max_entries:
            raise ParameterError(f"eliminating a variable needs {entries[variable]} entries, over {max_entries}")
        left.remove(variable)
        bucket = [one for one in tables if variable in one[0]]
        tables = [one for one in tables if variable not in one[0]]
        tables.append(_eliminated(variable, bucket, subtree))
        around = neighbours.pop(variable)
        for i in around:
            neighbours[i] = (neighbours[i] | around) - {i, variable}
    return np.asarray(sum(table for _, table in tables), dtype=np.float64)


def _eliminated(variable: int, bucket: list[Table], subtree: Subtree) -> Table:
    # The variable to minimise over comes last, where the minimum runs over adjacent entries.
    scope = (*sorted({v for one, _ in bucket for v in one} - {variable}), variable)
    total = np.zeros(tuple(subtree.sizes[list(scope)]))
    for own, table in bucket:
        order = sorted(range(len(own)), key=lambda axis: scope.index(own[axis]))
        shape = [int(subtree.sizes[v]) if v in own else 1 for v in scope]
        total += table.transpose(order).reshape(shape)
    return scope[:-1], total.min(axis=-1)

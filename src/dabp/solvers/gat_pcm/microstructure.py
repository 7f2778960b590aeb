"""The graph that the cost model reads: value, cost and constraint nodes of a pseudo-tree below a target variable.

A `Subtree` is a target variable with its descendants in a pseudo-tree, everything above already assigned. Its
microstructure has a node per value of each variable, a node per pair of values of each constraint, a node per
value of a unary function, and a node per constraint; edges run child value → pair → parent value and
pair → constraint, so the graph is acyclic towards the target.

Only nodes within four steps of a read-out matter to four attention layers, and after the first layer a pair
knows nothing but its cost. `microstructure` therefore lists, layer by layer, the nodes that matter, and up to
there one node stands for all pairs of the same cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LAYERS = 4
"""Attention layers of the model, and so the reach of a read-out."""

CONSTRAINT, COST, VALUE, AMOUNT = range(4)
"""The columns of a node's features: which of three kinds it is, and its cost in the model's units."""

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Subtree:
    """A target variable (number 0) and its descendants, in the model's units of cost (problem's / 100).

    Constraint k lies between `lower[k]` and its ancestor `upper[k]`, and `tables[k]` has shape
    [values of lower, values of upper].
    """

    sizes: Index
    """Values of each variable, [N]."""
    unary: tuple[NDArray[np.float32] | None, ...]
    """Per variable the summed costs with everything assigned, or None where there is nothing assigned."""
    lower: Index
    upper: Index
    tables: tuple[NDArray[np.float32], ...]


@dataclass(frozen=True)
class Level:
    """The edges into the nodes of one layer, sorted by their end.

    Node i's come from ``source[offsets[i]:offsets[i + 1]]``, positions among the nodes of the layer before; the
    first of them is the node itself.
    """

    offsets: Index
    source: Index


@dataclass(frozen=True)
class Microstructure:
    """Several subtrees' graphs as one, ready for `network.CostModel`.

    After the last layer the nodes are the values of each subtree's target in order, then the constraints.
    """

    features: NDArray[np.float32]
    """Of the nodes before the first layer, [nodes, 4]."""
    levels: tuple[Level, ...]
    value_subtree: Index
    """Which subtree each read-out value belongs to."""
    constraint_subtree: Index
    """Which subtree each read-out constraint belongs to; empty if constraints were left out."""


class _Numbers:
    """Hands out positions in one level's node list and remembers them by node."""

    def __init__(self, count: int):
        self.position = np.full(count, -1, dtype=np.int64)
        self.nodes: Index = np.zeros(0, dtype=np.int64)

    def add(self, nodes: Index) -> None:
        new = np.unique(nodes)
        new = new[self.position[new] < 0]
        self.position[new] = len(self.nodes) + np.arange(len(new))
        self.nodes = np.concatenate([self.nodes, new])


def microstructure(subtrees: Sequence[Subtree], *, constraints: bool = True) -> Microstructure:
    """The graph of several subtrees, pruned to what their read-outs see.

    Parameters
    ----------
    subtrees
        Each gives one prediction per value of its target.
    constraints
        Whether the constraint nodes are read out. They add the same to all values of a target, so a search does
        without them and saves most of the nodes.
    """
    flat = _flatten(subtrees)
    num_nodes = flat.features.shape[0]
    wanted = _Numbers(num_nodes)
    wanted.add(flat.target_values)
    if constraints:
        wanted.add(flat.constraint_nodes)

    levels: list[Level] = []
    itself = np.arange(num_nodes)
    for depth in range(LAYERS, 0, -1):
        into = wanted.position[flat.target] >= 0
        source, target = flat.source[into], flat.target[into]
        before = _Numbers(num_nodes)
        stand_in = (flat.same_features, flat.same_cost, itself, itself)[depth - 1]
        before.add(stand_in[wanted.nodes])
        before.add(stand_in[source])
        ends = np.concatenate([np.arange(len(wanted.nodes)), wanted.position[target]])
        starts = before.position[stand_in[np.concatenate([wanted.nodes, source])]]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=len(wanted.nodes)))])
        levels.append(Level(offsets, starts[np.argsort(ends, kind="stable")]))
        wanted = before
    return Microstructure(
        flat.features[wanted.nodes],
        tuple(reversed(levels)),
        flat.value_subtree,
        flat.constraint_subtree if constraints else np.zeros(0, dtype=np.int64),
    )


@dataclass(frozen=True)
class _Flat:
    features: NDArray[np.float32]
    source: Index
    target: Index
    same_features: Index
    """A node with the same features: who can stand for it before the first layer."""
    same_cost: Index
    """A pair with the same cost, or the node itself: who can stand for it after the first layer."""
    target_values: Index
    value_subtree: Index
    constraint_nodes: Index
    constraint_subtree: Index


def _flatten(subtrees: Sequence[Subtree]) -> _Flat:
    """All nodes and edges, numbered values first, then pairs, unary costs, constraints."""
    sizes = np.concatenate([s.sizes for s in subtrees])
    first_variable = np.cumsum([0, *(len(s.sizes) for s in subtrees)])[:-1]
    first_value = np.concatenate([[0], np.cumsum(sizes)])
    num_values = int(first_value[-1])

    tables = [t for s in subtrees for t in s.tables]
    lower = np.concatenate([s.lower + o for s, o in zip(subtrees, first_variable, strict=True)])
    upper = np.concatenate([s.upper + o for s, o in zip(subtrees, first_variable, strict=True)])
    columns = sizes[upper] if len(upper) else np.zeros(0, dtype=np.int64)
    cells = np.array([t.size for t in tables], dtype=np.int64)
    pair_constraint = np.repeat(np.arange(len(tables)), cells)
    within = np.arange(cells.sum()) - np.repeat(np.cumsum(cells) - cells, cells)
    pair_lower = first_value[lower[pair_constraint]] + within // columns[pair_constraint]
    pair_upper = first_value[upper[pair_constraint]] + within % columns[pair_constraint]
    pair_cost = np.concatenate([t.ravel() for t in tables]) if tables else np.zeros(0, dtype=np.float32)
    pairs = num_values + np.arange(len(pair_cost))

    unaries = [u for s in subtrees for u in s.unary]
    have = np.array([u is not None for u in unaries], dtype=bool)
    unary_cost = np.concatenate([*(u for u in unaries if u is not None), np.zeros(0, dtype=np.float32)])
    unary_value = np.flatnonzero(np.repeat(have, sizes))
    unary_constraint = len(tables) + np.repeat(np.arange(have.sum()), sizes[have])
    unaries_at = num_values + len(pairs)
    unary_nodes = unaries_at + np.arange(len(unary_cost))

    first_constraint = unaries_at + len(unary_nodes)
    constraint_nodes = first_constraint + np.arange(len(tables) + int(have.sum()))
    owner = np.repeat(np.arange(len(subtrees)), [len(s.sizes) for s in subtrees])

    features = np.zeros((first_constraint + len(constraint_nodes), 4), dtype=np.float32)
    features[:num_values, VALUE] = 1
    features[num_values:first_constraint, COST] = 1
    features[pairs, AMOUNT], features[unary_nodes, AMOUNT] = pair_cost, unary_cost
    features[first_constraint:, CONSTRAINT] = 1

    same_cost = np.arange(len(features))
    _, first, inverse = np.unique(pair_cost, return_index=True, return_inverse=True)
    same_cost[pairs] = pairs[first][inverse]
    same_features = same_cost.copy()
    same_features[:num_values] = 0
    same_features[first_constraint:] = first_constraint
    return _Flat(
        features,
        np.concatenate([pair_lower, pairs, pairs, unary_nodes, unary_nodes]),
        np.concatenate(
            [
                pairs,
                pair_upper,
                first_constraint + pair_constraint,
                unary_value,
                first_constraint + unary_constraint,
            ]
        ),
        same_features,
        same_cost,
        np.concatenate([first_value[f] + np.arange(sizes[f]) for f in first_variable]),
        np.repeat(np.arange(len(subtrees)), sizes[first_variable]),
        constraint_nodes,
        np.concatenate([owner[upper], owner[have]]),
    )

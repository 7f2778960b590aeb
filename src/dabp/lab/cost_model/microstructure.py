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

from dabp.lab.cost_model.subtree import Index, Subtree, whole_graph
from dabp.problem.columns import offsets_of

LAYERS = 4
"""Attention layers of the model, and so the reach of a read-out."""


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
    flat = whole_graph(subtrees)
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
        offsets = offsets_of(np.bincount(ends, minlength=len(wanted.nodes)))
        levels.append(Level(offsets, starts[np.argsort(ends, kind="stable")]))
        wanted = before
    return Microstructure(
        flat.features[wanted.nodes],
        tuple(reversed(levels)),
        flat.value_subtree,
        flat.constraint_subtree if constraints else np.zeros(0, dtype=np.int64),
    )

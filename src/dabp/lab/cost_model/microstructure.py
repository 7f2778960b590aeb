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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.problem.columns import offsets_of
from dabp.solvers.gat_pcm.weights import Feature

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Subtree:
    """A target variable (number 0) and its descendants, in the model's units of cost (problem's / 100).

    Constraint k lies between `lower[k]` and its ancestor `upper[k]`, and `tables[k]` has shape
    [values of lower, values of upper].
    """

    sizes: Index  # values of each variable, [N]
    unary: tuple[NDArray[np.float32] | None, ...]  # by variable the summed costs with everything assigned, if any
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

    features: NDArray[np.float32]  # of the nodes before the first layer, [nodes, 4]
    levels: tuple[Level, ...]
    value_subtree: Index  # which subtree each read-out value belongs to
    constraint_subtree: Index  # which subtree each read-out constraint belongs to; empty if they were left out


class _WholeGraph(NamedTuple):
    """All nodes, numbered values first, then pairs, unary costs, constraints."""

    features: NDArray[np.float32]
    source: Index  # where each edge starts
    target: Index  # where each edge ends
    same_features: Index  # a node with the same features: stands for it before the first layer
    same_cost: Index  # a pair with the same cost, or the node itself: stands for it after the first layer
    target_values: Index
    value_subtree: Index
    constraint_nodes: Index
    constraint_subtree: Index


def _whole_graph(subtrees: Sequence[Subtree]) -> _WholeGraph:
    """The graph of several subtrees with nothing left out."""
    sizes = np.concatenate([s.sizes for s in subtrees])
    first_variable = offsets_of([len(s.sizes) for s in subtrees])[:-1]
    first_value = offsets_of(sizes)
    # Pairs of all constraints, row by row of their tables.
    tables = [t for s in subtrees for t in s.tables]
    lower = np.concatenate([s.lower + o for s, o in zip(subtrees, first_variable, strict=True)])
    upper = np.concatenate([s.upper + o for s, o in zip(subtrees, first_variable, strict=True)])
    starts = offsets_of([t.size for t in tables])
    constraint = np.repeat(np.arange(len(tables)), np.diff(starts))
    row, column = np.divmod(np.arange(starts[-1]) - starts[constraint], sizes[upper[constraint]])
    below, above = first_value[lower[constraint]] + row, first_value[upper[constraint]] + column
    # Unary costs, with everything assigned.
    unaries = [u for s in subtrees for u in s.unary]
    has = np.array([u is not None for u in unaries], dtype=bool)
    with_unary = np.flatnonzero(np.repeat(has, sizes))
    unary = np.repeat(np.arange(has.sum()), sizes[has])
    costs = np.concatenate(
        [*(t.ravel() for t in tables), *(u for u in unaries if u is not None), np.zeros(0, np.float32)]
    )

    num_values, num_pairs = int(first_value[-1]), len(constraint)
    first_constraint = num_values + len(costs)
    num_constraints = len(tables) + int(has.sum())
    cost_nodes = num_values + np.arange(len(costs))
    pair_nodes, unary_nodes = cost_nodes[:num_pairs], cost_nodes[num_pairs:]
    features = np.zeros((first_constraint + num_constraints, 4), dtype=np.float32)
    features[:num_values, Feature.VALUE] = 1
    features[cost_nodes, Feature.COST] = 1
    features[cost_nodes, Feature.AMOUNT] = costs
    features[first_constraint:, Feature.CONSTRAINT] = 1

    same_cost = np.arange(len(features))
    _, first, inverse = np.unique(costs[:num_pairs], return_index=True, return_inverse=True)
    same_cost[pair_nodes] = pair_nodes[first][inverse]
    same_features = same_cost.copy()
    same_features[:num_values] = 0
    same_features[first_constraint:] = first_constraint
    of_pair, of_unary = first_constraint + constraint, first_constraint + len(tables) + unary
    owner = np.repeat(np.arange(len(subtrees)), [len(s.sizes) for s in subtrees])
    return _WholeGraph(
        features,
        source=np.concatenate([below, pair_nodes, pair_nodes, unary_nodes, unary_nodes]),
        target=np.concatenate([pair_nodes, above, of_pair, with_unary, of_unary]),
        same_features=same_features,
        same_cost=same_cost,
        target_values=np.concatenate([first_value[f] + np.arange(sizes[f]) for f in first_variable]),
        value_subtree=np.repeat(np.arange(len(subtrees)), sizes[first_variable]),
        constraint_nodes=first_constraint + np.arange(num_constraints),
        constraint_subtree=np.concatenate([owner[upper], owner[has]]),
    )


class _Numbers:
    """Positions in one level's node list, by node."""

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

    Each subtree gives one prediction per value of its target. Constraint nodes add the same to all values of a target;
    without `constraints` they are not read out, which saves most of the nodes.
    """
    flat = _whole_graph(subtrees)
    num_nodes = flat.features.shape[0]
    wanted = _Numbers(num_nodes)
    wanted.add(flat.target_values)
    if constraints:
        wanted.add(flat.constraint_nodes)

    levels: list[Level] = []
    itself = np.arange(num_nodes)
    for stand_in in (itself, itself, flat.same_cost, flat.same_features):  # before the fourth layer to the first
        into = wanted.position[flat.target] >= 0
        source, target = flat.source[into], flat.target[into]
        before = _Numbers(num_nodes)
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

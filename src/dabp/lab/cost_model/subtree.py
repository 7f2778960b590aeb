"""A target variable with its descendants in a pseudo-tree, and the whole graph of what the cost model reads of them.

The graph has a node per value of each variable, a node per pair of values of each constraint, a node per value of a
unary function, and a node per constraint; edges run child value → pair → parent value and pair → constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.problem.columns import offsets_of
from dabp.solvers.gat_pcm.parameters import AMOUNT, CONSTRAINT, COST, VALUE

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
class WholeGraph:
    """The whole graph, before what no read-out sees is left out."""

    features: NDArray[np.float32]
    source: Index
    """Where each edge starts."""
    target: Index
    """Where each edge ends."""
    same_features: Index
    """A node with the same features: who can stand for it before the first layer."""
    same_cost: Index
    """A pair with the same cost, or the node itself: who can stand for it after the first layer."""
    target_values: Index
    value_subtree: Index
    constraint_nodes: Index
    constraint_subtree: Index


def whole_graph(subtrees: Sequence[Subtree]) -> WholeGraph:
    """All nodes and edges, numbered values first, then pairs, unary costs, constraints."""
    sizes = np.concatenate([s.sizes for s in subtrees])
    first_variable = offsets_of([len(s.sizes) for s in subtrees])[:-1]
    first_value = offsets_of(sizes)
    num_values = int(first_value[-1])
    pairs = _pair_nodes(subtrees, sizes, first_variable, first_value)
    unary = _unary_nodes(subtrees, sizes)
    num_binary = sum(len(s.tables) for s in subtrees)
    num_constraints = num_binary + int(unary.has.sum())
    pair_nodes = num_values + np.arange(len(pairs.cost))
    unary_nodes = num_values + len(pairs.cost) + np.arange(len(unary.cost))
    first_constraint = num_values + len(pairs.cost) + len(unary.cost)
    owner = np.repeat(np.arange(len(subtrees)), [len(s.sizes) for s in subtrees])

    features = np.zeros((first_constraint + num_constraints, 4), dtype=np.float32)
    features[:num_values, VALUE] = 1
    features[num_values:first_constraint, COST] = 1
    features[pair_nodes, AMOUNT], features[unary_nodes, AMOUNT] = pairs.cost, unary.cost
    features[first_constraint:, CONSTRAINT] = 1

    same_cost = np.arange(len(features))
    _, first, inverse = np.unique(pairs.cost, return_index=True, return_inverse=True)
    same_cost[pair_nodes] = pair_nodes[first][inverse]
    same_features = same_cost.copy()
    same_features[:num_values] = 0
    same_features[first_constraint:] = first_constraint
    of_pair, of_unary = first_constraint + pairs.constraint, first_constraint + num_binary + unary.constraint
    return WholeGraph(
        features,
        source=np.concatenate([pairs.lower, pair_nodes, pair_nodes, unary_nodes, unary_nodes]),
        target=np.concatenate([pair_nodes, pairs.upper, of_pair, unary.value, of_unary]),
        same_features=same_features,
        same_cost=same_cost,
        target_values=np.concatenate([first_value[f] + np.arange(sizes[f]) for f in first_variable]),
        value_subtree=np.repeat(np.arange(len(subtrees)), sizes[first_variable]),
        constraint_nodes=first_constraint + np.arange(num_constraints),
        constraint_subtree=np.concatenate([owner[pairs.ancestor], owner[unary.has]]),
    )


class _Pairs(NamedTuple):
    """A node for each pair of values of each constraint."""

    cost: NDArray[np.float32]
    lower: Index
    """The node of the lower variable's value."""
    upper: Index
    """The node of the upper variable's value."""
    constraint: Index
    """Which constraint."""
    ancestor: Index
    """By constraint: its upper variable."""


def _pair_nodes(subtrees: Sequence[Subtree], sizes: Index, first_variable: Index, first_value: Index) -> _Pairs:
    """The pairs of all constraints, row by row of their tables."""
    tables = [t for s in subtrees for t in s.tables]
    lower = np.concatenate([s.lower + o for s, o in zip(subtrees, first_variable, strict=True)])
    upper = np.concatenate([s.upper + o for s, o in zip(subtrees, first_variable, strict=True)])
    columns = sizes[upper] if len(upper) else np.zeros(0, dtype=np.int64)
    starts = offsets_of([t.size for t in tables])
    constraint = np.repeat(np.arange(len(tables)), np.diff(starts))
    within = np.arange(starts[-1]) - starts[constraint]
    return _Pairs(
        cost=np.concatenate([*(t.ravel() for t in tables), np.zeros(0, dtype=np.float32)]),
        lower=first_value[lower[constraint]] + within // columns[constraint],
        upper=first_value[upper[constraint]] + within % columns[constraint],
        constraint=constraint,
        ancestor=upper,
    )


class _Unaries(NamedTuple):
    """A node for each value of each unary function."""

    cost: NDArray[np.float32]
    value: Index
    """The node of the value."""
    constraint: Index
    """Which unary function."""
    has: NDArray[np.bool_]
    """By variable: whether it has one."""


def _unary_nodes(subtrees: Sequence[Subtree], sizes: Index) -> _Unaries:
    """The costs with everything assigned."""
    unaries = [u for s in subtrees for u in s.unary]
    has = np.array([u is not None for u in unaries], dtype=bool)
    return _Unaries(
        cost=np.concatenate([*(u for u in unaries if u is not None), np.zeros(0, dtype=np.float32)]),
        value=np.flatnonzero(np.repeat(has, sizes)),
        constraint=np.repeat(np.arange(has.sum()), sizes[has]),
        has=has,
    )

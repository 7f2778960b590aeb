"""The smoothed cost, its entropy term and Theorem 1's bound (paper §3.2, Eq. 14-16)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.graph import FactorGroup
from dabp.problem import Assignment, Problem
from dabp.solvers.dabp.structure import Structure

ENTROPY_WEIGHT = 0.1
"""Factor of the beliefs' mean entropy, in bits; the authors' program adds this term, the paper does not."""
ENTROPY_SHIFT = 1e-6
"""Added to a probability before its logarithm, as in the authors' program: the derivative at p = 0 stays finite."""

Array = NDArray[np.floating]


def probabilities(beliefs: Array) -> Array:
    """p_i(τ) ∝ exp(−b_i(τ)) (Eq. 15), [N, D]; 0 beyond a domain, where beliefs are infinite."""
    powers = np.exp(beliefs.min(1, keepdims=True) - beliefs)
    result: Array = powers / powers.sum(1, keepdims=True)
    return result


class Loss:
    """loss^t of Eq. 14 in scaled units, from beliefs [N, D] with infinity beyond a domain."""

    def __init__(self, structure: Structure):
        graph = structure.graph
        self.unary, self.groups = structure.padded(graph.unary), graph.groups
        self.cost_scale, self.shift = graph.cost_scale, graph.shift

    def __call__(self, beliefs: Array) -> float:
        """Smoothed cost + 0.1 × entropy."""
        p = probabilities(beliefs)
        return self.smoothed_cost(p) + ENTROPY_WEIGHT * entropy(p)

    def smoothed_cost(self, p: Array) -> float:
        """Σ_ℓ Σ_τ f_ℓ(τ) Π_i p_i(τ_i): the expected cost of independent draws.

        The copies of a split factor add up to it, so each table counts once; forbidden cells cost the graph's
        finite stand-in.
        """
        total = float((self.unary * p).sum())
        for group in self.groups:
            expected = _expected(group, p, 0)
            total += float((expected * p[group.scope[:, 0], : group.shape[0]]).sum())
        return total

    def gradient(self, beliefs: Array) -> Array:
        """Of the loss with respect to the beliefs, [N, D].

        The smoothed cost is linear in each p_i: its derivative is the expected cost given the value of variable i.
        """
        p = probabilities(beliefs)
        shifted = p + p.dtype.type(ENTROPY_SHIFT)
        of_entropy = np.log2(shifted) + p / (shifted * p.dtype.type(np.log(2.0)))
        slope = self.unary - ENTROPY_WEIGHT / max(1, len(p)) * of_entropy
        for group in self.groups:
            for position, size in enumerate(group.shape):
                np.add.at(slope, (group.scope[:, position, None], np.arange(size)), _expected(group, p, position))
        result: Array = p * ((p * slope).sum(1, keepdims=True) - slope)  # of a softmax of −b
        return result


def entropy(p: Array) -> float:
    """−Σ p log₂(p + 1e-6), mean over the variables, in bits; values beyond a domain have p = 0 and add nothing."""
    return -float((p * np.log2(p + p.dtype.type(ENTROPY_SHIFT))).sum()) / max(1, len(p))


def _expected(group: FactorGroup, p: Array, kept: int) -> Array:
    """Costs of each value of the variable at position `kept`, expected over the others' values: [factors, values]."""
    own = len(group.table_index) == len(group.tables) and (np.diff(group.table_index) == 1).all()
    costs: Array = group.tables if own else group.tables[group.table_index]
    for position in range(group.arity - 1, -1, -1):
        if position != kept:
            chances = p[group.scope[:, position], : group.shape[position]]
            costs = np.einsum("f...x,fx->f...", np.moveaxis(costs, 1 + position, -1), chances)
    return costs


def theorem1_bound(problem: Problem, assignment: Assignment, chances: NDArray[np.float64]) -> float:
    """Σ_ℓ Δ_ℓ (1 − Π_i p_i(τ_i)) ≥ |smoothed cost − cost|, in the problem's units.

    The paper's proof of Theorem 1 reaches this sum before it replaces p_i(τ_i) by its lower bound 1/|D_i|. Δ_ℓ is the
    range of the factor's finite costs, `chances` [N] is p_i(τ_i) of the decoded values.
    """
    highest = problem.facts.per_table(np.maximum, np.where(np.isfinite(problem.pool), problem.pool, -np.inf))
    ranges = highest - problem.facts.per_table(np.minimum)
    ranges = np.where(np.isfinite(ranges), ranges, 0.0)[problem.factor_table]
    total = 0.0
    for group in problem.facts.arity_groups:
        total += float((ranges[group.factors] * (1.0 - chances[group.variables].prod(axis=1))).sum())
    return total

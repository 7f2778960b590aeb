"""The smoothed cost, its entropy term and Theorem 1's bound (paper §3.2, Eq. 14-16)."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dabp.graph import FactorGroup
from dabp.problem import Assignment, Problem
from dabp.solvers.dabp.structure import Structure, tensor

ENTROPY_WEIGHT = 0.1
"""What the mean entropy of the beliefs, in bits, is multiplied by; the authors' program adds it, the paper does not."""
ENTROPY_SHIFT = 1e-6
"""Added to a probability before its logarithm, as in the authors' program: the derivative at p = 0 stays finite."""


class Loss:
    """loss^t of Eq. 14 in scaled units, from padded beliefs [N, D] with infinity beyond a domain."""

    def __init__(self, structure: Structure, device: torch.device):
        graph = structure.graph
        self.unary = tensor(structure.padded(graph.unary), device)
        self.groups = [
            (
                tensor(group.tables, device),
                None if _each_its_own(group) else tensor(group.table_index, device),
                tensor(group.scope, device),
            )
            for group in graph.groups
        ]

    def probabilities(self, beliefs: Tensor) -> Tensor:
        """p_i(τ) ∝ exp(−b_i(τ)) (Eq. 15), 0 beyond a domain."""
        return torch.softmax(-beliefs, 1)

    def smoothed_cost(self, probabilities: Tensor) -> Tensor:
        """Σ_ℓ Σ_τ f_ℓ(τ) Π_i p_i(τ_i): the expected cost of independent draws.

        The copies of a split factor add up to it, so each table counts once; forbidden cells cost the graph's
        finite stand-in.
        """
        total = (self.unary * probabilities).sum()
        for tables, index, scope in self.groups:
            expected = tables if index is None else tables[index]
            for position in range(scope.shape[1] - 1, 0, -1):
                chances = probabilities[scope[:, position], : expected.shape[-1]]
                expected = (expected @ chances.view(len(scope), *[1] * (position - 1), -1, 1)).squeeze(-1)
            expected = expected * probabilities[scope[:, 0], : expected.shape[-1]]
            total = total + expected.sum()
        return total

    def entropy(self, probabilities: Tensor) -> Tensor:
        """−Σ p log₂(p + 1e-6), mean over the variables, in bits; values beyond a domain have p = 0 and add nothing."""
        return -(probabilities * (probabilities + ENTROPY_SHIFT).log2()).sum() / max(1, len(probabilities))

    def __call__(self, beliefs: Tensor) -> Tensor:
        """Smoothed cost + 0.1 × entropy."""
        probabilities = self.probabilities(beliefs)
        return self.smoothed_cost(probabilities) + ENTROPY_WEIGHT * self.entropy(probabilities)


def _each_its_own(group: FactorGroup) -> bool:
    """Whether no two factors share a table, and they are in order: there is nothing to look up then."""
    return np.array_equal(group.table_index, np.arange(len(group.tables)))


def theorem1_bound(problem: Problem, assignment: Assignment, chances: NDArray[np.float64]) -> float:
    """Σ_ℓ Δ_ℓ (1 − Π_i p_i(τ_i)) ≥ |smoothed cost − cost|, in the problem's units.

    This is where the paper's proof of Theorem 1 arrives before it bounds p_i(τ_i) from below by 1/|D_i|. Δ_ℓ is the
    range of the factor's finite costs, `chances` [N] is p_i(τ_i) of the decoded values.
    """
    highest = problem.per_table(np.maximum, np.where(np.isfinite(problem.pool), problem.pool, -np.inf))
    ranges = highest - problem.per_table(np.minimum)
    ranges = np.where(np.isfinite(ranges), ranges, 0.0)[problem.factor_table]
    total = 0.0
    for group in problem.arity_groups:
        total += float((ranges[group.factors] * (1.0 - chances[group.variables].prod(axis=1))).sum())
    return total

"""A window of iterations: what it costs, which of its iterations are effective, what is learned from them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dabp.problem import Assignment, Problem
from dabp.solvers.dabp.loss import Loss
from dabp.solvers.dabp.network import Weights

SETTLED = 1e-3
"""Costs whose standard deviation is at most this times their mean (at least 1) do not move any more."""


class Window:
    """Beliefs, assignments and costs of up to T_upd iterations, and the network that they all use."""

    def __init__(self, problem: Problem, weights: Weights):
        self.problem, self.weights = problem, weights
        self.beliefs: list[Tensor] = []
        self.assignments: list[Assignment] = []
        self.costs: NDArray[np.float64] = np.zeros(0)

    def __len__(self) -> int:
        return len(self.beliefs)

    def add(self, beliefs: Tensor) -> None:
        """Take an iteration's beliefs and decode them (Eq. 4)."""
        self.beliefs.append(beliefs)
        self.assignments.append(beliefs.detach().argmin(1).cpu().numpy())

    def look_up(self) -> NDArray[np.float64]:
        """Exact costs of the assignments decoded since the last call."""
        fresh = self.assignments[len(self.costs) :]
        costs = np.asarray(self.problem.cost(np.array(fresh, dtype=np.int64))) if fresh else np.zeros(0)
        self.costs = np.concatenate([self.costs, costs])
        return costs

    def effective(self, count: int) -> list[int]:
        """The `count` best iterations, of equal ones the earlier (Alg. 1, line 11).

        The first of a window is left out: its beliefs come from messages of the window before, through which no
        gradient flows.
        """
        order = 1 + np.argsort(self.costs[1:], kind="stable")
        return [int(t) for t in order[:count]]

    def loss(self, effective: list[int], loss: Loss) -> Tensor:
        """The mean loss of the effective iterations (Eq. 16)."""
        return torch.stack([loss(self.beliefs[t]) for t in effective]).mean()

    @property
    def settled(self) -> bool:
        """Whether costs have stopped to move, the first left out."""
        costs = self.costs[1:]
        if len(costs) < 2 or not np.isfinite(costs).all():
            return False
        return bool(costs.std(ddof=1) <= SETTLED * max(abs(costs.mean()), 1.0))

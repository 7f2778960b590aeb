"""A window of iterations: what it costs, which of its iterations are effective, what is learned from them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dabp.problem import Assignment, Problem
from dabp.solvers.base import Step
from dabp.solvers.dabp.learned import Learned
from dabp.solvers.dabp.loss import Loss
from dabp.solvers.dabp.network import Network

SETTLED = 1e-3
"""Costs whose standard deviation is at most this times their mean (at least 1) do not move any more."""


class Window:
    """Beliefs, assignments and costs of up to `length` iterations, and the network that they all use.

    Gradients are kept if the network is to be updated from it (`learns`).
    """

    def __init__(self, problem: Problem, network: Network, length: int, learns: bool):
        self.problem, self.length, self.learns = problem, length, learns
        with torch.set_grad_enabled(learns):
            self.network = network.prepared()
        self.beliefs: list[Tensor] = []
        self.assignments: list[Assignment] = []
        self.costs: NDArray[np.float64] = np.zeros(0)
        self.learned: Learned | None = None
        """What its last iteration used."""
        self.skipped = False
        """Whether it could not be learned from."""

    @property
    def full(self) -> bool:
        """Whether it has all its iterations."""
        return len(self.beliefs) == self.length

    def add(self, beliefs: Tensor) -> None:
        """Take an iteration's beliefs and decode them (Eq. 4)."""
        self.beliefs.append(beliefs)
        self.assignments.append(beliefs.detach().argmin(1).cpu().numpy())

    def block(self) -> Step:
        """The iterations since the last call: exact costs, and the best of their assignments."""
        fresh = self.assignments[len(self.costs) :]
        costs = np.asarray(self.problem.cost(np.array(fresh, dtype=np.int64))) if fresh else np.zeros(0)
        self.costs = np.concatenate([self.costs, costs])
        step, best = Step(costs), int(np.argmin(costs))
        if np.isfinite(costs[best]):
            step.best = fresh[best]
            step.best_cost = float(self.problem.cost(step.best))
        return step

    def effective(self, count: int) -> list[int]:
        """The `count` best iterations, of equal ones the earlier (Alg. 1, line 11).

        The first of a window is left out: its beliefs come from messages of the window before, through which no
        gradient flows.
        """
        order = 1 + np.argsort(self.costs[1:], kind="stable")
        return [int(t) for t in order[:count]]

    def loss(self, effective: list[int], loss: Loss) -> Tensor:
        """The mean loss of the effective iterations (Eq. 16)."""
        with torch.set_grad_enabled(self.learns):
            return torch.stack([loss(self.beliefs[t]) for t in effective]).mean()

    @property
    def settled(self) -> bool:
        """Whether costs have stopped to move, the first left out."""
        costs = self.costs[1:]
        if len(costs) < 2 or not np.isfinite(costs).all():
            return False
        return bool(costs.std(ddof=1) <= SETTLED * max(abs(costs.mean()), 1.0))

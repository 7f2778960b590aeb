"""A window of iterations: what Algorithm 1 needs of a way to compute it, its costs, and what the trace records of it.

`compiled` and `plain` are the two ways to compute windows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.problem.columns import nullary_constant
from dabp.solvers.base import Step
from dabp.solvers.dabp.loss import Array, Loss, probabilities, theorem1_bound
from dabp.solvers.dabp.observation import Inferred
from dabp.solvers.dabp.parameters import Parameters


class Messages(NamedTuple):
    """What passes from one window to the next; no gradient flows through it."""

    v2f: Array  # [E, D], zero beyond a domain
    hidden_v2f: Array  # states of the GRU that reads v2f messages, [E, 8]
    hidden_f2v: Array


class Iteration(NamedTuple):
    """What Algorithm 1 reads of one iteration."""

    beliefs: Array  # of the variables' values from this iteration's f2v messages, [N, D], infinite beyond a domain
    change: float  # the largest change of a v2f message; not below any number if a message is not finite


class Unrolled(ABC):
    """The iterations of one window with fixed parameters, and the gradient of their loss."""

    @abstractmethod
    def iterate(self, infers: bool) -> Iteration:
        """One iteration. The network infers λ and w if `infers`, as in the first; otherwise the last are used again."""

    @abstractmethod
    def messages(self) -> Messages:
        """What the last iteration left for the next."""

    @abstractmethod
    def loss(self, effective: list[int]) -> float:
        """The mean loss of these iterations (Eq. 16)."""

    @abstractmethod
    def gradient(self) -> Parameters:
        """Of the loss last computed with respect to every parameter."""

    @abstractmethod
    def learned(self) -> tuple[Array, float, float]:
        """Of the last iteration: λ of the edges whose variable has several factors, least and largest w × (d − 1).

        The latter are (1, 1) if no variable has two factors.
        """

    @abstractmethod
    def inferred(self) -> Inferred:
        """λ and w of the last iteration, of every edge."""


class Backend(ABC):
    """Unrolls the windows of one factor graph."""

    @abstractmethod
    def window(self, parameters: Parameters, messages: Messages, learns: bool) -> Unrolled:
        """Start a window; only a window that learns has a gradient."""

    def close(self) -> None:  # noqa: B027 - optional
        """Release threads and memory."""


class Window:
    """Beliefs, assignments and costs of up to `length` iterations, which `unrolled` computes."""

    def __init__(self, problem: Problem, unrolled: Unrolled, length: int, learns: bool):
        self.problem, self.unrolled, self.length, self.learns = problem, unrolled, length, learns
        self.beliefs: list[Array] = []
        self.assignments: list[Assignment] = []
        self.costs: NDArray[np.float64] = np.zeros(0)
        self.skipped = False  # whether it could not be learned from

    @property
    def full(self) -> bool:
        """Whether it has all its iterations."""
        return len(self.beliefs) == self.length

    def add(self, beliefs: Array) -> None:
        """Append an iteration's beliefs and decode them (Eq. 4)."""
        self.beliefs.append(beliefs)
        self.assignments.append(beliefs.argmin(1))

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

    @property
    def settled(self) -> bool:
        """Whether the standard deviation of the costs but the first is at most 0.001 of their mean (at least 1)."""
        costs = self.costs[1:]
        if len(costs) < 2 or not np.isfinite(costs).all():
            return False
        return bool(costs.std(ddof=1) <= 1e-3 * max(abs(costs.mean()), 1.0))

    def record(self, effective: list[int], loss: Loss) -> dict[str, Any]:
        """Facts about the best effective iteration, and the range of λ and w × (d − 1) in the last one of the window.

        Costs are in the problem's units.
        """
        damping, low, high = self.unrolled.learned()
        record: dict[str, Any] = {"weight_min": low, "weight_mean": 1.0, "weight_max": high}
        if len(damping):
            record |= {f"damping_{name}": float(getattr(damping, name)()) for name in ("min", "mean", "max")}
        if not effective:
            return record
        best, problem = effective[0], self.problem
        with np.errstate(all="ignore"):
            chances = probabilities(self.beliefs[best])
            smoothed = loss.smoothed_cost(chances) * loss.cost_scale + loss.shift
        own = np.take_along_axis(chances, self.assignments[best][:, None], 1)[:, 0]
        bound = theorem1_bound(problem, self.assignments[best], own.astype(np.float64))
        cost = float(self.costs[best])
        return record | {
            "smoothed_cost": smoothed + nullary_constant(problem),
            "bound_theorem1": bound if np.isfinite(problem.pool).all() else None,
            "cost": cost if np.isfinite(cost) else None,
        }

"""Branch and bound on the dual: where its relaxation leaves a gap, variables are fixed, and each case has passes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.problem import Assignment, Problem
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Step
from dabp.solvers.dual.message_passing import FINE_GAIN, FINE_GAP, Dual, DualSearch
from dabp.solvers.dual.pair_passes import Allowed, PairPasses
from dabp.solvers.status import Status

LOOK = 20
"""Passes on a case before the next case is chosen."""

MATURE = 100
"""Passes after which a case may be split."""

CASE_GAIN = 0.1
"""The part of the gap below which a gain of `LOOK` passes leads to a split."""

MOST_COSTS = 50_000_000
"""Costs in the messages of all cases together."""


@dataclass(frozen=True, kw_only=True)
class BranchingDual(Dual):
    """`Dual` with branch and bound once its bound stops to rise.

    The relaxation of an image is often tight but for a few places where three labels meet. With one variable there
    fixed, passes that start from the messages so far are soon tight again: for its best value they decode the optimum,
    for others the bound rises above it.

    Parameters
    ----------
    tolerance, patience, largest_clique, max_cells
        As for `Dual`, until there are cases.
    """

    checkpoints: ClassVar[bool] = False

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with all costs where they are; `seed` and `initial` change nothing."""
        return BranchingSearch(self, problem, budget)


@dataclass
class _Case:
    """A subproblem in which some variables are restricted to some values."""

    allowed: dict[int, Allowed]
    messages: NDArray[np.floating]
    bound: float
    """Certified for all assignments of the case."""
    reached: float
    """The uncertified bound after its last turn."""
    passes: int
    """Passes that led to its messages, from the first case on; odd and even ones have opposite directions."""
    born: int
    """Passes before the split that made the case."""
    looked: int = 0
    """Passes of its current turn."""


class BranchingSearch(DualSearch):
    """The dual, and the cases once there are any."""

    def __init__(self, solver: Dual, problem: Problem, budget: Budget):
        super().__init__(solver, problem, budget)
        self._cases: list[_Case] | None = None
        self._closed = np.inf  # the least bound of closed cases
        self._known = np.inf  # the cost of the best known assignment, also of offered ones
        self._guide: Assignment | None = None
        self._guide_cost, self._penalty = np.inf, 0.0
        self._newest = -np.inf  # the uncertified bound of the last pass
        self._inside: _Case | None = None  # the case whose messages `_passes` has

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Close cases that are no better than this cost."""
        self._known = min(self._known, cost)

    def step(self) -> Step:
        """Passes on the whole problem, or on the case with the least bound."""
        if self._cases is not None:
            return self._step_on_cases()
        step = super().step()
        if step.finished in (None, Status.CONVERGED) and self._at_rest(step.finished is Status.CONVERGED):
            self._certify()
            self._known = min(self._known, self._best_cost)
            self._penalty = 2.0 * (self._known - self._reached) + self._unit
            self._cases = [_Case({}, self._passes.messages, self.bound, self._reached, self.passes, 0)]
            self._inside = self._cases[0]
            step.finished = None
        return step

    def _pass(self) -> float:
        """One pass; records the best decoded assignment, which guides the splits."""
        return self._guided(super()._pass())

    def _guided(self, cost: float) -> float:
        """The cost of the last decoded assignment, which is kept if it is the best."""
        if cost < self._guide_cost:
            self._guide, self._guide_cost = self._passes.decoded(), cost
        return cost

    def _at_rest(self, converged: bool) -> bool:
        """Whether to branch: the bound rises slowly and the gap is at most 30 %, since otherwise cases are too many."""
        pairwise = not self._stopped and self._cut is False and isinstance(getattr(self, "_passes", None), PairPasses)
        if not pairwise or not math.isfinite(self._guide_cost) or not math.isfinite(self.bound):
            return False
        if 2 * len(self._passes.messages) > MOST_COSTS:
            return False
        if converged:
            return True
        if self.passes < 300 or len(self._history) <= LOOK:
            return False
        gain = self._history[-1] - self._history[-1 - LOOK]
        gap = min(self._known, self._best_cost) - self._reached
        size = max(self._unit, abs(self._reached))
        return gain < 7e-4 * size and gain < CASE_GAIN * gap and gap <= 0.3 * size

    def _step_on_cases(self) -> Step:
        """Passes on the case with the least bound, which may close or split it."""
        assert self._cases is not None
        until, best, costs = working_seconds() + BLOCK_SECONDS, None, list[float]()
        most = math.inf if self._max_passes is None else self._max_passes
        while self._cases and self.passes < most and working_seconds() < until:
            case = min(self._cases, key=lambda case: case.bound)
            self._enter(case)
            while case.looked < LOOK and self.passes < most and working_seconds() < until:
                costs.append(self._pass_on(case))
                if costs[-1] < self._best_cost:
                    best, self._best_cost = self._lifted(), costs[-1]
            self._known = min(self._known, self._best_cost)
            if case.looked == LOOK:
                self._judge(case)
        self.bound = max(self.bound, min([self._closed, *(case.bound for case in self._cases)]))
        return Step(
            costs=np.array(costs),
            best=best,
            best_cost=np.inf if best is None else float(self._whole.cost(best)),
            bound=self.bound if math.isfinite(self.bound) else None,
            finished=None if self._cases else self._end,
        )

    @property
    def _end(self) -> Status:
        """The status when no case is left."""
        proved = self._known - self.bound <= self._whole.facts.rounding(self.bound)
        return Status.OPTIMAL if proved else Status.CONVERGED

    def _pass_on(self, case: _Case) -> float:
        """One pass on the case; returns the cost of the decoded assignment."""
        self._newest = self._passes.run(case.passes % 2 == 0) + self._passes.constant
        case.passes, case.looked, self.passes = case.passes + 1, case.looked + 1, self.passes + 1
        return self._guided(self._passes.cost)

    def _enter(self, case: _Case) -> None:
        """Load a case into the passes."""
        if case is self._inside:
            return
        passes = self._pairwise
        if self._inside is not None:
            self._inside.messages = passes.messages.copy()
        passes.restrict(case.allowed, self._penalty)
        passes.messages[:] = case.messages
        self._inside = case

    def _judge(self, case: _Case) -> None:
        """Certify the bound of a case; then close it, split it, or keep it."""
        assert self._cases is not None
        passes = self._pairwise
        case.bound = max(case.bound, self._certified())
        self._cases = [other for other in self._cases if other is not case]
        if self._known - case.bound <= self._whole.facts.rounding(case.bound):
            self._closed, self._inside = min(self._closed, case.bound), None
            return
        gain, case.reached, case.looked = self._newest - case.reached, max(case.reached, self._newest), 0
        gap, size = self._known - case.bound, max(self._unit, abs(case.bound))
        if passes.coarse and gain < FINE_GAIN * size and gap < FINE_GAP * size:
            passes.refine()
        mature = case.passes - case.born >= MATURE and gain < CASE_GAIN * gap
        parts = self._split(case) if mature and gap > 1e-9 * size else [case]  # gaps of real costs may never close
        if mature and len(parts) == 1 and gain <= self._solver.tolerance * size:  # neither passes nor splits help
            self._closed, self._inside = min(self._closed, case.bound), None
        else:
            self._cases += parts

    def _split(self, case: _Case) -> list[_Case]:
        """Split by the variable with the largest excess: a case for each of 8 values at most, else one and the rest."""
        assert self._cases is not None
        assert self._guide is not None
        excess = self._pairwise.excess(self._guide)
        excess[list(case.allowed)] = 0.0
        variable = int(np.argmax(excess))
        count = int(self._base.domain_sizes[variable])
        parts = count if count <= 8 else 2
        if not excess[variable] > 0 or (len(self._cases) + parts) * len(case.messages) > MOST_COSTS:
            return [case]
        same = np.arange(count) == self._guide[variable]
        masks = list(np.eye(count, dtype=bool)) if parts == count else [same, ~same]
        messages, self._inside = self._passes.messages.copy(), None
        return [
            _Case({**case.allowed, variable: mask}, messages, case.bound, case.reached, case.passes, case.passes)
            for mask in masks
        ]

    @property
    def _pairwise(self) -> PairPasses:
        assert isinstance(self._passes, PairPasses)
        return self._passes

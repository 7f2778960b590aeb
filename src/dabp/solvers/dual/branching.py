"""Branching on the dual: where its relaxation leaves a gap, values are held one by one, and each case has passes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.problem import Assignment, Problem
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Step
from dabp.solvers.dual.pairs import Allowed, PairPasses
from dabp.solvers.dual.solver import FINE_GAIN, FINE_GAP, Dual, DualSearch
from dabp.solvers.status import Status

LOOK = 20
"""Passes on a case before all are looked at again."""

STEADY_PASSES, STEADY_GAIN = 300, 7e-4
"""The whole becomes the first case after so many passes, when `LOOK` of them have raised the bound by less than this,
relative to its size …"""

MATURE, CASE_GAIN = 100, 0.1
"""… and any case when it has had so many, the last `LOOK` of which closed less than this part of its gap."""

WIDEST_GAP = 0.3
"""With a wider gap, relative to the bound, cases would be too many."""

REST_GAP = 1e-9
"""A case with a gap as narrow as this, relative to its bound, is not split: real costs may never meet."""

EACH_VALUE = 8
"""Most values of a variable that become a case each; of more, one value is a case and all others are another."""

MOST_COSTS = 50_000_000
"""Costs that the messages of all cases together may have."""


@dataclass(frozen=True, kw_only=True)
class BranchingDual(Dual):
    """`Dual` that goes on where its bound comes to rest: branch and bound with passes as they are.

    The relaxation of an image is often tight but for a few places where three labels meet. With one variable there
    held at a value, passes that begin where the others ended are soon tight again: for its best value they decode the
    optimum, for others the bound rises above it.

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
    """Some variables restricted to some values: the messages of its passes, and what they prove."""

    allowed: dict[int, Allowed]
    messages: NDArray[np.floating]
    bound: float
    """Proved for all assignments of the case."""
    reached: float
    """The bound as the passes compute it, at the last look."""
    passes: int
    """Passes that led to its messages, from the first case on: the next one goes the other way."""
    born: int
    """How many of them the case that it is part of had."""
    looked: int = 0
    """Passes since the last look."""


class BranchingSearch(DualSearch):
    """The dual, and the cases once there are any."""

    def __init__(self, solver: Dual, problem: Problem, budget: Budget):
        super().__init__(solver, problem, budget)
        self._cases: list[_Case] | None = None
        self._closed = np.inf  # the least bound of cases that hold nothing better than what is known
        self._known = np.inf  # what the best assignment known costs, whoever found it
        self._guide: Assignment | None = None
        self._guide_cost, self._penalty = np.inf, 0.0
        self._newest = -np.inf  # the bound as the last pass computed it
        self._inside: _Case | None = None  # the case that the passes are about

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Cases that cannot be better need no passes."""
        self._known = min(self._known, cost)

    def step(self) -> Step:
        """Passes on the whole problem, or on the case of the least bound."""
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

    # ---- inside --------------------------------------------------------------------------------

    def _pass(self) -> float:
        """One pass; the best assignment decoded shows where the gap is."""
        cost = super()._pass()
        if cost < self._guide_cost:
            self._guide, self._guide_cost = self._passes.decoded(), cost
        return cost

    def _at_rest(self, converged: bool) -> bool:
        """Whether cases promise more than further passes on the whole."""
        pairwise = not self._stopped and self._cut is False and isinstance(getattr(self, "_passes", None), PairPasses)
        if not pairwise or not math.isfinite(self._guide_cost) or not math.isfinite(self.bound):
            return False
        if 2 * len(self._passes.messages) > MOST_COSTS:
            return False
        if converged:
            return True
        if self.passes < STEADY_PASSES or len(self._history) <= LOOK:
            return False
        gain = self._history[-1] - self._history[-1 - LOOK]
        gap = min(self._known, self._best_cost) - self._reached
        size = max(self._unit, abs(self._reached))
        return gain < STEADY_GAIN * size and gain < CASE_GAIN * gap <= CASE_GAIN * WIDEST_GAP * size

    def _step_on_cases(self) -> Step:
        """Passes on the case of the least bound, which may end or split it."""
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
        """What is known when no case is left."""
        proved = self._known - self.bound <= self._whole.facts.rounding(self.bound)
        return Status.OPTIMAL if proved else Status.CONVERGED

    def _pass_on(self, case: _Case) -> float:
        """One pass on the case that the passes are about; returns the cost of the decoded assignment."""
        self._newest = self._passes.run(case.passes % 2 == 0) + self._passes.constant
        case.passes, case.looked, self.passes = case.passes + 1, case.looked + 1, self.passes + 1
        cost = self._passes.cost + self._passes.constant
        if cost < self._guide_cost:
            self._guide, self._guide_cost = self._passes.decoded(), cost
        return cost

    def _enter(self, case: _Case) -> None:
        """Let the passes be about a case; messages are copied only where another one had them."""
        if case is self._inside:
            return
        passes = self._pairwise
        if self._inside is not None:
            self._inside.messages = passes.messages.copy()
        passes.restrict(case.allowed, self._penalty)
        passes.messages[:] = case.messages
        self._inside = case

    def _judge(self, case: _Case) -> None:
        """Prove what the passes have reached; then a case ends, is split, or stays as it is."""
        assert self._cases is not None
        passes = self._pairwise
        bound = math.nextafter(passes.certified() + passes.constant, -math.inf)
        if math.isfinite(bound):
            bound = float(math.ceil(bound)) if self._whole.facts.integral else bound - self._whole.facts.rounding_error
            case.bound = max(case.bound, bound)
        self._cases = [other for other in self._cases if other is not case]
        if self._known - case.bound <= self._whole.facts.rounding(case.bound):
            self._closed, self._inside = min(self._closed, case.bound), None
            return
        gain, case.reached, case.looked = self._newest - case.reached, max(case.reached, self._newest), 0
        gap, size = self._known - case.bound, max(self._unit, abs(case.bound))
        if passes.coarse and gain < FINE_GAIN * size and gap < FINE_GAP * size:
            passes.refine()
        mature = case.passes - case.born >= MATURE and gain < CASE_GAIN * gap
        parts = self._split(case) if mature and gap > REST_GAP * size else [case]
        if mature and len(parts) == 1 and gain <= self._solver.tolerance * size:  # passes give no more, nor do cases
            self._closed, self._inside = min(self._closed, case.bound), None
        else:
            self._cases += parts

    def _split(self, case: _Case) -> list[_Case]:
        """The case by the values of the variable where the best assignment decoded is furthest from its bound."""
        assert self._cases is not None
        assert self._guide is not None
        excess = self._pairwise.excess(self._guide)
        excess[list(case.allowed)] = 0.0
        variable = int(np.argmax(excess))
        count = int(self._base.domain_sizes[variable])
        parts = count if count <= EACH_VALUE else 2
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
        """The passes, which are on pairs wherever there are cases."""
        assert isinstance(self._passes, PairPasses)
        return self._passes

"""A lower bound by message passing on the dual of the LP relaxation, and assignments read from it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.presolve.consistency import supported_values
from dabp.presolve.joining import join_cliques
from dabp.presolve.merging import merge_factors
from dabp.presolve.restriction import Restricted
from dabp.problem import Assignment, Problem
from dabp.problem.columns import ragged_positions
from dabp.problem.guard import Guard
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.dual.general_passes import Passes
from dabp.solvers.dual.pair_passes import PairPasses
from dabp.solvers.status import Status
from dabp.solvers.stopped import Stopped, ask

LOOK = 10
"""Passes after which progress is judged, and the fewest between two certified bounds (one takes about two passes)."""

FINE_GAIN = 1e-6
"""Passes go on in double precision when `LOOK` of them raise the bound by less than this, relative to its size."""

FINE_GAP = 1e-4
"""Passes go on in double precision when a decoded assignment is this close to the bound, relative to its size."""


@dataclass(frozen=True, kw_only=True)
class Dual(Solver):
    """Convergent message passing on the dual of the local LP relaxation (TRW-S, SRMP).

    Moves costs between factors and variables so that the sum of their minima, a lower bound on the optimum, never
    falls; each pass also decodes an assignment from the moved costs. One pass costs about as much as an iteration of
    belief propagation. Proves optimality only where the relaxation is tight, and infeasibility where the bound exceeds
    every finite cost.

    After convergence binary factors are joined along triangles, then along cliques of four, which tightens the
    relaxation; passes then restart, and the better bound is kept.

    Reference: V. Kolmogorov, *Convergent tree-reweighted message passing for energy minimization*, PAMI 2006, and
    *A new look at reweighted message passing*, PAMI 2015.

    Parameters
    ----------
    tolerance
        Ends when the bound has risen by less than this, relative to its size, over `patience` passes.
    patience
        See `tolerance`.
    largest_clique
        Variables of the largest joined factors; 2 = none are joined.
    max_cells
        Cells that all tables together may have after joining.
    """

    checkpoints: ClassVar[bool] = True
    proves: ClassVar[bool] = True

    tolerance: float = 1e-6
    patience: int = 50
    largest_clique: int = 4
    max_cells: int = 8_000_000

    def __post_init__(self) -> None:
        if not 0 <= self.tolerance < math.inf:
            raise ParameterError(f"dual's tolerance is a number of at least 0, not {self.tolerance}")
        if not 2 <= self.largest_clique <= 8:
            raise ParameterError(f"dual's largest_clique is 2 to 8, not {self.largest_clique}")
        if self.max_cells < 1:
            raise ParameterError(f"dual's max_cells is at least 1, not {self.max_cells}")
        if self.patience < 1:
            raise ParameterError(f"dual's patience is at least 1, not {self.patience}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with all costs where they are; `seed` and `initial` change nothing."""
        return DualSearch(self, problem, budget)


class DualSearch(Search):
    """Messages of a dual solve, and the bound so far."""

    def __init__(self, solver: Dual, problem: Problem, budget: Budget):
        self._solver, self._whole, self._max_passes = solver, problem, budget.max_iterations
        self._guard, self._threads = budget.guard, budget.threads
        self._ends = contextlib.ExitStack()  # ends the threads of the passes under way
        self.bound = -np.inf
        """Certified: valid in spite of rounding."""
        self._reached = -np.inf  # as the passes compute it, uncertified
        self._certified_at = -LOOK
        self._tried_at = -LOOK  # counted in passes, not in blocks, so that runs repeat
        self._unit = min(1.0, problem.facts.magnitude)  # the least size that gains are relative to
        self.passes = 0
        self._history: list[float] = []
        self._best_cost = np.inf
        self._reported = False
        self._stalled_stage = 0
        self._infeasible, self._stopped = False, ""
        self._cut: Status | Literal[False] | None = False
        """The verdict before a joining of factors that the guard ended, which is then repeated; False without one."""
        try:
            supported = _supported(problem, self._guard)
            self._infeasible = supported is None
            if supported is not None:
                self._base, self._base_steps = supported
                self._begin(2, self._base, [])
        except Stopped as reason:
            self._stopped = str(reason)

    @property
    def at_boundary(self) -> bool:
        """Whether the state can be saved: not while a joining of factors that the guard ended is due."""
        return not self._stopped and self._cut is False

    def step(self) -> Step:
        """Some passes back and forth."""
        if self._stopped:
            return Step(finished=Status.LIMIT, notes=(f"dual was not prepared: {self._stopped}",))
        if self._infeasible:
            return Step(finished=Status.INFEASIBLE)
        started = working_seconds()
        costs: list[float] = []
        best: Assignment | None = None
        finished = None if self._cut is False else self._tightened(self._cut)
        while finished is None and self._cut is False:
            cost = self._pass()
            costs.append(cost)
            if cost < self._best_cost or not self._reported:
                best, self._reported = self._lifted(), True
            self._best_cost = min(self._best_cost, cost)
            finished = self._verdict()
            if finished is Status.CONVERGED or (finished is None and self._slow()):
                if finished is None:
                    self._certify()  # joining drops the messages
                finished = self._tightened(finished)
            if working_seconds() - started > BLOCK_SECONDS or self.passes == self._max_passes:
                break
        if finished is None and self.passes == self._max_passes:  # the last bound does not depend on when blocks end
            self._certify()
        if finished is Status.INFEASIBLE:
            return Step(costs=np.array(costs), finished=finished)
        return Step(
            costs=np.array(costs),
            best=best,
            best_cost=np.inf if best is None else float(self._whole.cost(best)),
            bound=self.bound if math.isfinite(self.bound) else None,
            finished=finished,
        )

    def state_dict(self) -> State:
        """The messages and the state of the stopping rule."""
        if self._infeasible:
            return {"passes": 0}
        return {
            "messages": self._passes.messages.copy(),
            "stage": self._stage,
            "passes": self.passes,
            "bound": self.bound,
            "reached": self._reached,
            "best_cost": self._best_cost,
            "history": list(self._history),
            "tried_at": self._tried_at,
            "certified_at": self._certified_at,
            "stalled_stage": self._stalled_stage,
        }

    def load_state_dict(self, state: State) -> None:
        """Continue from what `state_dict` returned."""
        if "stage" not in state:  # a proof of infeasibility, which is found again
            return
        stage = int(state["stage"])
        if stage != self._stage and not self._tighten(stage) and self._cut is not False:
            self._stopped = "factors are not joined as they were"
            return
        if self._passes.coarse and state["messages"].dtype == np.float64:
            self._passes.refine()
        self._passes.messages[:] = state["messages"]
        self.passes, self.bound = int(state["passes"]), float(state["bound"])
        self._reached, self._tried_at = float(state["reached"]), int(state["tried_at"])
        self._certified_at, self._stalled_stage = int(state["certified_at"]), int(state["stalled_stage"])
        self._best_cost, self._history = float(state["best_cost"]), [float(b) for b in state["history"]]

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The messages of all factors."""
        return {} if self._infeasible or self._stopped else {"messages": self._passes.messages}

    def close(self) -> None:
        """End the threads that pass messages."""
        self._ends.close()

    def _pass(self) -> float:
        """One pass; returns the cost of the decoded assignment."""
        bound = self._passes.run(self.passes % 2 == 0) + self._passes.constant
        self.passes += 1
        if math.isfinite(bound):
            self._reached = max(self._reached, bound)
        self._history.append(self._reached)
        del self._history[: -self._solver.patience - 1]
        cost = self._passes.cost
        if self._passes.coarse and self._exhausted(cost):
            self._passes.refine()
            self._reached = -np.inf  # it may contain rounding in single precision
            self._history.clear()
        return cost

    def _exhausted(self, cost: float) -> bool:
        """Whether passes in single precision have stopped to gain."""
        size = max(self._unit, abs(self._reached))
        history = self._history
        slow = len(history) > LOOK and history[-1] - history[-1 - LOOK] < FINE_GAIN * size
        return slow or min(cost, self._best_cost) - self._reached < FINE_GAP * size

    def _certify(self) -> None:
        """Raise the certified bound by the current messages."""
        self._certified_at = self.passes
        self.bound = max(self.bound, self._certified())

    def _certified(self) -> float:
        """A bound that the current messages prove; −inf if some of them are not finite."""
        bound = math.nextafter(self._passes.certified() + self._passes.constant, -math.inf)
        if not math.isfinite(bound):
            return -math.inf
        return float(math.ceil(bound)) if self._whole.facts.integral else bound - self._whole.facts.rounding_error

    def _begin(self, stage: int, problem: Problem, steps: list[Restricted]) -> None:
        """Begin passes on a problem with the costs of the base problem, its values restricted by `steps`."""
        ask(self._guard)
        pairwise = int(problem.arities.max(initial=0)) <= 2
        passes = PairPasses(problem, self._threads, self._guard) if pairwise else Passes(problem)
        self.close()
        self._stage, self._passes = stage, passes
        self._ends.callback(self._passes.close)
        self._steps = self._base_steps + steps
        self._history.clear()

    def _lifted(self) -> Assignment:
        """The decoded assignment in the values of the whole problem."""
        values = self._passes.decoded()
        for step in reversed(self._steps):
            values = step.lift(values)
        return values

    def _slow(self) -> bool:
        """Whether joining factors now promises more than further passes."""
        if self._stalled_stage == self._stage or len(self._history) <= LOOK:
            return False
        size = max(self._unit, abs(self._reached))
        gain = self._whole_units(self._history[-1]) - self._whole_units(self._history[-1 - LOOK])
        return gain < 5e-4 * size and self._best_cost - self._reached > 0.02 * size

    def _tightened(self, verdict: Status | None) -> Status | None:
        """Join factors and return the new verdict, or `verdict` if nothing could be joined.

        A joining that the guard ended is repeated before the next pass, in this run or in a resumed one: the order of
        passes and joinings must not depend on the time of an interrupt.
        """
        self._cut = False
        if self._tighten(self._stage + 1):
            return Status.INFEASIBLE if self._infeasible else None
        if self._cut is False:
            return verdict
        self._cut = verdict
        return None

    def _whole_units(self, bound: float) -> float:
        """An uncertified bound rounded up where costs are integers."""
        if not self._whole.facts.integral or not math.isfinite(bound):
            return bound
        return float(math.ceil(bound - 1e-9 * max(1.0, abs(bound))))

    def _tighten(self, stage: int) -> bool:
        """Restart with factors joined along larger cliques; False if that changes nothing or does not fit.

        A joint table may forbid values that each of its parts allows.
        """
        stalled, self._stalled_stage = self._stalled_stage, self._stage  # a later attempt would fail as well
        if stage > self._solver.largest_clique:
            return False
        joined = join_cliques(self._base, stage, 100_000, self._solver.max_cells)
        if joined is self._base:
            return False
        try:
            supported = _supported(joined, self._guard)
            self._infeasible = supported is None
            if supported is not None:
                self._begin(stage, *supported)
        except Stopped:  # the driver ends the search after this block
            self._stalled_stage, self._cut = stalled, None
            return False
        return True

    def _verdict(self) -> Status | None:
        patient = len(self._history) > self._solver.patience
        if not math.isfinite(self._reached):  # no pass gave a bound
            return Status.CONVERGED if patient else None
        gain = self._history[-1] - self._history[0]
        converged = patient and gain <= self._solver.tolerance * max(self._unit, abs(self._reached))
        due = self.passes >= self._certified_at + max(LOOK, self.passes // 4)
        if converged or due or (self._promising() and self.passes >= self._tried_at + LOOK):
            self._tried_at = self.passes
            self._certify()
        if self.bound > self._passes.largest + self._passes.constant:
            return Status.INFEASIBLE
        if self._best_cost - self.bound <= self._whole.facts.rounding(self.bound):
            return Status.OPTIMAL
        return Status.CONVERGED if converged else None

    def _promising(self) -> bool:
        """Whether the uncertified bound would prove optimality or infeasibility."""
        reached = self._whole_units(self._reached)
        close = 2 * self._whole.facts.rounding(reached) + 1e-9 * abs(reached)
        return self._best_cost - reached <= close or reached > self._passes.largest + self._passes.constant


def _supported(problem: Problem, guard: Guard) -> tuple[Problem, list[Restricted]] | None:
    """The problem without values that lack a support in some factor, and the step to it (none if all stay).

    Then every min-marginal, hence every message, is finite. Factors with one scope are added up, which may remove
    further supports, so this repeats until nothing changes. None if the problem is infeasible. Raises `Stopped` if the
    guard ends it.
    """
    ask(guard)
    problem = merge_factors(problem, folding=False)
    ask(guard)
    kept = supported_values(problem)
    if kept is None:
        return None
    if kept.all() and (problem.domain_sizes > 1).all():
        return problem, []
    while True:
        ask(guard)
        step = Restricted(problem, kept)
        merged = merge_factors(step.problem)
        supported = supported_values(merged)
        if supported is None:
            return None
        if supported.all():
            return merged, [step]
        places = np.flatnonzero(kept)[ragged_positions(step.kept_starts, step.variables)]
        kept[places] = supported

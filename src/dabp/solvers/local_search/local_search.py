"""What the local searches share: blocks of about 20 ms, the best found, restarts from offers, checkpoints."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, FIRST_BLOCK, Budget, Search, State, Step
from dabp.solvers.local_costs.search_table import Table
from dabp.solvers.local_costs.shared_tables import shared_table
from dabp.solvers.status import Status
from dabp.solvers.stopped import Stopped, ask


class LocalSearch(Search):
    """A search that moves through assignments on a table of local costs.

    A subclass says what an iteration is (`run`) and may finish (`done`). Only the division into blocks depends on time.
    """

    state_assignments: ClassVar[tuple[str, ...]] = (*Search.state_assignments, "_elites")

    attributes: ClassVar[tuple[str, ...]] = ("iterations", "_incumbent_units", "_fresh")
    """What a checkpoint keeps of the object beside the state; subclasses add theirs."""

    def __init__(self, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        self.problem, self.budget = problem, budget
        self.rng = generator(seed)
        self.iterations = 0
        self.incumbent: Assignment | None = None
        self._incumbent_units = NOTHING
        self._fresh = False
        entries = len(problem.scope_variables) * int(problem.domain_sizes.max(initial=1)) + problem.num_variables
        self._block = max(1, FIRST_BLOCK // max(entries, 1))
        self.stopped: str | None = None
        try:
            self.local: Any = self.table(problem, budget.guard)
            self.state: Any = self.local.state(int(self.rng.integers(2**63)))
            ask(budget.guard)
            if not self.local.infeasible:
                self.begin(self.local.random_assignment(self.rng) if initial is None else initial)
                self.collect()
        except Stopped as reason:
            self.stopped = str(reason)

    # ---- for subclasses ----------------------------------------------------------------------------

    def table(self, problem: Problem, guard: Guard) -> Table[Any]:
        """The compiled problem that the search moves on; raises `Stopped` if the guard does not let it be made."""
        return shared_table(problem, guard)

    @abstractmethod
    def run(self, lowest: NDArray[np.int64]) -> int:
        """Do at most ``len(lowest)`` iterations, put the least feasible cost of each there, and return how many."""

    @property
    def done(self) -> bool:
        """Whether the search has ended by itself."""
        return False

    def begin(self, assignment: Assignment) -> None:
        """Continue from an assignment."""
        self.local.put(self.state, assignment)
        self.local.remember(self.state)

    @property
    def remaining(self) -> int | None:
        """Iterations left, None without a limit."""
        limit = self.budget.max_iterations
        return None if limit is None else max(1, limit - self.iterations)

    @property
    def feasible(self) -> bool:
        """Whether the state has a best assignment."""
        return bool(self.state.tally["feasible"])

    @property
    def at_boundary(self) -> bool:
        """Whether there is anything to save."""
        return self.stopped is None

    # ---- Search ------------------------------------------------------------------------------------

    def step(self) -> Step:
        """Run a block of iterations."""
        if self.stopped is not None:
            return Step(finished=Status.LIMIT, notes=(f"local search was not prepared: {self.stopped}",))
        if self.local.infeasible:
            return Step(finished=Status.INFEASIBLE)
        if not (self.problem.domain_sizes > 1).any():
            return self._only_one()
        if self.budget.max_iterations is not None and self.iterations >= self.budget.max_iterations:
            return Step(finished=Status.LIMIT)  # resumed at its limit
        left = self.remaining
        lowest = np.full(self._block if left is None else min(self._block, left), NOTHING)
        start = working_seconds()
        lowest = lowest[: self.run(lowest)]
        seconds = max(working_seconds() - start, 1e-6)
        self.iterations += len(lowest)
        wanted = len(lowest) * BLOCK_SECONDS / seconds
        self._block = max(1, int(min(wanted, 4 * self._block, 1_000_000)))
        step = Step(costs=np.where(lowest == NOTHING, np.inf, self.local.units.cost(lowest)))
        self.collect()
        if self._fresh and self.incumbent is not None:
            self._fresh = False
            step.best, step.best_cost = self.incumbent.copy(), self.problem.cost(self.incumbent)
            if self.problem.facts.integral and self._incumbent_units == self.local.units.floor:
                step.finished = Status.OPTIMAL  # no factor could cost less
                # How many iterations follow in this block depends on the clock: they do not count.
                reached = np.flatnonzero(lowest == self.local.units.floor)
                if len(reached):
                    step.costs = step.costs[: reached[0] + 1]
                    self.iterations += len(step.costs) - len(lowest)
        if self.done and step.finished is None:
            step.finished = Status.CONVERGED
        return step

    def collect(self) -> None:
        """Take the kernels' best as incumbent if it is better."""
        best = int(self.state.tally["best"])
        if self.feasible and best < self._incumbent_units:
            self.incumbent, self._incumbent_units, self._fresh = self.local.best(self.state), best, True

    def _only_one(self) -> Step:
        """The end of a search on a problem with a single assignment."""
        best = np.zeros(self.problem.num_variables, dtype=np.int64)
        cost = self.problem.cost(best)
        if np.isinf(cost):
            return Step(costs=np.array([cost]), finished=Status.INFEASIBLE)
        return Step(costs=np.array([cost]), best=best, best_cost=cost, finished=Status.OPTIMAL)

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Take a better incumbent; restarts from the incumbent then start from it."""
        if self.stopped is None and not self.local.infeasible and np.isfinite(cost):
            units = self.local.cost_of(assignment)
            if units < self._incumbent_units:
                self.incumbent, self._incumbent_units, self._fresh = assignment.copy(), units, False

    def state_dict(self) -> State:
        """The kernels' state, the incumbent and the random stream."""
        incumbent = {} if self.incumbent is None else {"incumbent": self.incumbent}
        own = {name: copy.copy(getattr(self, name)) for name in self.attributes}
        return {**self.local.saved(self.state), **incumbent, **own, "rng": self.rng.bit_generator.state}

    def load_state_dict(self, state: State) -> None:
        """Put everything back; raises `ValueError` for what no search on this problem can have reached."""
        if not self.local.infeasible:
            self.local.restore(self.state, state)
        self.incumbent = state.get("incumbent")
        for name in self.attributes:
            setattr(self, name, copy.copy(state[name]))
        known = NOTHING if self.incumbent is None else self.local.cost_of(self.incumbent)
        if self._incumbent_units != known or self.iterations < 0:
            raise ValueError("the incumbent has another cost")
        self.rng.bit_generator.state = state["rng"]

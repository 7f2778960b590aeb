"""What the local searches share: blocks of about 20 ms, the best found, restarts from offers, checkpoints."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.kernels.local_search.search_arrays import BEST, FEASIBLE, NOTHING
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, FIRST_BLOCK, Budget, Search, State, Step
from dabp.solvers.local_costs.search_table import Table
from dabp.solvers.local_costs.shared_tables import shared_table
from dabp.solvers.status import Status
from dabp.solvers.stopped import Stopped, ask
from dabp.solvers.traffic import Traffic


class LocalSearch(Search):
    """A search that moves through assignments on a table of local costs.

    A subclass says what an iteration is (`run`) and may finish (`done`). Only the division into blocks depends on time.
    """

    state_assignments: ClassVar[tuple[str, ...]] = ("incumbent", "_elites")

    messages_per_neighbour: ClassVar[int] = 0
    """Numbers that a variable tells each neighbour in an iteration, a message each; 0 for what is not distributed."""

    def __init__(self, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        self.problem, self.budget = problem, budget
        self.rng = generator(seed)
        self.iterations = 0
        self.incumbent: Assignment | None = None
        self._incumbent_units = NOTHING
        self._fresh = False
        looked_at = len(problem.scope_variables) * int(problem.domain_sizes.max(initial=1)) + problem.num_variables
        self._block = max(1, FIRST_BLOCK // max(looked_at, 1))
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

    def table(self, problem: Problem, guard: Guard) -> Table[Any, Any]:
        """The compiled problem that the search moves on; raises `Stopped` if the guard does not let it be made."""
        return shared_table(problem, guard)

    @abstractmethod
    def run(self, lowest: NDArray[np.int64]) -> int:
        """Do at most ``len(lowest)`` iterations, put the least feasible cost of each there, and tell how many."""

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
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
        """Whether an assignment without a forbidden combination was found."""
        return bool(self.state.tally[FEASIBLE])

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
            return Step(finished=Status.LIMIT)  # resumed where it had ended
        left = self.remaining
        lowest = np.full(self._block if left is None else min(self._block, left), NOTHING)
        start = working_seconds()
        lowest = lowest[: self.run(lowest)]
        seconds = max(working_seconds() - start, 1e-6)
        self.iterations += len(lowest)
        wanted = len(lowest) * BLOCK_SECONDS / seconds
        self._block = max(1, int(min(wanted, 4 * self._block, 1_000_000)))
        step = Step(costs=np.where(lowest == NOTHING, np.inf, self.local.units.cost(lowest)))
        self._report(step)
        if step.finished is Status.OPTIMAL:
            self._forget_the_rest(step, lowest)
        elif self.done:
            step.finished = Status.CONVERGED
        return step

    def _forget_the_rest(self, step: Step, lowest: NDArray[np.int64]) -> None:
        """Count no iteration after the optimum: how many there were depends on the clock."""
        reached = np.flatnonzero(lowest == self.local.units.floor)
        if len(reached):
            step.costs = step.costs[: reached[0] + 1]
            self.iterations += len(step.costs) - len(lowest)

    def collect(self) -> None:
        """Take the kernels' best as incumbent if it is better."""
        best = int(self.state.tally[BEST])
        if self.feasible and best < self._incumbent_units:
            self.incumbent, self._incumbent_units, self._fresh = self.local.best(self.state), best, True

    def _report(self, step: Step) -> None:
        """Hand out a new incumbent; it is optimal if no factor could cost less."""
        self.collect()
        if not self._fresh or self.incumbent is None:
            return
        self._fresh = False
        step.best, step.best_cost = self.incumbent.copy(), self.problem.cost(self.incumbent)
        if self.problem.facts.integral and self._incumbent_units == self.local.units.floor:
            step.finished = Status.OPTIMAL

    def _only_one(self) -> Step:
        """A problem with a single assignment is solved by looking at it."""
        best = np.zeros(self.problem.num_variables, dtype=np.int64)
        cost = self.problem.cost(best)
        if np.isinf(cost):
            return Step(costs=np.array([cost]), finished=Status.INFEASIBLE)
        return Step(costs=np.array([cost]), best=best, best_cost=cost, finished=Status.OPTIMAL)

    def traffic(self) -> Traffic | None:
        """Each iteration every variable tells its neighbours its value and, with MGM and GDBA, its gain."""
        if self.messages_per_neighbour == 0 or self.stopped is not None:
            return None
        count = self.iterations * self.messages_per_neighbour * len(self.local.costs.neighbours.variable)
        return Traffic(count, count)

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Take a better incumbent; restarts from the incumbent then start from it."""
        if self.stopped is None and not self.local.infeasible and np.isfinite(cost):
            units = self.local.cost_of(assignment)
            if units < self._incumbent_units:
                self.incumbent, self._incumbent_units, self._fresh = assignment.copy(), units, False

    def state_dict(self) -> State:
        """Everything the kernels work on, the incumbent and the random stream."""
        arrays: State = {f"state.{key}": value.copy() for key, value in self.state._asdict().items()}
        if self.incumbent is not None:
            arrays["incumbent"] = self.incumbent
        own = {name: getattr(self, name) for name in ("iterations", "_incumbent_units", "_fresh")}
        return {**arrays, **own, "rng": self.rng.bit_generator.state}

    def load_state_dict(self, state: State) -> None:
        """Put everything back; raises `ValueError` for what no search on this problem can have come to."""
        for key, value in self.state._asdict().items():
            value[...] = state[f"state.{key}"]
        if not self.local.infeasible:
            self.local.check(self.state)
            if self.feasible and self.local.cost_of(self.local.best(self.state)) != self.state.tally[BEST]:
                raise ValueError("the best cost is not that of the best assignment")
        self.incumbent = state.get("incumbent")
        for name in ("iterations", "_incumbent_units", "_fresh"):
            setattr(self, name, state[name])
        known = NOTHING if self.incumbent is None else self.local.cost_of(self.incumbent)
        if self._incumbent_units != known or self.iterations < 0:
            raise ValueError("the incumbent has another cost")
        self.rng.bit_generator.state = state["rng"]

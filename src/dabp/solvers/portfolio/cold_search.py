"""`auto` while kernels are being compiled: answers from what needs none, and members as they become ready."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dabp.errors import SolverError
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, State, Step
from dabp.solvers.belief_propagation.plain import PlainBeliefPropagation
from dabp.solvers.portfolio.incumbent import cheapest_values
from dabp.solvers.portfolio.plan import COLD_CELLS, COLD_FACTORS, COLD_MEMBERS, COLD_PREPARATION, COLD_TRIES
from dabp.solvers.status import Status
from dabp.solvers.toulbar2.solver import Toulbar2, Toulbar2Search
from dabp.solvers.warming import Compiler, missing, needed

Begin = Callable[[frozenset[str], Assignment | None], Search | None]
"""Starts the portfolio with these members only, from an assignment; None if none of them suits the problem."""


class ColdSearch(Search):
    """Belief propagation in NumPy and toulbar2's local search, until the portfolio can begin with what is compiled.

    A child process compiles. Whenever the kernels of one more member are there, the portfolio begins anew with all
    members that are ready, from the best assignment so far.

    Parameters
    ----------
    problem, seed, budget, initial
        As for any solver.
    members
        Who may take part.
    begin
        Starts the portfolio.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int,
        budget: Budget,
        initial: Assignment | None,
        members: frozenset[str],
        begin: Begin,
    ):
        self._problem, self._begin = problem, begin
        start = cheapest_values(problem) if initial is None else np.asarray(initial, dtype=np.int64)
        self._best, self._best_cost = start, float(problem.cost(start))
        self._bound = -np.inf
        self._told = np.inf
        self._plain: Search | None = PlainBeliefPropagation().start(problem, seed=seed, budget=budget)
        self._walk = _local_search(problem, seed, budget)
        self._needs = {name: needed(jobs, problem) for name, jobs in COLD_MEMBERS.items() if name in members}
        self._jobs = {*COLD_PREPARATION, *(job for jobs in self._needs.values() for job in jobs)}
        self._compiler = Compiler(missing(self._jobs))
        self._ready = self._members()
        self._inner: Search | None = None
        if self._ready:
            self._open()

    def step(self) -> Step:
        """A block of whoever is at work."""
        ready = self._members()
        if ready != self._ready:
            self._ready = ready
            self._open()
        if self._inner is not None:
            step = self._inner.step()
            self._take(step)
        else:
            assert self._plain is not None
            step = self._plain.step()
            self._take(step)
            step.finished = self._hear()  # that belief propagation has come to rest ends nothing
        if self._best_cost < self._told or step.finished is not None:
            step.best, step.best_cost = self._best, self._best_cost
            self._told = self._best_cost
        if self._bound > -np.inf:
            step.bound = self._bound
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Pass it on."""
        if self._inner is not None:
            self._inner.offer(assignment, cost)

    def summary(self) -> tuple[str, ...]:
        """What was still missing, and what the portfolio did."""
        waiting = self._compiler.waiting()
        line = "kernels were compiled beside the search (a fresh machine or version)"
        if waiting:
            line += f"; {len(waiting)} of {len(self._jobs)} parts were still missing at its end"
        advice = line + ": the next solve is faster, `dabp doctor --compile` makes the rest"
        return (advice, *(self._inner.summary() if self._inner is not None else ()))

    def state_dict(self) -> State:
        """The best assignment; a resumed solve begins from it."""
        return {"best": self._best}

    def load_state_dict(self, state: State) -> None:
        """Begin from what was known."""
        if "best" in state:
            self._take(Step(best=np.asarray(state["best"]), best_cost=float(self._problem.cost(state["best"]))))

    def close(self) -> None:
        """End everything."""
        self._compiler.close()
        for search in (self._walk, self._inner):
            if search is not None:
                search.close()

    # ---- inside --------------------------------------------------------------------------------

    def _members(self) -> frozenset[str]:
        """The members whose kernels are there."""
        waiting = set(self._compiler.waiting())
        return frozenset(name for name, jobs in self._needs.items() if not waiting & set(jobs))

    def _open(self) -> None:
        """Begin the portfolio with the members that are ready."""
        inner = self._begin(self._ready, self._best)
        if inner is None:
            return
        for search in (self._walk, self._inner):
            if search is not None:
                search.close()
        self._walk, self._inner = None, inner

    def _hear(self) -> Status | None:
        """What toulbar2 has found by its local search, or proved."""
        if self._walk is None:
            return None
        try:
            step = self._walk.step()
        except SolverError:  # it crashes on some problems; the others go on
            self._walk.close()
            self._walk = None
            return None
        self._take(step)
        if step.finished is not None:
            self._walk.close()
            self._walk = None
        return step.finished if step.finished in (Status.OPTIMAL, Status.INFEASIBLE) else None

    def _take(self, step: Step) -> None:
        if step.best is not None and step.best_cost < self._best_cost:
            self._best, self._best_cost = np.asarray(step.best, dtype=np.int64), float(step.best_cost)
        if step.bound is not None:
            self._bound = max(self._bound, step.bound)


def _local_search(problem: Problem, seed: int, budget: Budget) -> Search | None:
    """toulbar2 with INCOP first, if the problem is not too large to be handed over."""
    cells = int(np.diff(problem.pool_offsets)[problem.factor_table].sum())
    if cells > COLD_CELLS or problem.num_factors > COLD_FACTORS:
        return None
    solver = Toulbar2(mode="incop", tries=COLD_TRIES)
    own = Budget(memory_limit=budget.memory_limit, guard=budget.guard)
    return Toulbar2Search(solver, problem, seed=seed, budget=own, initial=None)

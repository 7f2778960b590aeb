"""`auto` while kernels are being compiled: answers from what needs none, and members as they become ready."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np

from dabp.errors import SolverError
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.solvers.base import Budget, Search, State, Step
from dabp.solvers.compiler import Compiler
from dabp.solvers.portfolio.cold_plan import COLD_MEMBERS, COLD_PREPARATION, COLD_TRIAL, COLD_TRIAL_SECONDS
from dabp.solvers.portfolio.plain_search import PlainSearch
from dabp.solvers.portfolio.plan import HORIZON, PROVER_CELLS, PROVER_FACTORS
from dabp.solvers.status import Status
from dabp.solvers.toulbar2.closed_forms import cells_handed_over
from dabp.solvers.toulbar2.solver import Toulbar2, Toulbar2Search
from dabp.solvers.warming import missing, needed

Begin = Callable[[frozenset[str], Assignment | None], Search | None]
"""Starts the portfolio with these members only, from an assignment; None if none of them suits the problem."""


class ColdSearch(Search):
    """Belief propagation and annealing in NumPy, and toulbar2, until the portfolio can begin with what is compiled.

    A child process compiles. Whenever the kernels of one more member are there, the portfolio begins anew with all
    members that are ready, from the best assignment so far; the search in NumPy goes on until all are.

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
        self._plain = PlainSearch(problem, seed, budget)
        trial = max(COLD_TRIAL * min(budget.guard.seconds_left, HORIZON), COLD_TRIAL_SECONDS)
        self._prover = _prover(problem, seed, budget, trial)
        self._trial_ends = time.perf_counter() + trial
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
        step = Step()
        if self._inner is None or self._compiler.waiting():
            step = self._plain.step()
            if self._take(step) and self._inner is not None:
                self._inner.offer(self._best, self._best_cost)
        if self._inner is not None:
            others = self._inner.step()
            self._take(others)
            step.costs = np.concatenate([step.costs, others.costs])
            step.records, step.finished = others.records, others.finished
        else:
            step.finished = self._hear()
        step.best, step.best_cost = None, np.inf
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
        for search in (self._prover, self._inner):
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
        for search in (self._prover, self._inner):
            if search is not None:
                search.close()
        self._prover, self._inner = None, inner

    def _hear(self) -> Status | None:
        """What toulbar2 has found, or proved; it is ended when it has had its time."""
        if self._prover is None:
            return None
        step = Step()
        with contextlib.suppress(SolverError):  # it crashes on some problems; the others go on
            step = self._prover.step()
            self._take(step)
            if step.finished is None and time.perf_counter() < self._trial_ends:
                return None
        self._prover.close()
        self._prover = None
        return step.finished if step.finished in (Status.OPTIMAL, Status.INFEASIBLE) else None

    def _take(self, step: Step) -> bool:
        """Keep what a step has found; whether it is better than all before."""
        if step.bound is not None:
            self._bound = max(self._bound, step.bound)
        if step.best is None or step.best_cost >= self._best_cost:
            return False
        self._best, self._best_cost = np.asarray(step.best, dtype=np.int64), float(step.best_cost)
        return True


def _prover(problem: Problem, seed: int, budget: Budget, seconds: float) -> Search | None:
    """toulbar2, if the problem is not too large to be handed over in so many seconds."""
    if problem.num_factors > PROVER_FACTORS * seconds:
        return None
    if cells_handed_over(problem, budget.guard) > PROVER_CELLS * seconds:
        return None
    own = Budget(memory_limit=budget.memory_limit, guard=budget.guard)
    search = Toulbar2Search(Toulbar2(), problem, seed=seed, budget=own, initial=None)
    search.patience = 0.0
    return search

"""What needs no compiled code, taking turns in one thread: belief propagation and annealing in NumPy."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dabp.problem import Problem
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Step
from dabp.solvers.belief_propagation.plain import PlainBeliefPropagation
from dabp.solvers.local_search.plain_annealing import PlainAnnealing
from dabp.solvers.portfolio.cold_plan import (
    COLD_CELLS,
    COLD_ENTRIES,
    COLD_FACTORS,
    COLD_LEAD,
    COLD_SETUP,
    COLD_SETUP_SECONDS,
)


@dataclass
class _Member:
    """One of them: what it has used, and the best that it has found."""

    search: Search
    seconds: float = 0.0
    cost: float = np.inf


class PlainSearch(Search):
    """Belief propagation and annealing in NumPy; who has found the better answer has more of the time.

    On problems too large for either nothing happens: an iteration would outlast a limit.

    Parameters
    ----------
    problem, seed, budget
        As for any solver.
    """

    def __init__(self, problem: Problem, seed: int, budget: Budget):
        self._problem, self._seed, self._budget = problem, seed, budget
        self._members: list[_Member] = []
        sizes = np.diff(problem.pool_offsets)[problem.factor_table]
        if sizes.sum() <= COLD_CELLS and problem.num_factors <= COLD_FACTORS:
            self._members.append(_Member(PlainBeliefPropagation().start(problem, seed=seed, budget=budget)))
        sweep = int(problem.domain_sizes[problem.scope_variables].sum())
        laid_out = COLD_SETUP_SECONDS * float((sizes * problem.arities).sum() + sweep)
        affordable = sweep <= COLD_ENTRIES and laid_out < COLD_SETUP * budget.guard.seconds_left
        self._anneals = problem.num_variables > 0 and affordable

    def step(self) -> Step:
        """A block of the one whose turn it is."""
        if self._anneals and (not self._members or self._members[0].cost < np.inf or self._members[0].seconds > 0.1):
            self._anneals = False  # after the first answer
            search = PlainAnnealing().start(self._problem, seed=self._seed, budget=self._budget)
            self._members.append(_Member(search))
        if not self._members:
            time.sleep(BLOCK_SECONDS)
            return Step()
        leader = min(self._members, key=lambda member: member.cost)
        member = min(self._members, key=lambda one: one.seconds / (COLD_LEAD if one is leader else 1.0))
        started = time.perf_counter()
        step = member.search.step()
        member.seconds += time.perf_counter() - started
        member.cost = min(member.cost, step.best_cost)
        if step.finished is not None:
            self._members.remove(member)
            step.finished = None  # that one has come to rest proves nothing
        return step

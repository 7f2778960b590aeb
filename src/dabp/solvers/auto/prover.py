"""toulbar2 in the background: it proves while the members search, and gives way where it cannot."""

from __future__ import annotations

import numpy as np

from dabp.errors import SolverError
from dabp.graph.components import component
from dabp.problem import Assignment, Problem
from dabp.problem.columns import nullary_constant
from dabp.problem.guard import Guard
from dabp.solvers.auto.features import MOSTLY, Features, kind_of
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.base import Budget, Step
from dabp.solvers.status import Status
from dabp.solvers.toulbar2.closed_forms import cells_handed_over
from dabp.solvers.toulbar2.toulbar2 import Toulbar2, Toulbar2Search

TRIAL_PART = 0.2
"""Part of the time that toulbar2 has a core before its prospects are judged."""

HOPELESS_GAP = 0.1
"""Relative gap after the trial above which a proof is out of reach."""

VAST_DIGITS = 60.0
"""Decimal digits of the number of assignments from which on a problem without structure is hardly ever proved."""


class Prover:
    """Jobs for toulbar2, one component after the other, smallest first; one child process at a time."""

    name = "toulbar2"

    def __init__(
        self, problem: Problem, incumbent: Incumbent, seed: int, horizon: float, memory_limit: int | None = None
    ):
        self._budget = Budget(memory_limit=memory_limit)
        self._problem, self._incumbent, self._seed, self._horizon = problem, incumbent, seed, horizon
        sizes = np.bincount(incumbent.labels, minlength=incumbent.num_components)
        apart = 1 < incumbent.num_components <= 64  # more components are one job
        self._jobs = [np.array([c]) for c in np.argsort(sizes, kind="stable")] if apart else [np.arange(len(sizes))]
        self._proved = np.full(len(self._jobs), -np.inf)
        self._job = -1
        self._search: Toulbar2Search | None = None
        self._seconds = self._silent = 0.0
        """Seconds of the job, and those before its first bound: toulbar2 reads and propagates."""
        self._search_cost = self._best_bound = np.inf
        self._restarted = False
        self.finished: Status | None = None
        self.note = ""
        self._next_job()

    @property
    def running(self) -> bool:
        """Whether it wants a core."""
        return self._search is not None

    def hopeless(self, time: float) -> bool:
        """Whether the current job, after a fair trial, is beyond reach while others still find improvements."""
        finds = self._incumbent.finds
        if self._search is None or not finds or self._seconds < self._trial + self._dive:
            return False
        vast = self._vast
        if finds[-1].member == self.name or (time - finds[-1].time > 8.0 and not vast):  # no other member gets further
            return False
        cost, bound = self._own_cost(), max(self._best_bound, self._whole_bound())
        gap = (cost - bound) / max(abs(cost), abs(bound), 1e-9) if np.isfinite(bound) else np.inf
        return _digits(self._part) > 25 and gap > (0.01 if vast else HOPELESS_GAP)

    @property
    def _trial(self) -> float:
        """Seconds that a job has a core before it is judged."""
        part = 0.05 if self._vast else 0.6 if _digits(self._part) > VAST_DIGITS else TRIAL_PART
        return float(np.clip(part * self._horizon, min(0.5, TRIAL_PART * self._horizon), 10.0))

    @property
    def _dive(self) -> float:
        """Seconds more for the first dive, which takes about as long as reading and propagating."""
        return min(2.0 * self._silent, 0.3 * self._horizon)

    def pause(self) -> None:
        """Stop the child process for a while."""
        if self._search is not None:
            self._search.pause()

    def resume(self) -> None:
        """Let it go on."""
        if self._search is not None:
            self._search.resume()

    def poll(self, time: float, seconds: float) -> Step:
        """Take what toulbar2 reports within a block; it has run for `seconds` since the last call."""
        if self._search is None:
            return Step()
        self._seconds += seconds
        if not np.isfinite(self._best_bound):
            self._silent += seconds
        try:
            step = self._search.step()
        except SolverError as error:  # it crashes on some problems; the others go on
            self.note = f"toulbar2 gave up: {error}"
            self.close()
            return Step()
        if step.best is not None:
            self._incumbent.offer(self._whole(step.best), self.name, time)
        if step.bound is not None:
            self._take_bound(step.bound)
        if step.finished is Status.INFEASIBLE:
            self.finished = step.finished
            self.close()
        elif step.finished is not None:
            if step.finished is Status.OPTIMAL:
                self._take_bound(self._own_cost())
            self._next_job()
        elif not self._restarted and self._seconds > 1.0 + self._dive and len(self._jobs) == 1:
            self._restarted = True  # once, from the incumbent if that is better than its own best
            if self._incumbent.cost < self._search_cost:
                self._launch()
        if step.best is not None:
            self._search_cost = min(self._search_cost, step.best_cost)
        return step

    def close(self) -> None:
        """End the child process."""
        if self._search is not None:
            self._search.resume()
            self._search.close()
            self._search = None

    # ---- jobs ----------------------------------------------------------------------------------

    def _next_job(self) -> None:
        self.close()
        self._job += 1
        if self._job == len(self._jobs):
            return
        self._seconds = self._silent = 0.0
        if len(self._jobs) == 1:
            self._part, self._variables = self._problem, np.arange(self._problem.num_variables)
        else:
            self._part, self._variables = component(self._problem, self._incumbent.labels, self._jobs[self._job])
        self._vast = _is_vast(self._part)
        self._launch()

    def _launch(self) -> None:
        self.close()
        whole, _ = self._incumbent.best()
        initial = None if whole is None else whole[self._variables]
        self._best_bound = -np.inf
        self._search_cost = np.inf if initial is None else float(self._part.cost(initial))
        ripe = self._restarted or self._job > 0  # what descent alone found is worse than what a dive would
        self._search = Toulbar2Search(
            Toulbar2(), self._part, seed=self._seed, budget=self._budget, initial=initial, follow=ripe
        )

    def _whole(self, values: Assignment) -> Assignment:
        """An assignment of the job as one of the whole problem; other variables as in the incumbent."""
        best = self._incumbent.assignment
        whole = np.zeros(self._problem.num_variables, dtype=np.int64) if best is None else best.copy()
        whole[self._variables] = values
        return whole

    def _own_cost(self) -> float:
        best = self._incumbent.assignment
        return np.inf if best is None else float(self._part.cost(best[self._variables]))

    def _whole_bound(self) -> float:
        """The shared bound, where the job is the whole problem."""
        return self._incumbent.bound if len(self._jobs) == 1 else -np.inf

    def _take_bound(self, bound: float) -> None:
        self._best_bound = max(self._best_bound, bound)
        self._proved[self._job] = max(self._proved[self._job], bound)
        constant = 0.0 if len(self._jobs) == 1 else nullary_constant(self._problem)  # what no component counts
        total = float(self._proved.sum()) + constant
        if np.isfinite(total):
            self._incumbent.raise_bound(total, self.name)


def worth_proving(problem: Problem, features: Features, horizon: float, guard: Guard) -> bool:
    """Whether toulbar2 could be of use within `horizon` seconds: reading the problem alone may take longer.

    On images of more than 2,000 variables the dual proves, or nothing does.
    """
    if problem.num_factors > 15_000 * horizon or (features.num_variables > 2_000 and kind_of(features)[0] == "image"):
        return False
    least = 0.0 if _digits(problem) <= VAST_DIGITS else 2.0 if _is_vast(problem) and features.hard < MOSTLY else 1.0
    return horizon >= least and cells_handed_over(problem, guard) <= 1_000_000 * horizon


def _is_vast(problem: Problem) -> bool:
    """Whether there are many assignments, and no structure of few variables with few neighbours that a proof lives on.

    Frequencies and schedules have such a structure; toulbar2 then finds answers that no member finds.
    """
    degree = int(problem.arities[problem.arities >= 2].sum()) / max(1, problem.num_variables)
    return _digits(problem) > VAST_DIGITS and not (problem.num_variables <= 400 and degree <= 12)


def _digits(problem: Problem) -> float:
    """Decimal digits of the number of assignments."""
    return float(np.log10(problem.domain_sizes).sum())

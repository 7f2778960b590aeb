"""toulbar2, the exact solver for cost function networks, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import math
import queue
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError, SolverError
from dabp.packages import require
from dabp.presolve.assembly import rebuilt
from dabp.presolve.exclusion import exclusions
from dabp.problem import Assignment, Problem
from dabp.problem.guard import MEMORY, resident_memory
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.status import Status
from dabp.solvers.stopped import Stopped
from dabp.solvers.toulbar2.closed_forms import closed_forms
from dabp.solvers.toulbar2.global_functions import global_posts
from dabp.solvers.toulbar2.process import Child
from dabp.solvers.toulbar2.scaled_costs import ScaledCosts

MODES = ("default", "vns", "incop", "pils")

BOUND_LINE = re.compile(
    r"(?:Optimality gap: \[|Initial lower and upper bounds: \[|Reverse (?:original )?DAC dual bound: )(\d+)\b(?!\.)"
)
"""toulbar2's lines that carry a proved lower bound."""


@dataclass(frozen=True, kw_only=True)
class Toulbar2(Solver):
    """toulbar2: branch and bound with soft local consistencies, or its heuristics before it.

    toulbar2 proves optimality of problems with hundreds of variables when their lower bounds are tight, and has good
    heuristics for others. It runs in a child process, whose solutions and lower bounds are read as they are found.

    Costs become non-negative integers: decimals exactly; real costs are rounded as precisely as totals of 2^53 allow,
    and the bound is lowered by the most that rounding adds. OPTIMAL requires that cost and bound agree up to the
    rounding of sums. A warm start gives the first upper bound. Incumbents offered during the search are ignored.

    Reference: D. Allouche, S. de Givry, G. Katsirelos, T. Schiex, M. Zytnicki, *Anytime Hybrid Best-First Search with
    Tree Decomposition for Weighted CSP*, CP 2015; INCOP: B. Neveu, G. Trombettoni, F. Glover, *ID Walk*, CP 2004;
    PILS: F. Beuvin et al., Proteins 2021; VNS: A. Ouali et al., UAI 2017.

    Parameters
    ----------
    mode
        ``default`` (hybrid best-first search), ``vns`` (decomposition-guided variable neighbourhood search),
        ``incop`` or ``pils`` (that local search first, then the default search).
    tries
        Runs of the local search of ``incop`` and ``pils``.
    steps
        Length of each of those runs (INCOP: moves; PILS: evaluations); by default toulbar2's own, 100000 or 1500.
    vac
        Virtual arc consistency at depths below this (1: in preprocessing only, 0: off): a stronger, costlier bound.
    cliques
        Post sets of values of which at most one can be taken (stated as forbidden pairs: packing, all-different,
        channels), which improves toulbar2's bound.
    closed_forms
        Post large tables for x at least y + c, or for x and y apart, as toulbar2's own functions. Only in mode
        ``default``.
    statements
        Post hard all-different, counts and sums that a model or file states as toulbar2's own functions, too.
    precision
        The allowed error of a total by rounding real costs to integers: absolute, or relative to the range of totals
        where that is below 1. By default rounding is as precise as possible: otherwise real costs are rarely proved
        optimal.
    """

    iterations_end: ClassVar[bool] = False
    proves: ClassVar[bool] = True

    mode: str = "default"
    tries: int = 3
    steps: int | None = None
    vac: int = 0
    cliques: bool = True
    closed_forms: bool = True
    statements: bool = True
    precision: float | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ParameterError(f"toulbar2's mode is one of {', '.join(MODES)}, not {self.mode!r}")
        if self.tries < 1 or (self.steps is not None and self.steps < 1):
            raise ParameterError("toulbar2's tries and steps are at least 1")
        if self.vac < 0:
            raise ParameterError("toulbar2's vac is a depth, 0 or more")
        if self.precision is not None and not 0 < self.precision < math.inf:
            raise ParameterError("toulbar2's precision is a positive number")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Start the child process."""
        require("pytoulbar2", "toulbar2")
        return Toulbar2Search(self, problem, seed=seed, budget=budget, initial=initial)

    def options(self, seed: int) -> dict[str, Any]:
        """toulbar2's global options for the chosen mode."""
        if self.mode == "incop":
            return {"incop_cmd": f"0 {seed} {self.tries} idwa {self.steps or 100_000} cv v 0 200 1 0 0"}
        if self.mode == "pils":
            return {"pils_cmd": f"{self.tries} 0 0.333 150 150 {self.steps or 1500} 0.1 0.5 0.1 0.1"}
        return {}


class Toulbar2Search(Search):
    """A toulbar2 process and what it has said so far.

    Parameters
    ----------
    solver, problem, seed, budget, initial
        As for any solver.
    follow
        Whether the search tries the values of `initial` first; otherwise that is only an upper bound.
    """

    def __init__(
        self,
        solver: Toulbar2,
        problem: Problem,
        *,
        seed: int,
        budget: Budget,
        initial: Assignment | None,
        follow: bool = True,
    ):
        self._solver, self._problem, self._budget = solver, problem, budget
        self._follow = follow
        self.patience = 0.05
        """Seconds that a step waits for output; 0 where other solvers share the thread."""
        self._incumbent: Assignment | None = None
        self._incumbent_cost = np.inf
        if initial is not None and np.isfinite(cost := problem.cost(initial)):
            self._incumbent, self._incumbent_cost = initial, float(cost)
        self._bound = -np.inf
        self._child: Child | None = None
        self._expects_values = False
        self._stopped: str | None = None
        try:
            self._costs = ScaledCosts(problem, solver.precision, budget.guard)
        except Stopped as reason:
            self._stopped = str(reason)
            return
        if problem.num_variables and not self._costs.infeasible:
            self._child = self._launch(seed % 2**31)

    def step(self) -> Step:
        """Wait briefly for toulbar2 to say something, and pass it on."""
        step = Step()
        if self._stopped is not None:
            return Step(finished=Status.LIMIT, notes=(f"toulbar2 was not started: {self._stopped}",))
        if self._child is None:
            return self._trivial(step)
        costs: list[float] = []
        wait = self.patience
        with contextlib.suppress(queue.Empty):
            while step.finished is None:
                line = self._child.line(wait)
                wait = 0.0
                self._read(line, step, costs)
        step.costs = np.array(costs)
        if step.finished is None and self._memory_is_full():
            step.finished, step.limit = Status.LIMIT, MEMORY
        return step

    def _memory_is_full(self) -> bool:
        """Whether this process and the child together hold more than allowed."""
        limit = self._budget.memory_limit
        return limit is not None and self._child is not None and self._child.memory + resident_memory() > limit

    def pause(self) -> None:
        """Stop the child until `resume`, so that others can have its core."""
        if self._child is not None:
            self._child.pause()

    def resume(self) -> None:
        """Let a paused child go on."""
        if self._child is not None:
            self._child.resume()

    def close(self) -> None:
        """End the process of toulbar2."""
        if self._child is not None:
            child, self._child = self._child, None
            child.close()

    def _launch(self, seed: int) -> Child:
        """Tell a new process the integer problem and the upper bound."""
        problem = self._costs.problem
        keep = problem.arities > 0  # constants are in the offset
        forms = (
            closed_forms(problem, self._budget.guard)
            if self._solver.closed_forms and self._solver.mode == "default"
            else {}
        )
        keep[list(forms)] = False
        self._upper_bound = self._costs.largest + 1
        if self._incumbent is not None:
            self._upper_bound = float(problem.cost(self._incumbent))
        handed = rebuilt(problem, np.flatnonzero(keep), (), 0.0)
        columns: dict[str, NDArray[Any]] = {
            "domain_sizes": handed.domain_sizes,
            "scope_variables": handed.scope_variables,
            "scope_offsets": handed.scope_offsets,
            "factor_table": handed.factor_table,
            "pool": handed.pool,
            "pool_offsets": handed.pool_offsets,
            "initial": self._incumbent if self._incumbent is not None and self._follow else np.zeros(0, dtype=np.int64),
        }
        order = {
            "settings": {"seed": seed, "vac": self._solver.vac, "vns": -4 if self._solver.mode == "vns" else None},
            "options": self._solver.options(seed),
            "upper_bound": self._upper_bound,
            "exclusions": exclusions(problem, self._budget.guard) if self._solver.cliques else [],
            "closed_forms": [post for posts in forms.values() for post in posts],
            "statements": global_posts(self._problem.auxiliaries.statements) if self._solver.statements else [],
        }
        return Child(order, columns, self._budget.guard)

    # ---- what it says ------------------------------------------------------------------------

    def _read(self, line: str | None, step: Step, costs: list[float]) -> None:
        if line is None:
            assert self._child is not None
            raise SolverError(self._child.obituary())
        if line.startswith("c "):  # a comment about memory, also between a solution's two lines
            return
        if self._expects_values:
            self._expects_values = False
            try:
                values = np.array(line.split(), dtype=np.int64)
            except ValueError:
                raise SolverError(f"toulbar2 printed {line[:60]!r} where a solution was due") from None
            self._take(values, step, costs)
        elif line.startswith("New solution: "):
            self._expects_values = True
        elif match := BOUND_LINE.match(line):
            self._raise_bound(float(match[1]), step)
        elif line.startswith("dabp "):
            self._finish(json.loads(line[5:]), step)

    def _take(self, assignment: Assignment, step: Step, costs: list[float]) -> None:
        cost = float(self._problem.cost(assignment))
        costs.append(cost)
        if cost < step.best_cost:
            step.best, step.best_cost = assignment, cost
        if cost < self._incumbent_cost:
            self._incumbent, self._incumbent_cost = assignment, cost

    def _raise_bound(self, integer_bound: float, step: Step) -> None:
        bound = self._costs.lower_bound(integer_bound)
        if bound > self._bound:
            self._bound = bound
            step.bound = bound

    def _finish(self, done: dict[str, Any], step: Step) -> None:
        if not done["complete"]:
            self._raise_bound(done["bound"], step)
        elif done["cost"] is not None:
            self._raise_bound(done["cost"], step)
        elif self._incumbent is not None:  # nothing lies below the upper bound it was given
            self._raise_bound(self._upper_bound, step)
        else:
            step.finished = Status.INFEASIBLE
            return
        proved = self._incumbent_cost - self._bound <= self._problem.facts.rounding(self._incumbent_cost)
        step.finished = Status.OPTIMAL if proved else Status.CONVERGED

    def _trivial(self, step: Step) -> Step:
        if self._costs.infeasible:
            return Step(finished=Status.INFEASIBLE)
        step.best = np.zeros(0, dtype=np.int64)
        step.best_cost = step.bound = float(self._problem.cost(step.best))
        step.costs, step.finished = np.array([step.best_cost]), Status.OPTIMAL
        return step

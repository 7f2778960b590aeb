"""What variable elimination solves exactly: all of a narrow problem, or those of its components that are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dabp.graph.components import component, component_labels
from dabp.graph.elimination_order import elimination_order
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, nullary_constant
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget, Search, Solver, State, Step
from dabp.solvers.elimination.mini_bucket import MiniBucketSearch
from dabp.solvers.status import Status

WIDEST = 24
"""Induced width up to which elimination is tried: two values each would be too many beyond."""

WORK_PER_SECOND = 3e8
"""Costs that elimination adds up in a second."""

MOST_ENTRIES = 60_000_000
"""Costs of 8 bytes, or eight times as many choices of a byte, that elimination may keep."""

Begin = Callable[[Problem, Assignment | None], Search]
"""Starts the search of a part of a problem, from an assignment of it if there is one."""


def exact_search(problem: Problem, work: float = np.inf, guard: Guard | None = None) -> MiniBucketSearch | None:
    """An elimination that is exact, fits the memory and adds up at most `work` costs; None if there is none.

    None too if the guard ends the search for an elimination order.
    """
    elimination = elimination_order(problem, widest=WIDEST, guard=guard)
    if elimination.width is None or elimination.width > WIDEST or (guard is not None and guard.over):
        return None
    search = MiniBucketSearch(problem, max(1, elimination.width), MOST_ENTRIES, elimination)
    return search if search.exact and search.work <= work else None


@dataclass(frozen=True, kw_only=True)
class ExactElimination(Solver):
    """`mbe` as a member of `auto`: at the i-bound at which it is exact, if that is affordable.

    Parameters
    ----------
    horizon
        Seconds of the solve: the search for an order may take 0.1 of these, elimination half.
    search
        An elimination that is planned already.
    """

    horizon: float
    search: MiniBucketSearch | None = None

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin what is planned, or look for an order first."""
        guard = budget.guard.within(0.1 * self.horizon)
        return self.search or exact_search(problem, 0.5 * WORK_PER_SECOND * self.horizon, guard) or _TooWide()


class _TooWide(Search):
    """The elimination of a problem that is too wide for it."""

    def step(self) -> Step:
        """End at once: there is no elimination."""
        return Step(finished=Status.CONVERGED)


def narrow_components(problem: Problem, work: float = np.inf, guard: Guard | None = None) -> Indices:
    """Numbers of the components that are eliminated together: as many of the smallest as fit, never all."""
    labels, count = component_labels(problem)
    if count < 2:
        return np.zeros(0, dtype=np.int64)
    smallest_first = np.argsort(np.bincount(labels, minlength=count), kind="stable")
    fits, fails = 0, count
    while fails - fits > max(1, count // 64) and not (guard is not None and guard.over):
        middle = (fits + fails + 1) // 2
        if exact_search(component(problem, labels, smallest_first[:middle])[0], work, guard) is None:
            fails = middle
        else:
            fits = middle
        if fails <= fits:
            break
    return smallest_first[:fits]


class PartlyNarrow(Search):
    """Narrow components first, exactly; then the search of the rest, whose answers are completed by theirs.

    Parameters
    ----------
    problem
        The whole.
    narrow
        Numbers of its narrow components.
    begin
        Starts the search of the rest.
    """

    state_assignments: ClassVar[tuple[str, ...]] = ()  # its values are those of the narrow part

    def __init__(self, problem: Problem, narrow: Indices, begin: Begin, initial: Assignment | None):
        self._problem, self._begin = problem, begin
        labels, count = component_labels(problem)
        self._part, self._variables = component(problem, labels, narrow)
        rest, self._others = component(problem, labels, np.setdiff1d(np.arange(count), narrow))
        self._rest = rest.replace(constant=nullary_constant(problem))
        self._initial = None if initial is None else np.asarray(initial)[self._others]
        self._exact: Search | None = exact_search(self._part)
        self._inner: Search | None = None
        self._values = np.zeros(problem.num_variables, dtype=np.int64)
        self._cost = 0.0

    @property
    def at_boundary(self) -> bool:
        """Whether the search at work may be saved."""
        working = self._inner or self._exact
        return working is None or working.at_boundary

    def step(self) -> Step:
        """Eliminate the narrow components, then search the rest."""
        if self._inner is not None:
            return self._completed(self._inner.step())
        assert self._exact is not None
        step = self._exact.step()
        if step.finished is Status.INFEASIBLE:
            return step
        if step.finished is not None and step.best is not None:
            self._values[self._variables], self._cost = step.best, step.best_cost
            self._inner = self._begin(self._rest, self._initial)
        return Step()

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Pass on the part that is searched."""
        if self._inner is not None:
            part = np.asarray(assignment)[self._others]
            self._inner.offer(part, float(self._rest.cost(part)))

    def pending(self) -> Assignment | None:
        """What the search of the rest has not reported yet, completed."""
        rest = None if self._inner is None else self._inner.pending()
        return None if rest is None else self._whole(rest)

    def summary(self) -> tuple[str, ...]:
        """What was eliminated, and what the search of the rest did."""
        line = f"variable elimination solved {len(self._variables):,} variables in components of their own"
        return (line, *(self._inner.summary() if self._inner is not None else ()))

    def state_dict(self) -> State:
        """The narrow components' values once they are known, and the state of the search of the rest."""
        if self._inner is None:
            return {}
        inner = {f"rest.{key}": value for key, value in self._inner.state_dict().items()}
        return {**inner, "values": self._values, "cost": self._cost, "narrow": self._variables}

    def load_state_dict(self, state: State) -> None:
        """Skip the elimination if it was done, of the same variables, and go on with the rest; else begin anew."""
        if "values" not in state or not np.array_equal(state["narrow"], self._variables):
            return
        self._values, self._cost = state["values"], state["cost"]
        self._inner = self._begin(self._rest, self._initial)
        self._inner.load_state_dict({k.removeprefix("rest."): v for k, v in state.items() if k.startswith("rest.")})

    def close(self) -> None:
        """End the search of the rest."""
        if self._inner is not None:
            self._inner.close()

    def _whole(self, rest: Assignment) -> Assignment:
        values = self._values.copy()
        values[self._others] = rest
        return values

    def _completed(self, step: Step) -> Step:
        step.costs = step.costs + self._cost
        if step.best is not None:
            step.best = self._whole(step.best)
            step.best_cost = float(self._problem.cost(step.best))
        if step.bound is not None:
            step.bound += self._cost
        return step

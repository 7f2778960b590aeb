"""The answers before the search: a guess by unary costs, a descent where it is forbidden, and the given start."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.errors import ProblemError
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, cheapest_values, first_least, own_costs
from dabp.problem.guard import Guard
from dabp.problem.randomness import generator
from dabp.problem.views import Label

PRICED_ENTRIES = 500_000
"""Problems with more scope entries per second of the time left than this do not compute the first guess's cost."""


@dataclass(frozen=True)
class FirstAnswers:
    """The caller's fixed values and start."""

    fix: Mapping[str, Label] | None
    initial: Mapping[str, Label] | ArrayLike | Result | None

    def fixed(self, problem: Problem) -> dict[int, int]:
        """The fixed variables as variable index → value index."""
        named = {problem.names.variable_index(name): label for name, label in (self.fix or {}).items()}
        for variable in named:
            if variable >= problem.auxiliaries.num_visible:
                name = problem.names.variable(variable)
                raise ProblemError(f"{name!r} is auxiliary: other variables determine it, and it cannot be fixed")
        return {variable: problem.names.value_index(variable, label) for variable, label in named.items()}

    def offer(self, run: RunningSolve, guard: Guard) -> Assignment | None:
        """Give the run a guess and the start, unless the start contradicts a fixed value; returns the start.

        If the guess is forbidden and auxiliary variables follow from others, a descent from the guess replaces it.
        """
        problem, fixed = run.problem, self.fixed(run.problem)
        guess = problem.auxiliaries.completed(first_guess(problem, fixed))
        run.guess(guess)
        if len(problem.scope_variables) <= PRICED_ENTRIES * guard.seconds_left:
            run.price_guess()
            if self.initial is None and problem.auxiliaries.count and run.progress.cost is None:
                kept = np.fromiter(fixed, dtype=np.int64)
                found = visible_descent(problem, guess, kept, guard.within(0.05 * guard.seconds_left))
                cost = float(problem.cost(found))
                run.offer(found, cost)
                return found if math.isfinite(cost) else None
        if self.initial is None:
            return None
        start = problem.names.checked(self._given())
        if start.ndim > 1:
            raise ProblemError("initial is one assignment, not a batch")
        if all(start[variable] == value for variable, value in fixed.items()):
            run.offer(start, float(problem.cost(start)))  # before presolve, which may remove its values
        return start

    def _given(self) -> Mapping[str, Label] | ArrayLike:
        """The start; of an earlier result its labels by name, since its problem may be a related one."""
        if not isinstance(self.initial, Result):
            return self.initial if self.initial is not None else ()
        if self.initial.values is None:
            raise ProblemError("initial is a result without an assignment")
        return self.initial.values


def first_guess(problem: Problem, fixed: Mapping[int, int] | None = None) -> Assignment:
    """Each variable's best value by its unary costs, the first among equal ones; `fixed` variables at their values."""
    if problem.maximize:
        costs, starts = own_costs(problem)
        guess = first_least(-costs, starts)
    else:
        guess = cheapest_values(problem)
    for variable, value in (fixed or {}).items():
        guess[variable] = value
    return guess


def visible_descent(problem: Problem, guess: Assignment, kept: Indices, guard: Guard) -> Assignment:
    """The best assignment found from `guess` and from all variables at one value, by violations, then by cost.

    A candidate differs from the best in one or two visible variables that are not `kept`. Auxiliary variables are
    computed from the visible ones in every candidate: a search that moves one variable at a time cannot change a term
    of a sum that is stated through partial sums.
    """
    free = np.setdiff1d(np.flatnonzero(problem.domain_sizes[: problem.auxiliaries.num_visible] > 1), kept)
    values = np.arange(min(int(problem.domain_sizes.max(initial=1)), 16))
    starts = np.repeat(guess[None], 1 + len(values), axis=0)
    starts[1:, free] = np.minimum(values[:, None], problem.domain_sizes[free] - 1)
    best, merit = _best(problem, starts)
    if not len(free):
        return best
    rng, failed = generator(0, 0xF1257), 0
    rows = max(1, min(256, 4_000_000 // max(1, len(problem.scope_variables))))  # bounds the memory
    patience = 12 + -(-2 * int(problem.domain_sizes[free].sum()) // rows)  # rounds without an improvement
    for _ in range(500):
        if guard.over or failed >= patience:
            break
        found, found_merit = _best(problem, _neighbours(problem, best, free, rows, rng))
        failed = 0 if found_merit < merit else failed + 1
        if found_merit <= merit:  # equal candidates are accepted to cross plateaus
            best, merit = found, found_merit
    return best


def _neighbours(problem: Problem, best: Assignment, free: Indices, rows: int, rng: np.random.Generator) -> Indices:
    """Assignments with another value of one variable, in the second half of two."""
    result, every = np.repeat(best[None], rows, axis=0), np.arange(rows)
    for changed in (every, every[rows // 2 :]):
        variables = rng.choice(free, len(changed))
        shift = 1 + (rng.random(len(changed)) * (problem.domain_sizes[variables] - 1)).astype(np.int64)
        result[changed, variables] = (result[changed, variables] + shift) % problem.domain_sizes[variables]
    return result


def _best(problem: Problem, rows: Indices) -> tuple[Assignment, tuple[int, float]]:
    """The first of the best rows, completed, with its number of violations and its other costs."""
    completed = problem.auxiliaries.completed(rows)
    violations, costs = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows))
    for group in problem.facts.arity_groups:
        cells = group.bases + (completed[:, group.variables] * group.strides).sum(axis=-1)
        paid: NDArray[np.float64] = problem.pool[cells]
        forbidden = np.isinf(paid)
        violations += forbidden.sum(axis=-1)
        costs += np.where(forbidden, 0.0, paid).sum(axis=-1)
    costs *= -1.0 if problem.maximize else 1.0
    chosen = int(np.lexsort((costs, violations))[0])
    return completed[chosen], (int(violations[chosen]), float(costs[chosen]))

"""A solver that stays: a problem is solved again with other costs or fixed values, and what was prepared is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.driver.arguments import check_fix, checked_problem
from dabp.driver.first_answers import FirstAnswers
from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.driver.solve import solve
from dabp.driver.stopping import Ended
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.model import Model
from dabp.problem.views import Label
from dabp.solvers.clock import Clock
from dabp.solvers.elimination.mini_bucket import MiniBucketSearch, Plan
from dabp.solvers.status import Status

NARROW_ENTRIES = 2_000_000
"""Costs of all messages up to which a problem is solved by elimination with the plan that is kept."""

WIDEST = 40
"""Variables that a message may look at; `NARROW_ENTRIES` is the limit before."""


class Incremental:
    """Solve one problem many times, with other costs or other fixed values.

    Where an exact elimination is small, its order and plan are kept, and a solve is that elimination alone. On other
    problems each call is a `dabp.solve` that starts from the last answer and shares the layouts of the first.

    Parameters
    ----------
    problem
        What is solved; its variables and scopes stay.
    solver, options
        As for `dabp.solve`, for problems that are not small.

    Examples
    --------
    >>> model = Model()
    >>> names = model.add_variables(["x", "y"], 3)
    >>> model.add_cost(["x", "y"], [[0, 4, 2], [7, 1, 5], [3, 6, 8]])
    >>> kept = Incremental(model)
    >>> kept.solve().cost, kept.solve(fix={"x": 1}).cost, kept.solve(costs=[9, 4, 2, 7, 1, 5, 3, 6, 8]).values
    (0.0, 1.0, {'x': 1, 'y': 1})
    """

    def __init__(self, problem: Problem | Model, solver: str = "auto", **options: Any):
        self.problem = checked_problem(problem)
        self._solver, self._options = solver, options
        self._last: dict[str, Label] = {}
        self._plan = None if self.problem.limit is not None else self._planned()

    def _planned(self) -> Plan | None:
        """The plan of an exact elimination with a table of its own for each variable; None if it is not small."""
        problem = self.problem
        count, lengths = problem.num_variables, np.diff(problem.pool_offsets)
        with_own = Problem(
            problem.domain_sizes,
            np.concatenate([problem.scope_variables, np.arange(count)]),
            offsets_of(np.concatenate([problem.arities, np.ones(count, dtype=np.int64)])),
            np.zeros(len(problem.pool) + int(problem.domain_sizes.sum())),
            offsets_of(np.concatenate([lengths, problem.domain_sizes])),
            np.concatenate([problem.factor_table, len(lengths) + np.arange(count)]),
        )
        self._search = MiniBucketSearch(with_own, min(WIDEST, max(count, 1)), NARROW_ENTRIES)
        return self._search.plan if self._search.exact else None

    def solve(
        self, costs: ArrayLike | None = None, *, fix: Mapping[str, Label] | None = None, **options: Any
    ) -> Result:
        """The best answer with these costs, and with these variables at these values.

        Parameters
        ----------
        costs
            In the order of `Problem.pool`; they stay for the calls that follow. By default as they are.
        fix
            Values by variable name, for this call only.
        options
            More arguments of `dabp.solve` for this call; with any of them the problem is solved as a large one.
        """
        clock = Clock()
        if costs is not None:
            self.problem = self.problem.with_costs(costs)
        check_fix(fix)
        if self._plan is None or options:
            return self._solved(fix, options)
        run = RunningSolve(self.problem, "incremental", 0, clock)
        fixed = FirstAnswers(fix, None).fixed(self.problem)
        values = self._eliminated(self._plan, fixed)
        cost = float(self.problem.cost(values))
        if all(values[variable] == value for variable, value in fixed.items()):  # else all are forbidden
            run.offer(values, cost)
        run.progress.iterations = 1
        if run.progress.cost is None:
            return run.result(Ended(Status.INFEASIBLE))
        run.tighten(run.sign * cost)
        return run.result(Ended(Status.OPTIMAL))

    def _eliminated(self, plan: Plan, fixed: Mapping[int, int]) -> NDArray[np.int64]:
        """The assignment of least cost; forbidden if there is none."""
        problem = self.problem
        own = np.zeros(int(problem.domain_sizes.sum()))
        starts = offsets_of(problem.domain_sizes)
        for variable, value in fixed.items():
            own[starts[variable] : starts[variable + 1]] = np.inf
            own[starts[variable] + value] = 0.0
        return self._search.minimum(plan, np.concatenate([-problem.pool if problem.maximize else problem.pool, own]))

    def _solved(self, fix: Mapping[str, Label] | None, options: Mapping[str, Any]) -> Result:
        """A whole solve from the last answer, with the fixed values in place."""
        chosen = {**self._options, **options}
        if self._last and chosen.get("initial") is None:
            chosen["initial"] = {**self._last, **(fix or {})}
        result = solve(self.problem, self._solver, fix=fix, **chosen)
        self._last = result.values or self._last
        return result

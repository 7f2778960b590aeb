"""Several answers to one problem: the best, the best that differs from it, and so on."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np

from dabp.driver.arguments import as_count, checked_problem, chosen_solver
from dabp.driver.result import Result
from dabp.driver.solve import KEYWORDS, solve
from dabp.driver.stopping import LIMIT_OPTIONS, Limits
from dabp.errors import ParameterError, refuse_unknown
from dabp.problem import Problem
from dabp.problem.columns import Indices
from dabp.problem.differences import differing
from dabp.problem.guard import TIME
from dabp.problem.model import Model
from dabp.solvers.status import Status


def solve_several(
    problem: Problem | Model,
    solutions: int,
    *,
    distance: int = 1,
    among: Collection[Hashable] | None = None,
    solver: str = "auto",
    time_limit: float | None = None,
    **options: Any,
) -> list[Result]:
    """The best answers to a problem that differ from one another, best first as far as they are proved.

    The second answer is the best one that differs from the first, the third the best one that differs from both, and
    so on. A result with status OPTIMAL is proved to be that. The list is shorter than `solutions` where no further
    answer exists, which the last result then proves with status INFEASIBLE and without an assignment, or where the
    time did not suffice to find one.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`; checkpoints and `relax` excepted.
    solutions
        How many answers are wanted.
    distance
        In how many variables every two answers differ at least. Auxiliary variables of a model do not count.
    among
        Names of the variables that count; by default all.
    time_limit
        Seconds for all answers together; time that an answer does not need is left to the next ones. The default is
        that of `dabp.solve`. The other limits apply to each answer.

    Examples
    --------
    >>> model = Model()
    >>> names = model.add_variables(["x", "y"], 3)
    >>> model.add_cost(["x", "y"], [[0, 4, 2], [7, 1, 5], [3, 6, 8]])
    >>> [(result.cost, result.values) for result in solve_several(model, 3)]
    [(0.0, {'x': 0, 'y': 0}), (1.0, {'x': 1, 'y': 1}), (2.0, {'x': 0, 'y': 2})]
    """
    started = time.perf_counter()
    _check_options(options)
    problem = checked_problem(problem)
    wanted, apart, counted = _checked(problem, solutions, distance, among)
    limits = Limits.of({"time_limit": time_limit, **options})
    limits, note = limits.for_solver(*chosen_solver(solver, options.get("params")))
    seconds = math.inf if limits.time is None else limits.time
    options = {name: value for name, value in options.items() if name not in ("limits", *LIMIT_OPTIONS.values())}
    found: list[Result] = []
    while len(found) < wanted:
        left = max(seconds - (time.perf_counter() - started), 0.0)
        if found and left == 0.0:
            break
        earlier = [each.assignment for each in found if each.assignment is not None]
        restricted = differing(problem, earlier, apart, counted) if earlier else problem
        share = left if math.isinf(left) else left / (wanted - len(found))
        result = solve(restricted, solver, limits=dataclasses.replace(limits, time=share), **options)
        found.append(_of(problem, result, note))
        if not result.feasible or result.status is Status.INTERRUPTED:
            break
    return found


def _check_options(options: Mapping[str, Any]) -> None:
    refuse_unknown("solve_several", options, ("distance", "among", "solver", *KEYWORDS))
    for name in ("checkpoint", "resume", "relax"):
        if options.get(name):
            raise ParameterError(f"solve_several takes no {name}; dabp.solve does, for one answer")


def _checked(
    problem: Problem, solutions: int, distance: int, among: Collection[Hashable] | None
) -> tuple[int, int, Indices]:
    """Numbers of answers and of variables in which they differ, and the variables that count."""
    wanted, apart = as_count("solutions", solutions, 1), as_count("distance", distance, 1)
    if wanted is None or apart is None:
        raise ParameterError("solutions and distance are whole numbers of at least 1")
    counted = np.arange(problem.auxiliaries.num_visible)
    if among is not None:
        counted = np.unique([problem.names.variable_index(one) for one in among])
    if len(counted) < apart and wanted > 1:
        raise ParameterError(f"answers cannot differ in {apart} variables: {len(counted)} count")
    return wanted, apart, counted


def _of(problem: Problem, result: Result, note: str) -> Result:
    """The result of a restricted problem as a result of `problem`; `note` says why there is a time limit."""
    notes = (*result.notes, f"{note}, for all answers together") if note and result.limit == TIME else result.notes
    if result.assignment is None:
        return dataclasses.replace(result, notes=notes, problem=problem)
    assignment = result.assignment[: problem.num_variables]
    cost = float(problem.cost(assignment))
    bound = cost if result.status is Status.OPTIMAL else result.bound
    return dataclasses.replace(result, assignment=assignment, cost=cost, bound=bound, notes=notes, problem=problem)

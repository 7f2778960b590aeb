"""Several answers to one problem: the best, the best that differs from it, and so on."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np

from dabp.driver.arguments import as_count, checked_problem
from dabp.driver.result import Result
from dabp.driver.solve import solve
from dabp.driver.stopping import DEFAULT_SECONDS
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.problem.columns import Indices
from dabp.problem.differences import differing
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

    Each answer is the best one that differs from all before it; status OPTIMAL proves that. Where no further answer
    exists, the last result says INFEASIBLE and has no assignment; where the time ends, the list is shorter.

    Parameters
    ----------
    problem
        What is solved.
    solutions
        How many answers are wanted.
    distance
        In how many variables every two answers differ at least. Auxiliary variables of a model do not count.
    among
        Names of the variables that count; by default all.
    solver, options
        As for `dabp.solve`; checkpoints and `relax` excepted.
    time_limit
        Seconds for all answers together; time that an answer does not need is left to the next ones.

    Examples
    --------
    >>> model = Model()
    >>> names = model.add_variables(["x", "y"], 3)
    >>> model.add_cost(["x", "y"], [[0, 4, 2], [7, 1, 5], [3, 6, 8]])
    >>> [(result.cost, result.values) for result in solve_several(model, 3)]
    [(0.0, {'x': 0, 'y': 0}), (1.0, {'x': 1, 'y': 1}), (2.0, {'x': 0, 'y': 2})]
    """
    started = time.perf_counter()
    problem = checked_problem(problem)
    wanted, apart = as_count("solutions", solutions, 1), as_count("distance", distance, 1)
    if wanted is None or apart is None:
        raise ParameterError("solutions and distance are whole numbers of at least 1")
    counted = _counted(problem, among, apart if wanted > 1 else 0, options)
    seconds = DEFAULT_SECONDS if time_limit is None else time_limit
    found: list[Result] = []
    restricted = problem
    while len(found) < wanted:
        left = max(seconds - (time.perf_counter() - started), 0.0)
        if found and left == 0.0:
            break
        result = solve(restricted, solver, time_limit=left / (wanted - len(found)), **options)
        assignment = None if result.assignment is None else result.assignment[: problem.num_variables]
        cost = result.cost if assignment is None else float(problem.cost(assignment))
        bound = cost if result.status is Status.OPTIMAL else result.bound
        found.append(dataclasses.replace(result, assignment=assignment, cost=cost, bound=bound, problem=problem))
        if assignment is None or not result.feasible or result.status is Status.INTERRUPTED:
            break
        if len(found) < wanted:
            answers = [each.assignment for each in found if each.assignment is not None]
            restricted = differing(problem, answers, apart, counted)
    return found


def _counted(
    problem: Problem, among: Collection[Hashable] | None, distance: int, options: Mapping[str, Any]
) -> Indices:
    """The variables in which answers are to differ; refuses what cannot be."""
    for name in ("checkpoint", "resume", "relax"):
        if options.get(name):
            raise ParameterError(f"solve_several takes no {name}; dabp.solve does, for one answer")
    visible = problem.num_variables - problem.auxiliaries.count
    counted = np.arange(visible) if among is None else np.array([problem.names.variable_index(one) for one in among])
    if len(counted) < distance:
        raise ParameterError(f"answers cannot differ in {distance} variables: {len(counted)} count")
    return counted

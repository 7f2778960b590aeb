"""Checks of a search's claims: costs are recomputed, and bounds and statuses must agree with them."""

from __future__ import annotations

import math

import numpy as np

from dabp.driver.preparation import Preparation
from dabp.driver.running import RunningSolve
from dabp.driver.stopping import Ended
from dabp.errors import SolverError
from dabp.problem import Assignment
from dabp.solvers.base import Step
from dabp.solvers.status import OWN_LIMIT, Status


def take(step: Step, run: RunningSolve, prepared: Preparation) -> Ended | None:
    """Record a block, keep its best assignment, tighten the bound; returns why the search has ended, if it has."""
    step = prepared.in_costs(step)
    run.record(step)
    if step.best is not None:
        keep(step.best, run, prepared, claimed=step.best_cost)
    if step.bound is not None:
        run.tighten(step.bound)
    status = ending(step.finished, run)
    return None if status is None else Ended(status, (step.limit or OWN_LIMIT) if status is Status.LIMIT else None)


def keep(assignment: Assignment, run: RunningSolve, prepared: Preparation, *, claimed: float | None = None) -> None:
    """Offer the search's assignment to the run at its cost in the user's problem, computed here and nowhere else."""
    lifted = prepared.lift(assignment)
    cost = float(run.problem.cost(lifted))
    if claimed is not None:
        _check(claimed, run.sign * cost, run, exact=prepared.exact)
    run.offer(lifted, cost)
    if run.problem.auxiliaries.count:  # searches that move one variable at a time rarely get these right
        completed = run.problem.auxiliaries.completed(lifted)
        if not np.array_equal(completed, lifted):
            run.offer(completed, float(run.problem.cost(completed)), guessed=True)


def _check(claimed: float, actual: float, run: RunningSolve, *, exact: bool) -> None:
    """Refuse a wrong claim; an assignment that was lifted from a reduced problem may cost less than claimed."""
    off = 0.0 if actual == claimed else abs(actual - claimed) if exact else actual - claimed
    slack = 1e-6 * max(1.0, abs(claimed)) + 1e3 * run.problem.facts.rounding(claimed) if math.isfinite(claimed) else 0.0
    if not off <= slack:
        raise SolverError(
            f"solver {run.solver!r} reported cost {run.sign * claimed}, its assignment costs {run.sign * actual}"
        )


def ending(finished: Status | None, run: RunningSolve) -> Status | None:
    """The status if the search has ended: its own, or the one that cost, bound and limit prove together."""
    cost, bound = run.progress.cost, run.progress.bound
    if finished is Status.OPTIMAL:
        return _optimal(run)
    if finished is Status.INFEASIBLE and cost is not None:
        raise SolverError(f"solver {run.solver!r} reported infeasible, but there is an assignment of cost {cost}")
    if bound is not None:
        if run.problem.facts.excludes(bound):
            return Status.INFEASIBLE
        if cost == bound:
            return Status.OPTIMAL
    return finished


def _optimal(run: RunningSolve) -> Status:
    """The status of a search that calls its best assignment optimal, checked against what is known."""
    cost, own, bound = run.progress.cost, run.search_cost, run.progress.bound
    if cost is None and run.problem.limit is not None:  # the optimum of all assignments is not better than it
        return Status.INFEASIBLE if bound is not None and run.problem.facts.excludes(bound) else Status.CONVERGED
    if cost is None or own is None:
        raise SolverError(f"solver {run.solver!r} reported optimal without an assignment")
    if run.sign * (own - cost) > run.problem.facts.rounding(cost):
        raise SolverError(f"solver {run.solver!r} reported {own} optimal, but {cost} is known")
    run.tighten(run.sign * cost)
    return Status.OPTIMAL

"""An answer before anyone has worked: it costs a look at the unary factors, and needs no compiled code."""

from __future__ import annotations

from collections.abc import Mapping

from dabp.problem import Assignment, Problem
from dabp.problem.columns import first_least, unary_costs


def first_guess(problem: Problem, fixed: Mapping[int, int] | None = None) -> Assignment:
    """Each variable's best value by its own costs, the first among equals; `fixed` ones (by index) at theirs."""
    costs, starts = unary_costs(problem)
    if problem.maximize:
        costs = -costs
    guess = first_least(costs, starts)
    for variable, value in (fixed or {}).items():
        guess[variable] = value
    return guess

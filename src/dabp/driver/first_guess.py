"""An answer before anyone has worked: it costs a look at the unary factors, and needs no compiled code."""

from __future__ import annotations

from collections.abc import Mapping

from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values, first_least, own_costs


def first_guess(problem: Problem, fixed: Mapping[int, int] | None = None) -> Assignment:
    """Each variable's best value by its own costs, the first among equals; `fixed` ones (by index) at theirs."""
    if problem.maximize:
        costs, starts = own_costs(problem)
        guess = first_least(-costs, starts)
    else:
        guess = cheapest_values(problem)
    for variable, value in (fixed or {}).items():
        guess[variable] = value
    return guess

"""An answer before anyone has worked: it costs a look at the unary factors, and needs no compiled code."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.problem.columns import unary_costs


def first_guess(problem: Problem, fixed: Mapping[int, int] | None = None) -> Assignment:
    """Each variable's best value by its own costs, the first among equals; `fixed` ones (by index) at theirs."""
    costs, starts = unary_costs(problem)
    if problem.maximize:
        costs = -costs
    if not len(costs):
        return np.zeros(problem.num_variables, dtype=np.int64)
    owners = np.repeat(np.arange(problem.num_variables), problem.domain_sizes)
    cheapest = np.flatnonzero(costs == np.minimum.reduceat(costs, starts[:-1])[owners])
    _, firsts = np.unique(owners[cheapest], return_index=True)
    guess: Assignment = cheapest[firsts] - starts[:-1]
    for variable, value in (fixed or {}).items():
        guess[variable] = value
    return guess

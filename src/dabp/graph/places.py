"""The binary factors of a problem by *places*: one for each (factor, variable), those of a variable side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of


class Places(NamedTuple):
    """Of each variable, the places whose other variable has a smaller number come first."""

    factors: Indices
    """The problem's factors of arity 2, [F]."""
    scopes: Indices
    """Their variables, [F, 2]."""
    place: Indices
    """The two places of each factor, [F, 2]."""
    start: Indices
    """The first place of each variable, [N + 1]."""
    middle: Indices
    """The first of its places whose other variable has a larger number, [N]."""
    variable: Indices
    """The variable of each place, [2F]."""
    other: Indices
    """The factor's other variable, [2F]."""
    partner: Indices
    """The factor's other place, [2F]."""

    @classmethod
    def of(cls, problem: Problem) -> Places:
        """The places of a problem's binary factors."""
        factors = np.flatnonzero(problem.arities == 2)
        scopes = problem.scope_variables[problem.scope_offsets[factors][:, None] + np.arange(2)]
        variable, other = scopes.ravel(), scopes[:, ::-1].ravel()
        order = np.argsort(2 * variable + (other > variable), kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        start = offsets_of(np.bincount(variable, minlength=problem.num_variables))
        smaller = np.bincount(variable[other < variable], minlength=problem.num_variables)
        return cls(
            factors=factors,
            scopes=scopes,
            place=place.reshape(-1, 2),
            start=start,
            middle=start[:-1] + smaller,
            variable=variable[order],
            other=other[order],
            partner=place.reshape(-1, 2)[:, ::-1].ravel()[order],
        )

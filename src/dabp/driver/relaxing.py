"""Solving what may be infeasible: the relaxed problem is solved, and the answer told in the user's terms."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dabp.driver.result import Result
from dabp.driver.wording import number
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.problem.facts import within_limit
from dabp.problem.relaxation import Relaxation
from dabp.solvers.status import Status

SHOWN = 8
"""Names of violated constraints in a note; the result has all of them."""


class Relaxing:
    """The problem that is solved in place of the user's, and what its result means to them.

    Parameters
    ----------
    problem
        The user's.
    relax
        False to leave it as it is; True to violate as few hard constraints as possible; prices by name for the
        cheapest violations.
    """

    def __init__(self, problem: Problem, relax: bool | Mapping[str, float]):
        if not isinstance(relax, bool | Mapping):
            raise ParameterError(f"relax is true, or prices of violation by constraint's name, not {relax!r}")
        self._prices = relax if isinstance(relax, Mapping) else {}
        wanted = relax is True or isinstance(relax, Mapping)
        self._relaxation = Relaxation(problem, self._prices) if wanted else None
        self.problem = problem if self._relaxation is None else self._relaxation.problem

    def translated(self, result: Result) -> Result:
        """The result of the relaxed problem as one of the user's, with what it violates."""
        relaxation = self._relaxation
        if relaxation is None or result.assignment is None:
            return result
        broken = relaxation.violated(result.assignment)
        cost = relaxation.cost(result.assignment)
        proved = result.status is Status.OPTIMAL
        bound = result.bound if not broken and relaxation.weighed else cost if proved and relaxation.weighed else None
        notes = [*result.notes, self._told(relaxation, [one.name for one in broken], relaxation.price(broken), proved)]
        if broken and not relaxation.weighed:
            notes.append("costs are too large beside the violations: they were not minimised")
        limit = relaxation.original.limit
        if limit is not None and not within_limit(relaxation.original, cost, result.assignment if not broken else None):
            notes.append(f"the total is not better than the limit of {number(limit)}, which was relaxed, too")
        names = tuple(one.name for one in broken)
        given = relaxation.original
        return dataclasses.replace(result, cost=cost, bound=bound, notes=tuple(notes), violated=names, problem=given)

    def _told(self, relaxation: Relaxation, names: list[str], price: float, proved: bool) -> str:
        """What is violated, for people."""
        count = len(relaxation.constraints)
        if not names:
            return f"none of the {count:,} hard constraints is violated"
        listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")
        verb = "is" if len(names) == 1 else "are"
        if self._prices:
            how = f" at a price of {number(price)}" + (", the least there can be" if proved else "; less may do")
        else:
            how = ", the fewest there can be" if proved else "; fewer may do"
        return f"{len(names):,} of {count:,} hard constraints {verb} violated{how}: {listed}"

"""Solving a problem that may be infeasible: a relaxed problem is solved, and its answer translated back."""

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


class Relaxing:
    """The problem that is solved in place of the user's: relaxed if `relax` is true or has prices by name."""

    def __init__(self, problem: Problem, relax: bool | Mapping[str, float]):
        if not isinstance(relax, bool | Mapping):
            raise ParameterError(f"relax is true, or prices of violation by constraint's name, not {relax!r}")
        self._prices = relax if isinstance(relax, Mapping) else {}
        wanted = relax is True or isinstance(relax, Mapping)
        self._relaxation = Relaxation(problem, self._prices) if wanted else None
        self.problem = problem if self._relaxation is None else self._relaxation.problem

    def translated(self, result: Result) -> Result:
        """The result of the relaxed problem as one of the user's problem, with the violated constraints."""
        relaxation = self._relaxation
        if relaxation is None or result.assignment is None:
            return result
        broken = relaxation.violated(result.assignment)
        cost = relaxation.cost(result.assignment)
        proved = result.status is Status.OPTIMAL
        bound = result.bound if not broken and relaxation.weighed else cost if proved and relaxation.weighed else None
        notes = [*result.notes, self._note(relaxation, [one.name for one in broken], relaxation.price(broken), proved)]
        if broken and not relaxation.weighed:
            notes.append("costs are too large beside the violations and were not minimised")
        limit = relaxation.original.limit
        if limit is not None and not within_limit(relaxation.original, cost, result.assignment if not broken else None):
            notes.append(f"the total is not better than the limit of {number(limit)}, which was relaxed, too")
        names = tuple(one.name for one in broken)
        given = relaxation.original
        return dataclasses.replace(result, cost=cost, bound=bound, notes=tuple(notes), violated=names, problem=given)

    def _note(self, relaxation: Relaxation, names: list[str], price: float, proved: bool) -> str:
        count = len(relaxation.constraints)
        if not names:
            return f"none of the {count:,} hard constraints is violated"
        listed = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
        verb = "is" if len(names) == 1 else "are"
        if self._prices:
            how = f" at a price of {number(price)}" + (", the least there can be" if proved else "; less may do")
        else:
            how = ", the fewest there can be" if proved else "; fewer may do"
        return f"{len(names):,} of {count:,} hard constraints {verb} violated{how}: {listed}"

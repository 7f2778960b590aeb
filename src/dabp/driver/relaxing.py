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

COUNT = "count"
"""Each violated constraint counts once."""

WAYS = ("amount", COUNT)
"""How violations are priced; the first is the default."""


class Relaxing:
    """The problem that is solved in place of the user's: relaxed by amount, by count, or with prices by name."""

    def __init__(self, problem: Problem, relax: bool | str | Mapping[str, float]):
        if not isinstance(relax, bool | Mapping) and relax not in WAYS:
            raise ParameterError(
                f"relax is true, 'amount', 'count', or prices of violation by constraint's name, not {relax!r}"
            )
        self._prices = relax if isinstance(relax, Mapping) else {}
        wanted = relax is not False
        self._relaxation = Relaxation(problem, self._prices, amounts=relax != COUNT) if wanted else None
        self.problem = problem if self._relaxation is None else self._relaxation.problem

    def translated(self, result: Result) -> Result:
        """The result of the relaxed problem as one of the user's problem, with the violated constraints."""
        relaxation = self._relaxation
        if relaxation is None or result.assignment is None:
            return result
        broken = relaxation.amounts(result.assignment)
        cost = relaxation.cost(result.assignment)
        proved = result.status is Status.OPTIMAL
        bound = result.bound if not broken and relaxation.weighed else cost if proved and relaxation.weighed else None
        price = relaxation.price(result.assignment)
        least = price if proved else 0.0 if result.bound is None else relaxation.least_price(result.bound)
        notes = [*result.notes, self._note(relaxation, broken, price, least)]
        if broken and relaxation.too_large:
            notes.append("tables of amounts would be too large: each violated constraint counts once")
        if broken and not relaxation.weighed:
            notes.append("costs are too large beside the violations and were not minimised")
        limit = relaxation.original.limit
        if limit is not None and not within_limit(relaxation.original, cost, result.assignment if not broken else None):
            notes.append(f"the total is not better than the limit of {number(limit)}, which was relaxed, too")
        names = tuple(broken)
        given = relaxation.original
        return dataclasses.replace(result, cost=cost, bound=bound, notes=tuple(notes), violated=names, problem=given)

    def _note(self, relaxation: Relaxation, broken: dict[str, float], price: float, least: float) -> str:
        count, measured = len(relaxation.constraints), relaxation.measured
        if not broken:
            return f"none of the {count:,} hard constraints is violated"
        shown = [f"{name} ({number(amount)})" if name in measured else name for name, amount in broken.items()]
        listed = ", ".join(shown[:8]) + (f" and {len(shown) - 8:,} more" if len(shown) > 8 else "")
        verb = "is" if len(broken) == 1 else "are"
        proof = f"; at least {number(least)} is proved" if 0 < least < price else "; less may do"
        if self._prices:
            how = f" at a price of {number(price)}" + (", the least there can be" if price <= least else proof)
        elif measured:
            how = f", by {number(price)} in all" + (", the least there can be" if price <= least else proof)
        else:
            how = ", the fewest there can be" if price <= least else proof.replace("less", "fewer")
        return f"{len(broken):,} of {count:,} hard constraints {verb} violated{how}: {listed}"

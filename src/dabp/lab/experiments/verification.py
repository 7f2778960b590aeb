"""Whether recorded results hold: each instance is made again, and the cost of each assignment computed from it.

Reading results back checks their form (`schema`), not their costs, which would take the making of every instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dabp.errors import DabpError
from dabp.lab.experiments.execution import instance_of
from dabp.lab.experiments.plan import Plan, Run
from dabp.lab.experiments.store import Results
from dabp.problem import Problem


class Verdict(NamedTuple):
    """What came of one result."""

    run: Run
    wrong: str | None
    """What does not hold, in words; None if all does."""


def verify(results: Results, plan: Plan) -> Iterator[Verdict]:
    """Look at every finished run of a plan, those on one instance after each other."""
    outcomes = [each for each in results.outcomes(plan) if each.summary["state"] == "done"]
    outcomes.sort(key=lambda each: each.run.instance_key)
    key, problem = None, None
    for outcome in outcomes:
        if outcome.run.instance_key != key:
            key = outcome.run.instance_key
            try:
                problem = instance_of(outcome.run)
            except DabpError as error:
                problem, reason = None, f"its instance cannot be made again: {error}"
        wrong = reason if problem is None else difference(problem, outcome.summary)
        yield Verdict(outcome.run, wrong)


def difference(problem: Problem, summary: Mapping[str, Any]) -> str | None:
    """What a result says that its problem does not, in words; None if nothing."""
    if (summary["variables"], summary["maximize"]) != (problem.num_variables, problem.maximize):
        return f"its instance has {problem.num_variables} variables, the result says {summary['variables']}"
    if summary["assignment"] is None:
        return None
    values = np.array(summary["assignment"], dtype=np.int64)
    if (values >= problem.domain_sizes).any():
        return "its assignment has values that the instance has not"
    cost, said = float(problem.cost(values)), float(summary["cost"])
    if not abs(cost - said) <= problem.rounding(cost):
        return f"its assignment costs {cost:.15g}, the result says {said:.15g}"
    bound = summary["bound"]
    sign = -1.0 if problem.maximize else 1.0
    if bound is not None and sign * (bound - cost) > problem.rounding(cost):
        return f"its bound {bound:.15g} is beyond its cost {cost:.15g}"
    return None

"""Whether recorded results hold: one run is repeated, or the costs of all assignments are computed again.

Reading results back checks their form (`result_schema`), not their costs, for which every instance has to be made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dabp.errors import DabpError, ParameterError
from dabp.lab.experiments.checking import check
from dabp.lab.experiments.execution import instance_of
from dabp.lab.experiments.experiment_plan import Plan, Run
from dabp.lab.experiments.run_workers import Worker, preparation_for
from dabp.lab.experiments.store import Results
from dabp.problem import Problem


def run_of(plan: Plan, key: str) -> Run:
    """The run of a plan whose key begins with `key`."""
    found = {run.key: run for run in plan.runs if run.key.startswith(key)}
    if len(found) != 1:
        raise ParameterError(f"{len(found)} runs have a key that begins with {key!r}; it has to be one")
    return found.popitem()[1]


def repeat(plan: Plan, run: Run, trust: Sequence[str] = ()) -> dict[str, Any]:
    """The summary of a run that is executed again, with its seed and its limits; nothing is stored.

    Solvers of the user's own are looked for in the working folder, too.
    """
    path = [*plan.path, str(Path.cwd()), *filter(None, sys.path)]
    check(replace(plan, runs=(run,), figures=(), path=tuple(path)), trust)
    worker = Worker(preparation_for([run], trust, path))
    try:
        return worker.run(run)[0][0]
    finally:
        worker.close()


class Verdict(NamedTuple):
    """Whether one result holds."""

    run: Run
    wrong: str | None
    """What does not hold, as a sentence; None if all does."""


def verify(results: Results, plan: Plan) -> Iterator[Verdict]:
    """Check every finished run of a plan, ordered by instance."""
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
    """In what a result contradicts its problem, as a sentence; None if in nothing."""
    if (summary["variables"], summary["maximize"]) != (problem.num_variables, problem.maximize):
        return f"its instance has {problem.num_variables} variables, the result says {summary['variables']}"
    if summary["assignment"] is None:
        return None
    values = np.array(summary["assignment"], dtype=np.int64)
    if (values >= problem.domain_sizes).any():
        return "its assignment has values that are not in the domains"
    cost, said = float(problem.cost(values)), float(summary["cost"])
    if not abs(cost - said) <= problem.facts.rounding(cost):
        return f"its assignment costs {cost:.15g}, the result says {said:.15g}"
    bound = summary["bound"]
    sign = -1.0 if problem.maximize else 1.0
    if bound is not None and sign * (bound - cost) > problem.facts.rounding(cost):
        return f"its bound {bound:.15g} is beyond its cost {cost:.15g}"
    return None

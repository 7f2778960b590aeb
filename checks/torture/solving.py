"""Every solver on a case, with and without presolve; those that are dear see a share of the cases.

Solves run with the check of numbers on (`dabp.solvers.finite_numbers`), and a warning is a failure.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import dabp
from checks.torture.kinds import KINDS, Case
from checks.torture.variants import VARIANTS
from checks.torture.verdict import wrong
from dabp.driver.result import Result
from dabp.solvers import SOLVERS, parameters
from dabp.solvers.finite_numbers import SWITCH
from dabp.solvers.status import Status

NAMES = (*SOLVERS, *VARIANTS)
"""Whoever solves."""

SHARE = {
    "toulbar2": 2,
    "toulbar2-vns": 7,
    "toulbar2-incop": 7,
    "toulbar2-pils": 7,
    "dabp": 7,
    "dabp-heter": 11,
    "dabp-homo": 11,
    "dabp-static": 11,
    "gat-pcm-lns": 5,
}
"""Solvers that see every so-manieth case of each kind."""
QUICK = {"steps": 300, "restarts": 2}
"""Parameters, where a solver has them, that keep its own schedule short."""
ITERATIONS = 30
SECONDS = 3.0
"""For solvers whose iterations do not end them."""


class Failure(NamedTuple):
    """A promise broken; enough to repeat it."""

    seed: int
    kind: str
    solver: str
    presolve: bool
    what: str

    def __str__(self) -> str:
        words = "with" if self.presolve else "without"
        return f"seed {self.seed} ({self.kind}), {self.solver} {words} presolve: {self.what}"


class Count(NamedTuple):
    """What a solve came to: a proof, an answer without one, nothing, or a crash."""

    solver: str
    outcome: str


def attempts(case: Case, solvers: list[str] | None = None) -> Iterator[tuple[str, bool]]:
    """The solvers that see a case, with and without presolve."""
    turn, kind = divmod(case.seed, len(KINDS))
    for place, name in enumerate(NAMES):
        share = SHARE.get(name, 1) if name in SOLVERS else VARIANTS[name][1]
        if solvers is not None:
            if name in solvers:
                yield from ((name, False), (name, True))
        elif (turn + kind + place) % share == 0:
            both = share == 1
            first = bool((turn // share) % 2)
            yield name, first
            if both:
                yield name, not first


def attempt(case: Case, name: str, presolve: bool) -> tuple[Count, list[Failure]]:
    """One solve, judged."""
    options: dict[str, Any] = {
        "max_iterations": ITERATIONS,
        "time_limit": SECONDS,
        "fix": case.fix or None,
        "initial": case.initial,
        "presolve": presolve,
        "seed": case.seed,
    }
    if (name == "auto" and case.seed % 4 < 2) or (name in SOLVERS and name.startswith("toulbar2")):
        del options["max_iterations"]
    try:
        with warnings.catch_warnings(), mock.patch.dict(os.environ, {SWITCH: "1"}):
            warnings.simplefilter("error")
            result = _solved(case, name, options)
    except Exception as error:  # a problem that was accepted has an answer: whatever else comes is looked for
        what = f"{type(error).__name__}: {error}"
        return Count(name, "crashed"), [Failure(case.seed, case.kind, name, presolve, what)]
    proved = result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    outcome = "proved" if proved else "answered" if result.assignment is not None else "nothing"
    return Count(name, outcome), [Failure(case.seed, case.kind, name, presolve, each) for each in wrong(case, result)]


def _solved(case: Case, name: str, options: dict[str, Any]) -> Result:
    if name in VARIANTS:
        return VARIANTS[name][0](case, options)
    known = parameters(name)
    return dabp.solve(case.problem, name, params={key: QUICK[key] for key in QUICK if key in known}, **options)


def judge(
    case: Case, solvers: list[str] | None = None, told: Callable[[str, bool], None] = lambda *_: None
) -> tuple[list[Count], list[Failure]]:
    """All solves of a case; `told` hears of each before it begins."""
    counts, failures = [], []
    for name, presolve in attempts(case, solvers):
        told(name, presolve)
        count, found = attempt(case, name, presolve)
        counts.append(count)
        failures += found
    return counts, failures

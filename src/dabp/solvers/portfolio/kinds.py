"""The members by kind, and how each chooses its runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.portfolio.member import Kind, Run, Situation

LARGE = 600
"""Variables from which message passing comes first and local search second."""

GENEROUS = 60.0
"""Seconds from which DABP takes part: it needs torch, whose import alone takes seconds, and some windows to learn."""

FASTEST, SLOWEST = 1e-3, 1e-5
"""Rates of reinforcement: an answer at once, and the best one."""

SECOND_RUN, LONG_RUN = 0.15, 0.75
"""Parts of the time left that runs of reinforced BP are planned to take."""


MEMBERS = frozenset(("bp-reinforced", "bp-reinforced 2", "tabu", "annealing", "bp-split", "forest-lns", "dual", "dabp"))
"""All there are; not every problem has each."""


def kinds_for(problem: Problem, horizon: float, *, names: frozenset[str] | None = None) -> list[Kind]:
    """The members that suit a problem and the time there is; `names` leaves only these."""
    large = problem.num_variables >= LARGE
    if large:
        kinds = [
            Kind("bp-reinforced", _Unhurried((0.2, 0.4), horizon), prior=5.0, turn=200, patient=True),
            Kind("bp-reinforced 2", _Unhurried((0.0, 0.3)), prior=3.0, turn=200, patient=True),
        ]
    else:
        kinds = [Kind("bp-reinforced", _reinforced, prior=1.0, turn=200)]
    kinds += [
        Kind("tabu", _restarted("tabu"), prior=0.3 if large else 2.0, turn=100),
        Kind("annealing", _restarted("annealing"), prior=0.6 if large else 1.5, turn=200),
        Kind("bp-split", _split, prior=0.3, turn=200),
        Kind("forest-lns", _polish, prior=0.4, turn=40),
        Kind("dual", _dual, prior=0.35, turn=100, once=True, patient=True, bounding=True),
    ]
    if (horizon >= GENEROUS and not large) or (names is not None and "dabp" in names):
        kinds.append(Kind("dabp", _deep, prior=0.3, turn=40, delay=0.25))
    return [kind for kind in kinds if names is None or kind.name in names]


def _reinforced(situation: Situation) -> Run:
    """Reinforced BP with everything drawn at random: on small problems runs are short and the best draw differs."""
    if situation.round == 0:
        return Run(make_solver("bp-reinforced", {"damping": 0.2, "reinforcement": FASTEST, "restarts": 1}))
    rng = situation.rng
    params = {
        "damping": rng.uniform(0.0, 0.8),
        "reinforcement": float(np.exp(rng.uniform(np.log(3e-5), np.log(3e-3)))),
        "perturbation": float(rng.uniform(0.0, 0.05)),
        "restarts": 1,
    }
    return Run(make_solver("bp-reinforced", params))


class _Unhurried:
    """Reinforced BP on large problems: as slow as the time left allows, since slower is better.

    A run takes about 1 / rate iterations. The first is fast, and tells how long an iteration takes here; the second
    is planned for a small part of the time, if that allows a slower one, the next for most of what is left.

    Parameters
    ----------
    dampings
        The damping factor of the first three runs, and the largest that later runs draw.
    horizon
        If given, the second run is the one that the solver itself would plan for so many seconds.
    """

    def __init__(self, dampings: tuple[float, float], horizon: float | None = None):
        self._dampings, self._horizon = dampings, horizon
        self._rate = FASTEST
        self._work = 0.0
        """Seconds of a run times its rate."""

    def __call__(self, situation: Situation) -> Run:
        """Learn from the run before, choose a rate."""
        rng, own = situation.rng, self._horizon is not None
        if situation.round and not (own and situation.round == 2):
            self._work = situation.last_seconds * self._rate
        if own and situation.round == 1:
            return Run(make_solver("bp-reinforced", {"restarts": 1}), budget=Budget(time_limit=self._horizon))
        params: dict[str, float] = {"damping": self._dampings[0], "restarts": 1}
        if situation.round:
            planned = SECOND_RUN * situation.time_left
            if situation.round > 1 or planned < 2 * situation.last_seconds:
                planned = LONG_RUN * situation.time_left
            self._rate = float(np.clip(self._work / max(planned, 1e-6), SLOWEST, FASTEST))
        if situation.round >= 3:
            params["damping"] = float(rng.uniform(0.0, self._dampings[1]))
            params["perturbation"] = float(rng.uniform(0.0, 0.02))
        return Run(make_solver("bp-reinforced", {**params, "reinforcement": self._rate}))


def _restarted(name: str) -> Callable[[Situation], Run]:
    """A local search that restarts by itself: the first run from scratch, later ones from the incumbent."""

    def plan(situation: Situation) -> Run:
        return Run(make_solver(name), _incumbent(situation) if situation.round else None)

    return plan


def _split(situation: Situation) -> Run:
    """BP on the split graph with a damping factor per edge, drawn anew each restart."""
    damping = 0.5 if situation.round == 0 else float(situation.rng.uniform(0.3, 0.9))
    return Run(make_solver("dbp-scfg", {"damping": damping, "jitter": 0.4, "restarts": 20}))


def _polish(situation: Situation) -> Run:
    """Forests around the incumbent."""
    return Run(make_solver("forest-lns"), _incumbent(situation))


def _dual(situation: Situation) -> Run:
    """One run to convergence gives the bound that there is to have."""
    return Run(make_solver("dual"))


def _deep(situation: Situation) -> Run:
    """DABP with its own restarts."""
    return Run(make_solver("dabp"))


def _incumbent(situation: Situation) -> Assignment | None:
    return situation.incumbent.best()[0]

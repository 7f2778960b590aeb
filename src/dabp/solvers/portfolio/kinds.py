"""The members by kind, and how each chooses its runs."""

from __future__ import annotations

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.solvers import make_solver
from dabp.solvers.portfolio.member import Kind, Run, Situation

LARGE = 600
"""Variables from which message passing comes first and local search second."""

GENEROUS = 60.0
"""Seconds from which DABP takes part: it needs torch, whose import alone takes seconds, and some windows to learn."""

RATES = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
"""Rates of reinforcement from an answer at once to the best one."""

SAFETY = 0.7
"""The part of the time left that a run of reinforced BP is planned to take."""


def kinds_for(problem: Problem, horizon: float, *, names: frozenset[str] | None = None) -> list[Kind]:
    """The members that suit a problem and the time there is; `names` leaves only these."""
    large = problem.num_variables >= LARGE
    if large:
        kinds = [
            Kind("bp-reinforced", _Unhurried((0.2, 0.4)), prior=4.0, turn=200),
            Kind("bp-reinforced 2", _Unhurried((0.0, 0.3)), prior=1.5, turn=200),
        ]
    else:
        kinds = [Kind("bp-reinforced", _reinforced, prior=1.0, turn=200)]
    kinds += [
        Kind("tabu", _restarted("tabu"), prior=0.7 if large else 2.0, turn=100),
        Kind("annealing", _restarted("annealing"), prior=1.0 if large else 1.5, turn=200),
        Kind("bp-split", _split, prior=0.3, turn=200),
        Kind("forest-lns", _polish, prior=0.4, turn=40),
        Kind("dual", _dual, prior=0.6, turn=100, once=True),
    ]
    if horizon >= GENEROUS and not large:
        kinds.append(Kind("dabp", _deep, prior=0.3, turn=40, delay=0.25))
    return [kind for kind in kinds if names is None or kind.name in names]


def _reinforced(situation: Situation) -> Run:
    """Reinforced BP with everything drawn at random: on small problems runs are short and the best draw differs."""
    if situation.round == 0:
        return Run(make_solver("bp-reinforced", {"damping": 0.2, "reinforcement": RATES[0], "restarts": 1}))
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

    The first runs are fast and tell how long a run takes at which rate; the next takes the slowest rate that is
    expected to end in time, seconds growing as a power of 1 / rate.
    """

    def __init__(self, dampings: tuple[float, float]):
        self._dampings = dampings
        self._seconds: dict[float, float] = {}
        self._rate = RATES[0]

    def __call__(self, situation: Situation) -> Run:
        """Learn from the run before, choose a rate."""
        rng = situation.rng
        params: dict[str, float] = {"damping": self._dampings[0], "restarts": 1}
        if situation.round:
            self._seconds[self._rate] = situation.last_seconds
            self._rate = self._choose(SAFETY * situation.time_left)
        if situation.round >= 3:
            params["damping"] = float(rng.uniform(*self._dampings))
            params["perturbation"] = float(rng.uniform(0.0, 0.02))
        return Run(make_solver("bp-reinforced", {**params, "reinforcement": self._rate}))

    def _choose(self, available: float) -> float:
        fast = min(self._seconds, key=lambda rate: -rate)
        slow = min(self._seconds)
        if slow == fast:
            return next(rate for rate in RATES if rate < fast)
        power = np.log(self._seconds[slow] / self._seconds[fast]) / np.log(fast / slow)
        power = float(np.clip(power, 0.3, 1.0))
        expected = {rate: self._seconds.get(rate, self._seconds[slow] * (slow / rate) ** power) for rate in RATES}
        return min((rate for rate in RATES if expected[rate] <= available), default=fast)


def _restarted(name: str):  # type: ignore[no-untyped-def]
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

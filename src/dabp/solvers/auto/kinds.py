"""The members by kind, and how each chooses its runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dabp.problem import Assignment
from dabp.solvers import make_solver
from dabp.solvers.auto.exact_parts import EliminationBeside
from dabp.solvers.auto.features import Features
from dabp.solvers.auto.member import Kind, Run, Situation
from dabp.solvers.auto.plan import (
    ALONE_PART,
    BESIDE_ORDER,
    BESIDE_PART,
    COOLED_PART,
    COOLED_RATE,
    COOLING_HEAT,
    COOLING_PARTS,
    COOLINGS,
    FIRST_DAMPING,
    FIRST_RATE,
    FOLLOWING,
    GENEROUS,
    LARGE,
    LONG_RUN,
    MOSTLY,
    OPENING_PART,
    SHARES,
    SHORTEST_COOLING,
    WINDOW_PART,
    WORK_PER_SECOND,
    character,
    expansion_delay,
    few_iterations,
    first_rate,
    proved_by_search,
    slow_and_sparse,
    window_seconds,
    worth_opening,
)
from dabp.solvers.auto.selection import affordable, has_valleys, looks_first, priors
from dabp.solvers.auto.windows import Windows
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.reinforcement import PERTURBATION, SLOWEST, damping_and_rate
from dabp.solvers.dual.branching import BranchingDual
from dabp.solvers.elimination.mini_bucket import MiniBucketSearch
from dabp.solvers.graph_cut.expansion import Expansion
from dabp.solvers.local_search.annealing import Annealing
from dabp.solvers.local_search.following_annealing import FollowingAnnealing
from dabp.solvers.local_search.icm import Icm
from dabp.solvers.local_search.tempering import Tempering


class LineUp(NamedTuple):
    """Who takes part, and why."""

    kinds: list[Kind]
    notes: list[str]
    provable: bool = True
    """Whether the problem is of a kind that toulbar2 is tried on."""


def line_up(
    features: Features, horizon: float, *, names: frozenset[str] | None = None, threads: int | None = None
) -> LineUp:
    """The members that suit a problem and the time there is; `names` leaves only these, however long they take.

    `threads` are those that one member may have all of, None where a clock may not decide.
    """
    kind, reason = character(features)
    if kind in ("small", "medium") and slow_and_sparse(features, horizon):
        kind, reason = "large", f"{reason}; few iterations in that time: long runs of belief propagation come first"
    large = features.num_variables >= LARGE or kind == "large"
    alone = kind == "large" and few_iterations(features, horizon)
    first = first_rate(features, horizon)
    timed_image = kind == "image" and threads is not None
    ways = {
        "bp-reinforced": _Way(_Unhurried(first, horizon) if large else _reinforced, patient=kind == "large"),
        "descent": _Way(_descend, polishing=True),
        "opening": _Way(partial(_opening, horizon=horizon), once=True, patient=True),
        "bp-learned": _Way(_learned, patient=True),
        "bp-cooled": _Way(_CooledMessages(horizon), patient=True),
        "cooling": _Way(_CooledIncumbents(horizon), patient=True),
        "tabu": _Way(_restarted("tabu")),
        "tabu 2": _Way(_restarted("tabu")),
        "annealing": _Way(_restarted("annealing")),
        "annealing 2": _Way(_restarted("annealing")),
        "tempering": _Way(lambda situation: Run(Tempering(), ends=True), patient=True),
        "following": _Way(lambda situation: Run(FollowingAnnealing(), _incumbent(situation))),
        "bp-split": _Way(_split),
        "forest-lns": _Way(_polish),
        "expansion": _Way(_expand, polishing=True),
        "windows": _Way(_in_windows, polishing=True),
        "dual": _Way(_branching_dual if timed_image else _dual, once=True, patient=True, bounding=True),
        "dabp": _Way(_deep),
    }
    wanted = frozenset(ways) if names is None else names
    wanted -= _left_out(features, horizon, threads, large, asked=names is not None)
    chosen = [name for name, share in SHARES.items() if name in ways and name in wanted and share.weights[kind] > 0]
    line = LineUp([], [reason], proved_by_search(features))
    if names is None:
        chosen, notes = affordable(chosen, kind, features, horizon)
        line.notes.extend(notes)
    for name, prior in priors(chosen, kind, threads).items():
        share = SHARES[name]
        delay = max(share.delay, share.image_delay) if kind == "image" else share.delay
        eager = share.image_delay > 0 and kind == "image"
        way = ways[name]._asdict()
        opens = looks_first(name, kind, features, horizon)
        line.kinds.append(Kind(name, prior=prior, turn=share.turn, delay=delay, eager=eager, first=opens, **way))
    if threads is not None and alone and "bp-reinforced" in chosen:
        _leave_alone(line, threads, "bp-learned" if features.crisp > 0 and "bp-learned" in wanted else "bp-reinforced")
    late = expansion_delay(features, horizon)
    if threads is not None and kind == "image" and late and {"dual", "expansion"} <= set(chosen):
        _dual_before(line, threads, late)
    return line


def _left_out(features: Features, horizon: float, threads: int | None, large: bool, asked: bool) -> frozenset[str]:
    """Members that have nothing to do on such a problem, and those not worth their time unless they were asked for."""
    apart = {
        "tabu 2": features.hard < MOSTLY or threads == 1,
        "following": features.following < FOLLOWING,
        "opening": not worth_opening(features, horizon),
        "dabp": not asked and (horizon < GENEROUS or large),
        "tempering": not asked and not has_valleys(features),
        "windows": not asked and window_seconds(features) > WINDOW_PART * horizon,
    }
    return frozenset(name for name, left_out in apart.items() if left_out)


def _leave_alone(line: LineUp, threads: int, name: str) -> None:
    """Give all threads to one run of BP: two that share the memory's bandwidth would both be cut short.

    Where combinations are forbidden it is a learned one, if there can be any: a reinforced run says nothing that is
    allowed before it has frozen, and nothing at all if it is cut off.
    """
    line.kinds[:] = [kind for kind in line.kinds if kind.name != "bp-learned"]
    for index, kind in enumerate(line.kinds):
        if kind.name == "bp-reinforced":
            line.kinds[index] = replace(kind, name=name, plan=partial(_alone, name=name, threads=threads))
        else:
            line.kinds[index] = replace(kind, delay=max(kind.delay, ALONE_PART))
    line.notes.append(f"time for few iterations: one run of {name} has all threads")


def _dual_before(line: LineUp, threads: int, late: float) -> None:
    """Give all threads to the dual until expansion has something to begin from."""
    for index, kind in enumerate(line.kinds):
        if kind.name == "dual":
            line.kinds[index] = replace(kind, plan=partial(_branching_dual, threads=threads))
        else:
            line.kinds[index] = replace(kind, delay=max(kind.delay, late), eager=False)
    begins = "expansion begins late, from what the dual decodes" if late < 1.0 else "the dual has all the time"
    line.notes.append(f"many values: {begins}")


def _alone(situation: Situation, name: str, threads: int) -> Run:
    """One run for about the time that there is."""
    budget = Budget(time_limit=ALONE_PART * situation.time_left, threads=threads)
    return Run(make_solver(name, {"restarts": 1}), budget=budget, ends=name == "bp-learned")


def descent_ahead(initial: Assignment | None) -> Kind:
    """Descent as the first member of a problem so large that to prepare the others takes a while: it needs little.

    When they are set up it ends, unless it is one of them.
    """
    prior = max(SHARES["descent"].weights.values())
    plan = partial(_descend, initial=initial)
    return Kind("descent", plan, prior, delay=np.inf, polishing=True, ahead=True)


def elimination_kinds(features: Features, horizon: float, search: MiniBucketSearch | None) -> list[Kind]:
    """An elimination that takes too long to wait for, as a member that proves when it ends; none on images."""
    share = SHARES["elimination"]
    weight = share.weights[character(features)[0]] if search is None else max(share.weights.values())
    if weight == 0.0:
        return []
    work, seconds = WORK_PER_SECOND * BESIDE_PART * horizon, BESIDE_ORDER * horizon
    run = Run(EliminationBeside(work=work, seconds=seconds, search=search))
    delay = share.delay if search is None else 0.0
    return [Kind("elimination", lambda situation: run, weight, share.turn, once=True, patient=True, delay=delay)]


class _Way(NamedTuple):
    """How a member chooses its runs, and what they are like; see `Kind`."""

    plan: Callable[[Situation], Run]
    once: bool = False
    patient: bool = False
    bounding: bool = False
    polishing: bool = False


def _reinforced(situation: Situation) -> Run:
    """Reinforced BP with everything drawn at random: on small problems runs are short and the best draw differs."""
    if situation.round == 0:
        return Run(make_solver("bp-reinforced", {"damping": FIRST_DAMPING, "reinforcement": FIRST_RATE, "restarts": 1}))
    damping, rate = damping_and_rate(situation.rng)
    perturbation = float(situation.rng.uniform(0.0, PERTURBATION))
    params = {"damping": damping, "reinforcement": rate, "perturbation": perturbation, "restarts": 1}
    return Run(make_solver("bp-reinforced", params))


class _Unhurried:
    """Reinforced BP on large problems: as slow as the time left allows, since slower is better.

    A run takes about 1 / rate iterations. The first is fast, and tells how long an iteration takes here; the second
    is the one that the solver itself would plan, later ones are planned for most of what is left.

    Parameters
    ----------
    first
        The rate of the first run.
    horizon
        Seconds that the second run plans for.
    """

    def __init__(self, first: float, horizon: float):
        self._rate = self._fastest = first
        self._horizon = horizon
        self._work = 0.0
        """Seconds of a run times its rate."""

    def __call__(self, situation: Situation) -> Run:
        """Learn from the run before, choose a rate."""
        if situation.round == 1:
            self._work = situation.last_seconds * self._rate
            return Run(make_solver("bp-reinforced", {"restarts": 1}), budget=Budget(time_limit=self._horizon))
        params: dict[str, float] = {"damping": FIRST_DAMPING, "restarts": 1}
        if situation.round:
            if situation.round > 2:
                self._work = situation.last_seconds * self._rate
                params["damping"] = float(situation.rng.uniform(0.0, 2 * FIRST_DAMPING))
                params["perturbation"] = float(situation.rng.uniform(0.0, 0.02))
            planned = LONG_RUN * situation.time_left
            self._rate = float(np.clip(self._work / max(planned, 1e-6), SLOWEST, self._fastest))
        return Run(make_solver("bp-reinforced", {**params, "reinforcement": self._rate}))


class _Coolings(ABC):
    """Coolings that begin from the best so far of a start, until some have found no better; then another start.

    Parameters
    ----------
    horizon
        Seconds that the solve is planned for.
    """

    def __init__(self, horizon: float) -> None:
        self._horizon = horizon
        self._answer: Assignment | None = None
        """The best of this start."""
        self._cost, self._failed = np.inf, 0

    def __call__(self, situation: Situation) -> Run:
        """Cool once more, or start anew."""
        if situation.last_cost < self._cost:
            self._answer, self._cost, self._failed = situation.last_answer, situation.last_cost, 0
        else:
            self._failed += 1
        if self._answer is None or self._failed >= COOLINGS:
            self._answer, self._cost, self._failed = None, np.inf, 0
            return self.begin(situation)
        return self.cooling(situation, self._answer, float(situation.rng.choice(COOLING_PARTS)))

    @abstractmethod
    def begin(self, situation: Situation) -> Run:
        """Another start."""

    def cooling(self, situation: Situation, start: Assignment | None, part: float) -> Run:
        """For this part of the time that the solve has, from somewhere within a range of temperatures."""
        heat = float(situation.rng.uniform(*COOLING_HEAT)) if start is not None else 1.0
        seconds = min(part * self._horizon, situation.time_left / 2)
        budget = Budget(time_limit=max(seconds, SHORTEST_COOLING))
        return Run(Annealing(heat=heat), start, budget, ends=True)


class _CooledMessages(_Coolings):
    """Starts are runs of reinforced BP.

    Up to some hundred variables single runs differ by more than a slower one gains, and most of what they miss is
    mended by annealing that begins half as hot as it would from scratch.
    """

    def __init__(self, horizon: float) -> None:
        super().__init__(horizon)
        self._rate, self._work, self._started = FIRST_RATE, 0.0, False

    def __call__(self, situation: Situation) -> Run:
        """Learn how long a run of BP takes."""
        if self._started:
            self._work, self._started = situation.last_seconds * self._rate, False
        return super().__call__(situation)

    def begin(self, situation: Situation) -> Run:
        """As slow as a small part of the time allows, somewhere else each time."""
        params = {"damping": FIRST_DAMPING, "restarts": 1}
        if self._work:
            self._rate = float(np.clip(self._work / max(COOLED_PART * situation.time_left, 1e-6), *COOLED_RATE))
            params["damping"] = float(situation.rng.uniform(0.0, 0.5))
            params["perturbation"] = float(situation.rng.uniform(0.0, 0.02))
        self._started = True
        return Run(make_solver("bp-reinforced", {**params, "reinforcement": self._rate}))


class _CooledIncumbents(_Coolings):
    """Starts are incumbents, and where nobody has found a better one, annealing from scratch, longer each time."""

    def __init__(self, horizon: float) -> None:
        super().__init__(horizon)
        self._known, self._starts = np.inf, 0

    def begin(self, situation: Situation) -> Run:
        """A cooling of an incumbent that is new, or from scratch."""
        start, cost = situation.incumbent.best()
        if cost < self._known:
            self._known = cost
            return self.cooling(situation, start, float(situation.rng.choice(COOLING_PARTS)))
        self._starts += 1
        return self.cooling(situation, None, max(COOLING_PARTS) * self._starts)


def _opening(situation: Situation, horizon: float) -> Run:
    """One quick cooling from scratch."""
    return Run(Annealing(heat=1.0), budget=Budget(time_limit=OPENING_PART * horizon), ends=True)


def _descend(situation: Situation, initial: Assignment | None = None) -> Run:
    """The nearest local minimum of the incumbent, or of a given start where there is none yet."""
    found = _incumbent(situation)
    return Run(Icm(), initial if found is None else found)


def _restarted(name: str) -> Callable[[Situation], Run]:
    """A local search that restarts by itself: the first run from scratch, later ones from the incumbent."""

    def plan(situation: Situation) -> Run:
        budget = Budget(time_limit=situation.time_left if np.isfinite(situation.time_left) else None)
        return Run(make_solver(name), _incumbent(situation) if situation.round else None, budget)

    return plan


def _learned(situation: Situation) -> Run:
    """Runs of soft BP, one after the other; what one costs before it has frozen says nothing about it.

    Local search from their answers is other members' business.
    """
    budget = Budget(time_limit=situation.time_left if np.isfinite(situation.time_left) else None)
    return Run(make_solver("bp-learned", {"local_search": False}), budget=budget, ends=True)


def _split(situation: Situation) -> Run:
    """BP on the split graph with a damping factor per edge, drawn anew each restart."""
    damping = 0.5 if situation.round == 0 else float(situation.rng.uniform(0.3, 0.9))
    return Run(make_solver("dbp-scfg", {"damping": damping, "jitter": 0.4, "restarts": 20}))


def _polish(situation: Situation) -> Run:
    """Forests around the incumbent."""
    return Run(make_solver("forest-lns"), _incumbent(situation))


def _expand(situation: Situation) -> Run:
    """Moves of many variables at once, from the incumbent, which the dual or belief propagation found."""
    return Run(Expansion(), _incumbent(situation))


def _in_windows(situation: Situation) -> Run:
    """Parts of the incumbent, each by a dual of its own, and what the dual of the whole decodes."""
    return Run(Windows(decoded=lambda: situation.incumbent.decoded), _incumbent(situation))


def _dual(situation: Situation) -> Run:
    """One run to convergence gives the bound that there is to have."""
    return Run(make_solver("dual"))


def _branching_dual(situation: Situation, threads: int = 1) -> Run:
    """One run that goes on by cases where the relaxation leaves a gap."""
    return Run(BranchingDual(), budget=Budget(threads=threads))


def _deep(situation: Situation) -> Run:
    """DABP with its own restarts."""
    return Run(make_solver("dabp"))


def _incumbent(situation: Situation) -> Assignment | None:
    return situation.incumbent.best()[0]

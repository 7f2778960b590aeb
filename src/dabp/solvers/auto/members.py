"""The members of `auto`: one object each, with all that is known about when and how its solver is run.

To add one: write how it plans its runs, its object in `MEMBERS`, and its weights in ``shares_of_time.json``, which
``python -m benchmarks.auto fit`` fits. A member is named by its public solver.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from dabp.packages import installed
from dabp.solvers import make_solver
from dabp.solvers.auto.features import MOSTLY, Features
from dabp.solvers.auto.member import Member, Run, Situation
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.reinforcement import FASTEST, PERTURBATION, SLOWEST, damping_and_rate

# ---- how runs are planned -------------------------------------------------------------------------------------------


def _reinforced(situation: Situation) -> Run:
    """A fast run first; then random draws on small problems, and on large ones runs as slow as the time allows.

    A run takes about 1 / rate iterations, and slower runs are better: from the rate and the seconds of the run before
    follows the rate that fills the time.
    """
    ended, rng = situation.ended, situation.rng
    if situation.threads > 1:  # it has the machine to itself
        budget = Budget(time_limit=ALONE_PART * situation.time_left, threads=situation.threads)
        return Run(make_solver("bp-reinforced", {"restarts": 1}), budget=budget)
    first = first_rate(situation.features, situation.horizon)
    params = {"damping": 0.2, "reinforcement": first, "restarts": 1}
    if not ended:
        return Run(make_solver("bp-reinforced", params))
    if situation.kind != "large" and situation.features.num_variables < 600:
        params["damping"], params["reinforcement"] = damping_and_rate(rng)
        params["perturbation"] = float(rng.uniform(0.0, PERTURBATION))
    else:
        if np.isfinite(situation.time_left):
            seconds_times_rate = ended[-1].seconds * getattr(ended[-1].solver, "reinforcement", first)
            part = 0.5 if len(ended) == 1 else 0.75
            rate = seconds_times_rate / max(part * situation.time_left, 1e-6)
            params["reinforcement"] = float(np.clip(rate, SLOWEST, first))
        else:
            del params["reinforcement"]  # the solver plans by its iterations
        if len(ended) > 2:
            params["damping"] = float(rng.uniform(0.0, 0.4))
            params["perturbation"] = float(rng.uniform(0.0, 0.02))
    return Run(make_solver("bp-reinforced", params))


def _learned(situation: Situation) -> Run:
    """Runs of soft BP one after the other; where a single run has the machine to itself it takes most of the time."""
    if situation.threads > 1:
        budget = Budget(time_limit=ALONE_PART * situation.time_left, threads=situation.threads)
        return Run(make_solver("bp-learned", {"restarts": 1}), budget=budget, whole=True)
    params = {"local_search": False}  # that is the work of other members, from what all have found
    return Run(make_solver("bp-learned", params), budget=situation.budget, whole=True)


def _from_best(solver: str) -> Callable[[Situation], Run]:
    """Every run from the incumbent."""
    return lambda situation: Run(make_solver(solver), situation.best)


def _restarting(solver: str) -> Callable[[Situation], Run]:
    """A local search that restarts by itself: the first run from scratch, later ones from the incumbent."""
    return lambda situation: Run(make_solver(solver), situation.best if situation.ended else None, situation.budget)


# ---- how long they take ---------------------------------------------------------------------------------------------

ALONE_PART = 0.85
"""Part of the time for the single run of BP that has all threads (`line_up`)."""

LINEAR_SHARE = 0.3
"""Part of the time left that the linear relaxation may take: its process has no turns."""

LINEAR_CELLS = 500_000
"""Cells of tables up to which the linear relaxation takes part in a solve of 10 s or more."""


def iteration_seconds(features: Features) -> float:
    """About how long an iteration of BP takes on one core."""
    return 2e-9 * (10 * features.num_edges + 0.5 * features.num_cells)


def first_rate(features: Features, horizon: float) -> float:
    """The rate of a first run of reinforced BP: 1e-3, or faster so that it takes a quarter of the time."""
    return float(min(FASTEST, max(1e-3, iteration_seconds(features) / (0.25 * max(horizon, 1e-3)))))


# ---- the table ------------------------------------------------------------------------------------------------------

WEIGHTS: Mapping[str, Mapping[str, float]] = json.loads(
    Path(__file__).with_name("shares_of_time.json").read_text(encoding="utf-8")
)["weights"]
"""Member → kind of problem → its weight. The file says for each kind how the weights were found."""

MEMBERS = (
    Member(
        solver="bp-reinforced",
        plan=_reinforced,
        weights=WEIGHTS["bp-reinforced"],
        turn=200,
        delay={"image": 0.6},
        setup=0.33,
        patient=True,
    ),
    Member(
        solver="bp-learned",
        plan=_learned,
        weights=WEIGHTS["bp-learned"],
        when="from 150 variables on",
        turn=200,
        setup=0.4,
        patient=True,
    ),
    Member(
        solver="tabu",
        plan=_restarting("tabu"),
        weights=WEIGHTS["tabu"],
        copies=lambda features, kind: 2 if features.hard >= MOSTLY else 1,
        turn=100,
        shares_table=True,
        seeking=True,
    ),
    Member(
        solver="robust-tabu",
        plan=lambda situation: Run(make_solver("robust-tabu"), last=True),
        weights={"permutation": 12.0},
        copies=lambda features, kind: 2,
        when="on permutations; it ends at once where costs are no products of flows and distances",
        turn=50,
    ),
    Member(
        solver="annealing",
        plan=_restarting("annealing"),
        weights=WEIGHTS["annealing"],
        copies=lambda features, kind: 2 if kind in ("medium", "permutation") else 1,
        turn=200,
        shares_table=True,
    ),
    Member(
        solver="tempering",
        plan=lambda situation: Run(make_solver("tempering"), whole=True),
        weights=WEIGHTS["tempering"],
        applies=lambda features, horizon: features.repulsive >= MOSTLY and features.crisp == 0.0,
        when="on soft colourings: single coolings of those end in valleys whose costs differ by a per cent",
        shares_table=True,
        patient=True,
    ),
    Member(
        solver="annealing-free",
        plan=_from_best("annealing-free"),
        weights=WEIGHTS["annealing-free"],
        applies=lambda features, horizon: features.following >= 0.25,
        when="where a quarter of the variables follow from others, as partial sums do",
        setup=0.05,
        memory=0.0,
    ),
    Member(
        solver="icm",
        plan=_from_best("icm"),
        weights=WEIGHTS["icm"],
        when="where other members do not start soon enough or have few iterations",
        setup=0.05,
        opens=True,
        polishing=True,
    ),
    Member(
        solver="neighbourhood",
        plan=_from_best("neighbourhood"),
        weights=WEIGHTS["neighbourhood"],
        applies=lambda features, horizon: features.degree <= 12.0,
        when="with at most 12 neighbours a variable: elimination of many variables at once is affordable there",
        turn=40,
        delay={"image": 0.6},
        setup=0.4,
        memory=27.0,
    ),
    Member(
        solver="expansion",
        plan=_from_best("expansion"),
        weights=WEIGHTS["expansion"],
        when="on images",
        turn=10,
        setup=0.25,
        polishing=True,
    ),
    Member(
        solver="dual",
        plan=lambda situation: Run(make_solver("dual"), last=True),
        weights=WEIGHTS["dual"],
        turn=100,
        setup=0.55,
        memory=25.0,
        patient=True,
        bounding=True,
    ),
    Member(
        solver="dual-branching",
        plan=lambda situation: Run(make_solver("dual-branching"), budget=Budget(threads=situation.threads), last=True),
        weights=WEIGHTS["dual-branching"],
        turn=100,
        setup=0.55,
        memory=25.0,
        patient=True,
        bounding=True,
    ),
    Member(
        solver="linear-relaxation",
        plan=lambda situation: Run(make_solver("linear-relaxation", {"share": LINEAR_SHARE}), whole=True, last=True),
        weights=dict.fromkeys(("small", "medium", "large", "binary", "permutation"), 1.0),
        applies=lambda features, horizon: (
            installed("highspy")
            and (features.following > 0.0 or features.hard >= MOSTLY)
            and (features.exchanging >= MOSTLY or features.num_cells <= min(1.0, 0.1 * horizon) * LINEAR_CELLS)
        ),
        when="where sums are counted, or most factors forbid, and its program is small or most variables must differ",
        patient=True,
        bounding=True,
    ),
    Member(
        solver="assignment",
        plan=lambda situation: Run(make_solver("assignment"), last=True),
        weights={"permutation": 2.0},
        when="on permutations",
        turn=10,
        setup=5.0,
        memory=27.0,
        patient=True,
        bounding=True,
    ),
    Member(
        solver="semidefinite",
        plan=lambda situation: Run(make_solver("semidefinite"), last=True),
        weights={"binary": 1.2},
        when="on problems of two values whose tables do not favour agreement",
        turn=10,
        setup=1.0,
        memory=50.0,
        patient=True,
        bounding=True,
    ),
    Member(
        solver="dabp",
        plan=lambda situation: Run(make_solver("dabp")),
        weights=WEIGHTS["dabp"],
        applies=lambda features, horizon: horizon >= 60.0 and features.num_variables < 600,
        when="with a minute or more and below 600 variables: it learns from window to window",
        turn=40,
        delay=dict.fromkeys(("small", "medium", "binary"), 0.25),
    ),
)
"""All members, in the order of their turns where iterations are the limit."""

MBE = Member(
    solver="mbe",
    plan=lambda situation: Run(make_solver("mbe")),
    weights=WEIGHTS["mbe"],
    when="where an exact elimination takes up to half of the time",
    patient=True,
)
"""Exact elimination beside the others; `solver` plans it, as it may have its order already (`exact_parts`)."""

RENAMED = {
    "cooling": "annealing",
    "bp-cooled": "annealing",
    "tabu 2": "tabu",
    "annealing 2": "annealing",
    "following": "annealing-free",
    "forest-lns": "neighbourhood",
    "descent": "icm",
    "elimination": "mbe",
}
"""Former name of a member → the public solver that does its work."""

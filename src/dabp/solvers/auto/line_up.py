"""Which members take part in a solve, with what weight and from when on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dabp.errors import ParameterError
from dabp.solvers.auto.features import Features, kind_of
from dabp.solvers.auto.member import Member
from dabp.solvers.auto.members import ALONE_PART, MEMBERS, iteration_seconds

SLICE_SECONDS = 0.15
"""Seconds that a member runs before the scheduler chooses again, where the time limit is not short."""


def slice_seconds(horizon: float) -> float:
    """Seconds of a slice: a twenty-fifth of the horizon at most."""
    return min(SLICE_SECONDS, 0.04 * horizon)


@dataclass(frozen=True)
class Place:
    """A member, or one of its copies, in a solve."""

    member: Member
    kind: str
    """The kind of problem."""
    weight: float
    delay: float = 0.0
    """Part of the time that passes before it starts, unless nothing else can run."""
    waits: bool = False
    """Whether it waits for that even if nothing else can run."""
    threads: int = 1
    """Threads of its runs."""


class LineUp(NamedTuple):
    """The members of a solve, and notes for its result."""

    features: Features
    places: list[Place]
    notes: list[str]


def line_up(
    features: Features, horizon: float, *, names: frozenset[str] | None = None, threads: int | None = None
) -> LineUp:
    """The members that suit a problem and the seconds there are.

    `names` restricts them, however long they take to start. `threads` are those of the solve, None where iterations
    are the limit: no clock decides anything then.
    """
    kind, reason = kind_of(features)
    few = few_iterations(features, horizon)
    if few and kind in ("small", "medium") and features.degree <= min(12.0, 0.25 * features.num_variables):
        kind, reason = "large", f"{reason}; few iterations in that time: long runs of belief propagation come first"
    members = [member for member in MEMBERS if member.weights.get(kind, 0.0) > 0]
    notes = [reason]
    if names is None:
        members = [member for member in members if member.applies(features, horizon)]
        members, left_out = affordable(members, kind, features, horizon)
        notes += left_out
    else:
        members = [member for member in members if member.solver in names]
    if threads is None:
        members = [member for member in members if member.turn]
    places = []
    for member in members:
        copies = 1 if threads is None or threads == 1 else member.copies(features, kind)
        place = Place(member, kind, member.weights[kind] / copies, member.delay.get(kind, 0.0))
        places += [place] * copies
    if threads is not None:
        learned = features.crisp > 0 and (names is None or "bp-learned" in names)
        notes += _leave_alone(places, kind, features, horizon, threads, "bp-learned" if learned else "bp-reinforced")
    return LineUp(features, places, notes)


def few_iterations(features: Features, horizon: float) -> bool:
    """Whether there is time for less than 1,000 iterations of BP on one core."""
    return 1_000 * iteration_seconds(features) > horizon


def _leave_alone(
    places: list[Place], kind: str, features: Features, horizon: float, threads: int, propagation: str
) -> list[str]:
    """Give all threads to one member while the others wait: two would only share the memory's bandwidth.

    - Time for few iterations of BP on a large problem: a single run of `propagation`. Where combinations are forbidden
      that is `bp-learned`, however long it takes to start: `bp-reinforced` finds nothing feasible if it is cut off.
    - An image of many values, on which a cycle of expansions takes much of the time: the dual, whose labelling is then
      what expansions start from.
    """
    names, kept = [place.member.solver for place in places], places
    if kind == "large" and few_iterations(features, horizon) and "bp-reinforced" in names:
        alone, part, note = (
            propagation,
            ALONE_PART,
            f"time for few iterations: one run of {propagation} has all threads",
        )
        member = next(member for member in MEMBERS if member.solver == alone)
        kept = [place for place in places if place.member.solver != "bp-learned"]
        kept = [replace(place, member=member) if place.member.solver == "bp-reinforced" else place for place in kept]
    elif kind == "image" and features.largest_domain >= 32 and {"dual-branching", "expansion"} <= set(names):
        cycle = 7e-8 * features.num_edges * features.largest_domain / horizon
        if cycle <= 0.2:
            return []
        alone, part = "dual-branching", 1.0 if cycle > 0.5 else 0.5
        note = "the dual has all the time" if part == 1.0 else "expansion starts late, from the labelling of the dual"
        note = f"many values: {note}"
    else:
        return []
    places[:] = [
        replace(place, threads=threads)
        if place.member.solver == alone
        else replace(place, delay=max(place.delay, part), waits=True)
        for place in kept
    ]
    return [note]


# ---- time and memory ------------------------------------------------------------------------------------------------


def setup_seconds(member: Member, features: Features) -> float:
    """About how long a member takes to start on a busy machine."""
    edges = features.num_edges + features.num_messages / 200.0 + features.num_different_cells / 6.0
    return member.setup * 1e-6 * edges


def affordable(members: list[Member], kind: str, features: Features, horizon: float) -> tuple[list[Member], list[str]]:
    """Those of some members that start soon enough and whose tables fit the memory, and notes about the others.

    `icm` is only for problems on which others do not start soon enough or have few iterations. Images have no limit of
    memory, as large tables are worth it there.
    """
    slow = _too_slow(members, kind, features, horizon)
    without = slow
    if not slow and not (kind == "large" and few_iterations(features, horizon)) and len(members) > 1:
        without = [member for member in members if member.solver == "icm"]
    members = [member for member in members if member not in without]
    bulky = [] if kind == "image" else _too_bulky(members, kind, features)
    reasons = (
        (slow, "left out, as setting them up would take too much of the time"),
        (bulky, "left out, as their tables would take too much memory"),
    )
    notes = [f"{why}: {', '.join(member.solver for member in which)}" for which, why in reasons if which]
    return [member for member in members if member not in bulky], notes


def _too_slow(members: list[Member], kind: str, features: Features, horizon: float) -> list[Member]:
    """Members whose start takes over 0.3 of the time (0.6 for the one of most weight), or that have no time for a run.

    Never all of them. A run of BP with fewer than nine iterations is worth less than descent.
    """
    seconds = {member.solver: setup_seconds(member, features) for member in members}
    longest = max(0.3 * horizon, min(seconds.values(), default=0.0))
    heaviest = max(members, key=lambda member: member.weights[kind], default=None)

    def is_slow(member: Member) -> bool:
        start = seconds[member.solver]
        if start > longest and not (member is heaviest and start <= 0.6 * horizon):
            return True
        return member.solver.startswith("bp-") and 9 * iteration_seconds(features) > ALONE_PART * (
            0.9 * horizon - start
        )

    return [member for member in members if is_slow(member)]


def _too_bulky(members: list[Member], kind: str, features: Features) -> list[Member]:
    """Members for whose tables there is no memory: the one of most weight has it first, then those that take least.

    All may take 256 MiB together, or what sharing tables saves in comparison with a solver that shares none.
    """
    left = max(2.0**28, 8.0 * (features.num_cells - features.num_different_cells))
    by_weight = sorted(members, key=lambda member: -member.weights[kind])
    bulky, shared = [], False
    for member in by_weight[:1] + sorted(by_weight[1:], key=lambda member: member.memory):
        taken = 0.0 if shared and member.shares_table else member.memory * features.num_different_cells
        if taken > left and member is not by_weight[0]:
            bulky.append(member)
            continue
        left = max(0.0, left - taken)
        shared |= member.shares_table
    return bulky


# ---- several workers ------------------------------------------------------------------------------------------------


def parse_share(text: str) -> tuple[int, int]:
    """``"2/4"``, the second of four, as a number from 0 and a count."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ParameterError(f'share says which of how many workers this is, as in "2/4", not {text!r}')
    return int(match[1]) - 1, int(match[2])


def shared_out(places: Sequence[Place], worker: int, workers: int, threads: int = 1) -> list[Place]:
    """The members of one worker, at least as many as it has threads, with their weights there.

    A member of more weight than a worker has, all being equal, is cut: several workers run it, each with a seed of its
    own. The pieces go, heaviest first, to the worker that has least so far. Less than a tenth of such a piece is left
    to others.
    """
    piece = sum(place.weight for place in places) / workers
    pieces = []
    for place in places:
        whole = int(place.weight / piece) if piece > 0 else 0
        left = place.weight - whole * piece
        weights = [piece] * whole + ([left] if left > 0.1 * piece or not whole else [])
        pieces += [replace(place, weight=weight) for weight in weights]
    loads, shares = [0.0] * workers, [dict[str, Place]() for _ in range(workers)]
    for place in sorted(pieces, key=lambda place: -place.weight):
        lightest = min(range(workers), key=lambda number: (loads[number], number))
        name = place.member.solver
        known = shares[lightest].get(name)
        shares[lightest][name] = place if known is None else replace(place, weight=place.weight + known.weight)
        loads[lightest] += place.weight
    mine = shares[worker]
    others = {place.member.solver: place for place in sorted(places, key=lambda place: place.weight)}
    spare = sorted((place for name, place in others.items() if name not in mine), key=lambda place: -place.weight)
    return [*mine.values(), *spare[: max(0, threads - len(mine))]]

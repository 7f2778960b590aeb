"""Which of the members that suit a problem there is time and room for, and with what weight each begins."""

from __future__ import annotations

from dabp.solvers.auto.features import Features
from dabp.solvers.auto.plan import (
    FIRST_SETUP_PART,
    MOSTLY,
    ONE_LAYOUT,
    SETUP_PART,
    SHARES,
    SLICE_SECONDS,
    SPARSE_DEGREE,
    SPARSE_SECONDS,
    few_iterations,
    layout_bytes,
    layout_room,
    setup_seconds,
    slice_seconds,
    too_few_iterations,
)


def affordable(names: list[str], kind: str, features: Features, horizon: float) -> tuple[list[str], list[str]]:
    """Those of some members that start soon enough and whose tables find room, and notes about the others.

    Descent is only for problems on which others do not start soon enough.
    """
    slow, bulky = _too_slow(names, kind, features, horizon), []
    without = slow or (["descent"] if len(names) > 1 else [])
    names = [name for name in names if name not in without]
    if kind != "image":
        bulky = _too_bulky(names, kind, features)
    reasons = (
        (slow, "left out, as setting them up would take too much of the time"),
        (bulky, "left out, as their tables would take too much memory"),
    )
    notes = [f"{reason}: {', '.join(concerned)}" for concerned, reason in reasons if concerned]
    return [name for name in names if name not in bulky], notes


def priors(names: list[str], kind: str, threads: int | None) -> dict[str, float]:
    """The members' weights; a second annealing is there to run beside the first, which has its time with one thread."""
    weights = {name: SHARES[name].weights[kind] for name in names}
    if threads == 1 and {"annealing", "annealing 2"} <= weights.keys():
        weights["annealing"] += weights.pop("annealing 2")
    return weights


def has_valleys(features: Features) -> bool:
    """Whether a problem is a soft colouring: single coolings of those end in valleys whose costs differ by a per cent.

    Replicas that change places leave them; where coolings of one length end alike, the time is better spent on these.
    """
    return features.repulsive >= MOSTLY and features.crisp == 0.0


def looks_first(name: str, kind: str, features: Features, horizon: float) -> bool:
    """Whether a member has the first slice: the dual on sparse problems on which it soon converges.

    Their relaxation may be tight, and some tenths of a second of the dual are then all that a proof needs; its small
    share would come when the others have had theirs. On images it has the time anyway, and with little time no look
    is worth a slice.
    """
    if name != "dual" or kind == "image" or features.degree > SPARSE_DEGREE:
        return False
    return slice_seconds(horizon) == SLICE_SECONDS and not few_iterations(features, SPARSE_SECONDS)


def _too_slow(names: list[str], kind: str, features: Features, horizon: float) -> list[str]:
    """Members whose start would take too long, or leave no time for a run; but never all of them."""
    seconds = {name: setup_seconds(name, features) for name in names}
    longest = max(SETUP_PART * horizon, min(seconds.values(), default=0.0))
    heaviest = max(names, key=lambda name: SHARES[name].weights[kind], default="")
    slow = [name for name in names if seconds[name] > longest]
    if heaviest in slow and seconds[heaviest] <= FIRST_SETUP_PART * horizon:
        slow.remove(heaviest)
    return [name for name in names if name in slow or too_few_iterations(name, features, horizon)]


def _too_bulky(chosen: list[str], kind: str, features: Features) -> list[str]:
    """Members for whose tables there is no room: the one of most weight has it, then those that take least."""
    by_weight = sorted(chosen, key=lambda name: -SHARES[name].weights[kind])
    order = by_weight[:1] + sorted(by_weight[1:], key=lambda name: layout_bytes(name, features))
    room, bulky, shared = layout_room(features), [], False
    for place, name in enumerate(order):
        taken = 0.0 if shared and name in ONE_LAYOUT else layout_bytes(name, features)
        if taken > room and place > 0:
            bulky.append(name)
            continue
        room = max(0.0, room - taken)
        shared |= name in ONE_LAYOUT
    return bulky

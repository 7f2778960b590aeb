"""Meeting scheduling problems, in pyDCOP's parameters."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.lab.generators.graphs import check_size
from dabp.problem import Problem

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """A meeting: how long it takes, and what each resource it needs gains in a slot."""

    length: int
    value: dict[int, int]


def meetings(
    slots_count: int = 5,
    events_count: int = 6,
    resources_count: int = 3,
    max_resources_event: int = 2,
    max_length_event: int = 1,
    max_resource_value: int = 10,
    seed: int = 0,
) -> Problem:
    """Private events as variables (Maheswaran et al. 2004), as ``pydcop generate meetings``: utility is maximised.

    A variable for each event and resource it needs says when the event starts for it, 0 if it does not take place.
    Resources that disagree about an event, and events of one resource that overlap, cost more than all utility.
    Otherwise a resource gains what the event is worth to it in each slot, less what the slots are worth if kept free;
    this is spread evenly over the factors with its other events, or a factor of its own if there are none.

    Parameters
    ----------
    slots_count
        Slots of time.
    events_count, resources_count
        Meetings, and those who may take part.
    max_resources_event, max_length_event
        Largest numbers of resources that an event needs and of slots that it takes, from one.
    max_resource_value
        Largest value of an event a slot to a resource, from 1, and of a free slot, from 0.
    seed
        Decides everything.
    """
    counts = (slots_count, events_count, resources_count, max_resources_event, max_length_event, max_resource_value)
    if min(counts) < 1:
        raise ParameterError("meetings need at least one slot, event and resource, and largest numbers of at least 1")
    if max_resources_event > resources_count:
        raise ParameterError(f"an event cannot need {max_resources_event} of {resources_count} resources")
    if max_length_event > slots_count:
        raise ParameterError(f"an event of {max_length_event} slots does not fit into {slots_count}")
    uses = events_count * max_resources_event
    pairs = uses * max_resources_event + uses * uses / resources_count
    check_size(uses, max(resources_count * slots_count, pairs * slots_count**2 / 2))
    rng = np.random.default_rng(seed)
    free = rng.integers(0, max_resource_value + 1, (resources_count, slots_count))
    events = []
    for _ in range(events_count):
        length = int(rng.integers(1, max_length_event + 1))
        needed = rng.permutation(resources_count)[: rng.integers(1, max_resources_event + 1)]
        events.append(Event(length, {int(r): int(rng.integers(1, max_resource_value + 1)) for r in needed}))
    penalty = float(max_resource_value * slots_count * resources_count)
    return _peav(events, free, penalty)


def _peav(events: list[Event], free: NDArray[np.int64], penalty: float) -> Problem:
    """The problem of these events and of what resources gain by free slots."""
    resources, slots = free.shape
    variables = [(r, e) for r in range(resources) for e, event in enumerate(events) if r in event.value]
    index = {variable: i for i, variable in enumerate(variables)}
    gains = [_utility(events[e], events[e].value[r], free[r]) for r, e in variables]
    tables: list[tuple[tuple[int, ...], Table]] = []
    names: list[str] = []
    for r in range(resources):
        own = [index[r, e] for e in range(len(events)) if (r, e) in index]
        if len(own) == 1:
            tables.append(((own[0],), gains[own[0]]))
            names.append(f"cu_{_name(variables[own[0]])}")
        for i, j in itertools.combinations(own, 2):
            shared = (gains[i][:, None] + gains[j]) / (len(own) - 1)
            clash = _overlap(events[variables[i][1]].length, events[variables[j][1]].length, shared.shape)
            tables.append(((i, j), np.where(clash, -penalty, shared)))
            names.append(f"ci_{_name(variables[i])}_{_name(variables[j])}")
    for e, event in enumerate(events):
        for r, s in itertools.combinations(sorted(event.value), 2):
            count = slots - event.length + 2
            tables.append(((index[r, e], index[s, e]), np.where(np.eye(count) > 0, 0.0, -penalty)))
            names.append(f"ce_{_name((r, e))}_{_name((s, e))}")
    sizes = [slots - events[e].length + 2 for _, e in variables]
    problem = Problem.from_tables(sizes, tables, maximize=True, variable_names=[_name(one) for one in variables])
    return problem.replace(factor_names=names, name="MeetingScheduling")


def _name(variable: tuple[int, int]) -> str:
    return f"v_{variable[0] + 1}_{variable[1] + 1}"


def _utility(event: Event, value: int, free: NDArray[np.int64]) -> Table:
    """What a resource gains if the event starts in each slot, counted from 1; 0 does not take place."""
    length = event.length
    kept = np.lib.stride_tricks.sliding_window_view(free, length).sum(axis=1)
    return np.concatenate([[0.0], value * length - kept.astype(np.float64)])


def _overlap(first: int, second: int, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether two events of these lengths share a slot, by when they start."""
    one, other = np.arange(shape[0])[:, None], np.arange(shape[1])
    return (one > 0) & (other > 0) & (one < other + second) & (other < one + first)

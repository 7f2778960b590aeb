"""Meeting scheduling."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.lab.generators.meetings import Event, _peav, meetings


def _utility(events: list[Event], free: np.ndarray, penalty: float, start: dict[tuple[int, int], int]) -> float:
    """The utility of a schedule as the model's definition counts it, meeting by meeting."""
    total = 0.0
    for r in range(len(free)):
        own = [e for e in range(len(events)) if (r, e) in start]
        slots = {e: set(range(start[r, e], start[r, e] + events[e].length)) if start[r, e] else set() for e in own}
        gain = {e: sum(events[e].value[r] - free[r][t - 1] for t in slots[e]) for e in own}
        if len(own) == 1:
            total += gain[own[0]]
        for e, g in itertools.combinations(own, 2):
            total += -penalty if slots[e] & slots[g] else (gain[e] + gain[g]) / (len(own) - 1)
    for e, event in enumerate(events):
        for r, s in itertools.combinations(event.value, 2):
            total -= penalty * (start[r, e] != start[s, e])
    return total


@pytest.mark.parametrize("seed", range(10))
def test_utility(seed: int) -> None:
    """Random schedules are worth what the definition says, with events of several lengths."""
    rng = np.random.default_rng(seed)
    free = rng.integers(0, 6, (3, 5))
    events = [
        Event(int(rng.integers(1, 4)), {int(r): int(rng.integers(1, 9)) for r in rng.permutation(3)[: 1 + e % 3]})
        for e in range(4)
    ]
    problem = _peav(events, free, 100.0)
    assert problem.maximize
    for _ in range(40):
        values = rng.integers(0, problem.domain_sizes)
        start = {
            tuple(int(part) - 1 for part in name.split("_")[1:]): value
            for name, value in zip(problem.names.variables, values.tolist(), strict=True)
        }
        assert problem.cost(values) == pytest.approx(_utility(events, free, 100.0, start))


def test_sizes() -> None:
    """Each event has one to so many resources, and starts where it still fits."""
    problem = meetings(
        slots_count=8, events_count=30, resources_count=5, max_resources_event=3, max_length_event=4, seed=2
    )
    events = [name.split("_")[2] for name in problem.names.variables]
    assert {events.count(event) for event in events} == {1, 2, 3}
    assert set(problem.domain_sizes.tolist()) == {9, 8, 7, 6}
    assert np.nanmin(problem.pool) == -10 * 8 * 5


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"events_count": 0}, "at least one slot, event and resource"),
        ({"max_resources_event": 4}, "cannot need 4 of 3 resources"),
        ({"max_length_event": 6}, "an event of 6 slots does not fit into 5"),
    ],
)
def test_what_cannot_be(options: dict[str, int], reason: str) -> None:
    """Numbers that fit no schedule are refused."""
    with pytest.raises(ParameterError, match=reason):
        meetings(**options)

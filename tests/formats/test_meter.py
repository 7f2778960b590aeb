"""Limits grow with the file, count everything together, and say how they are raised."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dabp.errors import FormatError
from dabp.formats.meter import FREE_CELLS, MIN_CELLS, Meter, cells_for

_TAKERS: dict[str, Callable[[Meter, int], None]] = {
    "max_cells": lambda meter, n: meter.take_cells(n, 7),
    "max_values": lambda meter, n: meter.take_values(n, 7),
    "max_factors": lambda meter, n: meter.take_factors(n, 7),
    "max_tokens": lambda meter, n: meter.take_tokens(n, 7),
}


@pytest.mark.parametrize("limit", _TAKERS)
@pytest.mark.parametrize("given", [None, 10**7])
def test_all_together(limit: str, given: int | None) -> None:
    """Twice half of the limit is allowed, and one more is refused with place, number and how to raise it."""
    meter = Meter("f.cfn", 1000, given)
    most: int = getattr(meter, limit)
    for _ in range(2):
        _TAKERS[limit](meter, most // 2)
    reason = rf"^f\.cfn:7: .*{most // 2 * 2 + 1}.*more than the limit of {most} .*max_cells \(--max-cells\)"
    with pytest.raises(FormatError, match=reason):
        _TAKERS[limit](meter, 1)


def test_limits_grow_with_the_file() -> None:
    """Never smaller for a larger file, 16 cells a byte for one of a megabyte, one a byte for a huge one."""
    sizes = [0, 1000, 10**5, 2**18, 10**6, 2**20, 10**7, 2**24, 10**8]
    for limit in _TAKERS:
        limits = [getattr(Meter("f", size), limit) for size in sizes]
        assert limits == sorted(limits)
    assert (cells_for(0), cells_for(10**6), cells_for(10**8)) == (MIN_CELLS, 16 * 10**6, 10**8)
    assert cells_for(2**20) == FREE_CELLS


def test_numbers_beyond_reading() -> None:
    """A count of a thousand digits is said in a few."""
    with pytest.raises(FormatError, match=r"would have more than 10\^20 cells"):
        Meter("f", 10).take_cells(10**20)
    with pytest.raises(FormatError, match="would have endless cells"):
        Meter("f", 10).take_cells(10**400)


def test_work() -> None:
    """Expressions take steps, on few cells as many as on eight; the line is only looked for if it is needed."""
    meter = Meter("f", 10, 100)

    def line() -> int:
        raise AssertionError("nothing is wrong here")

    meter.spend(100, 1, line)
    meter.spend(8, 100, line)
    with pytest.raises(FormatError, match=":3: its expressions take too long"):
        meter.spend(1, 1, lambda: 3)

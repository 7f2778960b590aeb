# mypy: disable-error-code="untyped-decorator"
"""The minimum of a factor→variable message of two variables (paper Eq. 3), one vector of values at a time."""

from __future__ import annotations

from typing import Any

from dabp.kernels.decorators import part
from dabp.kernels.simd import Lanes, load, minimum, splat


@part(_nrt=False)
def pair_minimum(tables: Any, table: int, step: int, messages: Any, message: int, rows: int, lanes: Lanes) -> Any:
    """``min over r < rows of tables[table + r·step + lane] + messages[message + r]`` for each lane.

    Lanes run over the values of the receiving variable, rows over those of the sending one. `step` is the distance
    between rows of the table in `tables`.
    """
    lowest = load(tables, table, lanes) + splat(messages, message, lanes)
    for row in range(1, rows):
        lowest = minimum(lowest, load(tables, table + row * step, lanes) + splat(messages, message + row, lanes))
    return lowest


@part(_nrt=False)
def pair_minima(
    tables: Any, table: int, step: int, messages: Any, first: int, second: int, rows: int, lanes: Lanes
) -> tuple[Any, Any]:
    """`pair_minimum` with two messages, which begin at `first` and `second`; each row of the table is read once."""
    costs = load(tables, table, lanes)
    low, other = costs + splat(messages, first, lanes), costs + splat(messages, second, lanes)
    for row in range(1, rows):
        costs = load(tables, table + row * step, lanes)
        low = minimum(low, costs + splat(messages, first + row, lanes))
        other = minimum(other, costs + splat(messages, second + row, lanes))
    return low, other


@part(_nrt=False)
def pair_minimum_without(
    tables: Any, table: int, step: int, messages: Any, message: int, rows: int, lanes: Lanes
) -> Any:
    """`pair_minimum` with the messages taken off: ``min over r of tables[…] − messages[message + r]``."""
    lowest = load(tables, table, lanes) - splat(messages, message, lanes)
    for row in range(1, rows):
        lowest = minimum(lowest, load(tables, table + row * step, lanes) - splat(messages, message + row, lanes))
    return lowest

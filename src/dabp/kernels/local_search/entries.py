"""A problem by entries, one for each (factor, variable) of a scope: `problem.incidence.Incidence` for kernels."""

from __future__ import annotations

from typing import NamedTuple

from dabp.kernels.local_search.compilation import inlined
from dabp.kernels.local_search.search_arrays import Ints


class Entries(NamedTuple):
    """Factors of two or more variables; N variables, F factors, E entries in the order of the scopes."""

    sizes: Ints  # domain sizes, [N]
    variable: Ints  # the variable of each entry, [E]
    stride: Ints  # cells of the table between two values of the variable, [E]
    factor: Ints  # the factor of each entry, [E]
    scope_start: Ints  # the first entry of each factor, [F + 1]
    table_start: Ints  # the first cell of each factor's table, [F]
    incident: Ints  # entries by variable, [E]
    incident_start: Ints  # where each variable's part of `incident` begins, [N + 1]


@inlined
def chosen_cell(c: Entries, f: int, values: Ints) -> int:
    """The cell that an assignment chooses, counted from the first of the factor's table."""
    cell = 0
    for e in range(c.scope_start[f], c.scope_start[f + 1]):
        cell += c.stride[e] * values[c.variable[e]]
    return cell

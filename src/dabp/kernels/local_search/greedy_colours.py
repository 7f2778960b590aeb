"""Greedy colouring of variables: those of one colour share no factor."""

from __future__ import annotations

import numpy as np

from dabp.kernels.decorators import array_kernel
from dabp.kernels.local_search.search_arrays import Ints

COLOURS = 63
"""Colours at most."""


@array_kernel
def colour(scope_start: Ints, variable: Ints, factor: Ints, start: Ints, entry: Ints, colours: Ints) -> int:
    """Give each variable, in order, the first colour that none of its neighbours has; `colours` comes in as −1.

    Returns how many there are, or −1 if `COLOURS` are not enough.
    The entries of variable i are ``entry[start[i]:start[i + 1]]``, those of factor f are
    ``scope_start[f]:scope_start[f + 1]`` of `variable`.
    """
    most = 0
    for i in range(len(colours)):
        taken = np.uint64(0)
        for place in range(start[i], start[i + 1]):
            f = factor[entry[place]]
            for e in range(scope_start[f], scope_start[f + 1]):
                other = colours[variable[e]]
                if other >= 0:
                    taken |= np.uint64(1) << np.uint64(other)
        free = 0
        while taken & np.uint64(1):
            taken >>= np.uint64(1)
            free += 1
        if free >= COLOURS:
            return -1
        colours[i] = free
        most = max(most, free + 1)
    return most

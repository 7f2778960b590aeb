"""Large problems with their variables in classes that share no factor, one class after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import Indices, handed_over
from dabp.problem.facts import structural

LARGE = 50_000
"""Variables from which local search uses classes."""

FEWEST = 1_000
"""The least mean size of classes."""


class Classes(NamedTuple):
    """Variables in an order in which those of a class, which share no factor, are adjacent; C classes."""

    order: Indices  # the variable at each place, [N]
    starts: Indices  # the place at which each class begins, [C + 1]


def classes_of(problem: Problem) -> Classes | None:
    """Classes found greedily in the order of the variables; None for small problems and for small classes."""
    classes = structural(problem, coloured) if problem.num_variables >= LARGE else None
    return None if classes is None or (len(classes.starts) - 1) * FEWEST > problem.num_variables else classes


def coloured(problem: Problem) -> Classes | None:
    """Classes of any problem; None if there would be more than there are colours."""
    from dabp.graph.grouping import grouped  # with compiled code, like the next: loaded for large problems only
    from dabp.kernels.local_search.greedy_colours import colour

    count = problem.num_variables
    entry, start = grouped(problem.scope_variables, count)
    factor = np.repeat(np.arange(problem.num_factors), problem.arities)
    colours = np.full(count, -1, dtype=np.int64)
    found = colour(problem.scope_offsets, problem.scope_variables, factor, start, entry, colours)
    if found < 0:
        return None
    order, starts = grouped(colours, found)
    return Classes(order, starts)


def in_classes(problem: Problem, classes: Classes | None) -> Problem:
    """The problem with the variables in the order of the classes; itself without any."""
    if classes is None:
        return problem
    place = np.empty(problem.num_variables, dtype=np.int64)
    place[classes.order] = np.arange(problem.num_variables)
    return problem.replace(
        domain_sizes=handed_over(problem.domain_sizes[classes.order]),
        scope_variables=handed_over(place[problem.scope_variables]),
        variable_names=None,
        labels=None,
    )

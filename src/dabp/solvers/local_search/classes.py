"""Classes of variables that share no factor, found greedily: what can change at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of


def class_of_each(problem: Problem) -> Indices:
    """A number for each variable, different for any two of one factor; those with most neighbours choose first, [N]."""
    count = problem.num_variables
    pairs = _neighbours(problem)
    starts = offsets_of(np.bincount(pairs[:, 0], minlength=count))
    order = np.argsort(-np.diff(starts), kind="stable").tolist()
    near, bounds = pairs[:, 1].tolist(), starts.tolist()
    classes = [-1] * count
    for variable in order:
        taken = {classes[other] for other in near[bounds[variable] : bounds[variable + 1]]}
        free = 0
        while free in taken:
            free += 1
        classes[variable] = free
    return np.array(classes, dtype=np.int64)


def _neighbours(problem: Problem) -> NDArray[np.int64]:
    """All ordered pairs of variables that share a factor, [P, 2], by the first."""
    count = problem.num_variables
    keys = [np.zeros(0, dtype=np.int64)]
    for group in problem.arity_groups:
        arity = group.variables.shape[1]
        keys += [
            group.variables[:, a] * count + group.variables[:, b] for a in range(arity) for b in range(arity) if a != b
        ]
    different = np.unique(np.concatenate(keys))
    return np.stack([different // max(count, 1), different % max(count, 1)], axis=1)

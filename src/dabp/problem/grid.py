"""Problems on images: a variable for each pixel, a cost for neighbours that differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError, named_keywords
from dabp.problem.columns import Indices, different_rows, offsets_of
from dabp.problem.conversion import as_float, as_floats
from dabp.problem.problem import Problem

Costs = NDArray[np.float64]

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Steps (rows, columns) from a pixel to half of its 8 neighbours; the first two are those of 4 neighbours."""


@named_keywords
def grid(
    unary: ArrayLike,
    pairwise: str | ArrayLike = "potts",
    *,
    weights: float | Sequence[ArrayLike] = 1.0,
    cap: float = 1.0,
    neighbours: int = 4,
    maximize: bool = False,
    name: str = "grid",
) -> Problem:
    """A problem with a variable for each pixel of an image, numbered row by row.

    Parameters
    ----------
    unary
        What each label costs at each pixel, [height, width, labels].
    pairwise
        What neighbours with labels a and b cost, before it is multiplied by the pair's weight: ``"potts"`` (1 if they
        differ), ``"truncated-linear"`` (min(|a − b|, cap)), ``"truncated-quadratic"`` (min((a − b)², cap)), or a table
        [labels, labels].
    weights
        One for all pairs, or an array for each direction: to the right [height, width − 1], down [height − 1, width],
        and with 8 neighbours down to the right and down to the left [height − 1, width − 1].
    cap
        The most that a truncated cost can be, before the weight.
    neighbours
        4 or 8.
    maximize, name
        As for `Problem`.
    """
    costs = as_floats(unary, "unary costs of a grid")
    if costs.ndim != 3 or 0 in costs.shape:
        raise ProblemError(f"unary costs of a grid are [height, width, labels], not of shape {costs.shape}")
    if neighbours not in (4, 8):
        raise ProblemError(f"a pixel has 4 or 8 neighbours, not {neighbours}")
    height, width, labels = costs.shape
    pixels = np.arange(height * width).reshape(height, width)
    directions = DIRECTIONS[: neighbours // 2]
    pairs = [_pairs(pixels, *step) for step in directions]
    scopes = np.concatenate(pairs)
    shapes = [(height - down, width - abs(right)) for down, right in directions]
    values, which = np.unique(_weights(weights, len(scopes), shapes), return_inverse=True)
    with np.errstate(invalid="ignore", over="ignore"):
        tables = values[:, None, None] * _table(pairwise, labels, cap)
    if np.isnan(tables).any():
        raise ProblemError("a weight times a pairwise cost is not a number (0 times infinity?)")
    rows = costs.reshape(-1, labels)
    first, same = different_rows(rows)
    return Problem(
        np.full(height * width, labels),
        np.concatenate([pixels.ravel(), scopes.ravel()]),
        offsets_of(np.concatenate([np.ones(height * width, np.int64), np.full(len(scopes), 2)])),
        np.concatenate([rows[first].ravel(), tables.ravel()]),
        offsets_of(np.concatenate([np.full(len(first), labels), np.full(len(values), labels * labels)])),
        np.concatenate([same, len(first) + which]),
        maximize=maximize,
        name=name,
    )


def _weights(weights: float | Sequence[ArrayLike], count: int, shapes: list[tuple[int, int]]) -> NDArray[np.float64]:
    """The weight of each pair, from one number or from an array of one of the shapes for each direction."""
    if not isinstance(weights, Iterable) or isinstance(weights, str):
        return np.full(count, as_float(weights, "the weight of a grid"))
    given = [as_floats(part, "weights of a grid") for part in weights]
    found = [part.shape for part in given]
    if found != shapes:
        raise ProblemError(f"weights have an array for each direction, of shapes {shapes}; these have {found}")
    return np.concatenate([part.ravel() for part in given])


def _pairs(pixels: Indices, down: int, right: int) -> Indices:
    """Every pixel and its neighbour `down` rows below and `right` columns to the right, [m, 2]."""
    height, width = pixels.shape
    here = pixels[: height - down, max(0, -right) : width - max(0, right)]
    there = pixels[down:, max(0, right) : width + min(0, right)]
    return np.stack([here.ravel(), there.ravel()], axis=1)


def _table(pairwise: str | ArrayLike, labels: int, cap: float) -> Costs:
    """What neighbours cost before the weight."""
    cap = as_float(cap, "cap")
    apart = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))).astype(np.float64)
    named = {
        "potts": (apart > 0).astype(np.float64),
        "truncated-linear": np.minimum(apart, cap),
        "truncated-quadratic": np.minimum(apart**2, cap),
    }
    if isinstance(pairwise, str):
        if pairwise not in named:
            raise ProblemError(f"there is no pairwise cost {pairwise!r}; there are {', '.join(named)}, or a table")
        return named[pairwise]
    table = as_floats(pairwise, "pairwise costs of a grid")
    if table.shape != (labels, labels):
        raise ProblemError(f"the pairwise table of {labels} labels is {labels}×{labels}, not of shape {table.shape}")
    return table

"""Quadratic assignments of QAPLIB (``.dat``, ``.qap``): n, flows a and distances b; see docs/formats/qaplib.md.

The least Σ a[i, j] · b[p(i), p(j)] over permutations p: variable i has p(i), counted from 0, for its value. A ``.qap``
file may have two more numbers behind n, of which the last is the best known cost; they are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dabp.errors import FormatError
from dabp.formats.numerals import integer
from dabp.formats.text import Source
from dabp.formats.tokens import Tokens
from dabp.problem import Problem
from dabp.problem.columns import offsets_of


def read(source: Source) -> Problem:
    """Parse a QAPLIB file."""
    tokens = Tokens(source)
    n = integer(tokens.title) or 0
    if n < 1:
        raise source.error(f"the number of facilities was expected, {tokens.title[:40]!r} found", tokens.first_line)
    extra = len(tokens) - 2 * n * n
    if not 0 <= extra <= 2:
        reason = f"{2 * n * n} numbers of two matrices were expected after {n}, {len(tokens)} found"
        raise source.error(reason, tokens.first_line)
    tokens.position = extra
    numbers = tokens.exact(tokens.take(2 * n * n, "a number of a matrix"), lambda at: extra + at)
    flows, distances = numbers.reshape(2, n, n)
    tokens.release()
    source.meter.take_values(n * n)
    first, second = np.triu_indices(n, 1)
    source.meter.take_factors(len(first) + n)
    # One table for all pairs of the same flows there and back, one for all facilities of the same flow to themselves.
    pairs, pair_table = np.unique(
        np.stack([flows[first, second], flows[second, first]], 1), axis=0, return_inverse=True
    )
    own, own_table = np.unique(np.diag(flows), return_inverse=True)
    source.meter.take_cells(len(pairs) * n * n + len(own) * n)
    tables = pairs[:, 0, None, None] * distances + pairs[:, 1, None, None] * distances.T
    tables[:, np.arange(n), np.arange(n)] = np.inf
    return source.problem(
        np.full(n, n),
        np.concatenate([np.stack([first, second], 1).ravel(), np.arange(n)]),
        offsets_of(np.repeat([2, 1], [len(first), n])),
        np.concatenate([tables.ravel(), (own[:, None] * np.diag(distances)).ravel()]),
        offsets_of(np.repeat([n * n, n], [len(pairs), len(own)])),
        np.concatenate([pair_table.ravel(), len(pairs) + own_table]),
    )


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Refuse: these files are read only."""
    raise FormatError("QAPLIB files are only read; .wcsp and .cfn are written")

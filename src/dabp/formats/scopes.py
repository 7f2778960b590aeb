"""Sizes and scopes in files of numbers, checked all together: what `.wcsp` and `.uai` have in common."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from dabp.formats.tokens import Tokens
from dabp.problem.columns import offsets_of

Indices = NDArray[np.int64]


def domain_sizes(tokens: Tokens, count: int, *, signed: bool = False) -> Indices:
    """The next `count` numbers as sizes of domains, within the limits; `signed` takes negative ones by their size."""
    first = tokens.position
    sizes = tokens.take(count, "a domain size").astype(np.float64)
    if signed:
        sizes = np.abs(sizes)
    meter = tokens.source.meter
    wrong = np.flatnonzero((sizes != np.rint(sizes)) | (sizes < 1) | (sizes > meter.max_values))
    if len(wrong):
        index = int(wrong[0])
        raise tokens.error(
            f"variable {index} has a domain of {sizes[index]:g} values; 1 to {meter.max_values} (max_cells) can be",
            first + index,
        )
    meter.take_values(int(sizes.sum()), partial(tokens.line, first))
    return sizes.astype(np.int64)


class Scopes:
    """The scopes of some functions as columns.

    Attributes
    ----------
    start
        The token at which each scope starts, right after its arity, [F].
    variables, offsets
        Function f has the scope ``variables[offsets[f]:offsets[f + 1]]``.
    cells
        How many cells the table of each function has, [F].
    """

    def __init__(self, tokens: Tokens, sizes: Indices, start: Indices, arity: Indices):
        self._tokens, self._sizes = tokens, sizes
        self.start, self.arity = start, arity
        self.offsets = offsets_of(arity)
        self.variables: Indices = np.zeros(int(self.offsets[-1]), dtype=np.int64)
        self.cells: Indices = np.ones(len(arity), dtype=np.int64)
        for k, rows in self.groups():
            variables = checked_scopes(tokens, sizes, start[rows], tokens.numbers[start[rows][:, None] + np.arange(k)])
            self.variables[self.offsets[rows][:, None] + np.arange(k)] = variables
            shape = sizes[variables]
            limit = tokens.source.meter.max_cells
            self.complain(
                rows, np.log2(shape).sum(axis=1) > 60, f"a table has more than 2^60 cells, max_cells is {limit}"
            )
            self.cells[rows] = np.prod(shape, axis=1)

    def groups(self) -> list[tuple[int, Indices]]:
        """Each arity and the functions that have it."""
        order = np.argsort(self.arity, kind="stable")
        arities, first = np.unique(self.arity[order], return_index=True)
        return list(zip(arities.tolist(), np.split(order, first[1:]), strict=True)) if len(arities) else []

    def of(self, rows: Indices, k: int) -> Indices:
        """The variables of some functions of arity k, [rows, k]."""
        places: Indices = self.offsets[rows][:, None] + np.arange(k)
        return self.variables[places]

    def shape(self, function: int) -> Indices:
        """The domain sizes of a function's scope."""
        shape: Indices = self._sizes[self.variables[self.offsets[function] : self.offsets[function + 1]]]
        return shape

    def complain(self, rows: Indices, wrong: NDArray[np.bool_], message: str) -> None:
        """Refuse the first of some functions for which something is wrong, where it stands."""
        if wrong.any():
            raise self._tokens.error(message, int(self.start[rows[int(np.argmax(wrong))]]) - 1)

    def take_cells(self, lengths: Indices) -> None:
        """Count tables of these lengths against the limit, before anything large is allocated."""
        meter = self._tokens.source.meter
        wanted = np.cumsum(lengths, dtype=np.float64)
        line = None
        if len(wanted) and wanted[-1] > meter.left:
            first = int(np.argmax(wanted > meter.left))
            line = self._tokens.line(int(self.start[first]) - 1)
        meter.take_cells(sum(lengths.tolist()), line)


def checked_scopes(
    tokens: Tokens, sizes: Indices, start: Indices, variables: NDArray[np.float64 | np.int64]
) -> Indices:
    """Some scopes of one arity, [rows, k], checked: variables exist, none is there twice; each starts at a token."""
    outside = (variables < 0) | (variables >= len(sizes)) | (variables != np.rint(variables))
    ordered = np.sort(variables, axis=1)
    for wrong, message in (
        (outside.any(axis=1), f"a scope names a variable outside 0..{len(sizes) - 1}"),
        ((ordered[:, 1:] == ordered[:, :-1]).any(axis=1), "a cost function names a variable twice"),
    ):
        if wrong.any():
            raise tokens.error(message, int(start[int(np.argmax(wrong))]) - 1)
    return variables.astype(np.int64)

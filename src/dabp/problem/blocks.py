"""Factors that are added together, and the auxiliary variables they look at: what models and readers of files collect.

A visible variable has its number, the auxiliary ones −1, −2, … in the order in which they are made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.columns import Indices, different_rows, offsets_of

DEFINING = 16
"""Factors that an auxiliary variable counts for: making it takes as long."""


class Block(NamedTuple):
    """Factors that were added together."""

    scopes: Indices
    """Their variables, [n, k]; −1, −2, … are auxiliary ones."""
    tables: NDArray[np.float64]
    """Different tables, [U, cells]."""
    table: Indices
    """Which of them each factor has, [n]."""
    names: list[str]
    defines: bool = False
    """Whether each of them defines the last variable of its scope."""


class Blocks:
    """Blocks of factors in order, and the domain sizes of auxiliary variables."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.num_factors = 0
        self.auxiliary: list[int] = []
        """The domain sizes of auxiliary variables."""
        self.cells = 0
        """Of all different tables."""
        self._known: dict[bytes, NDArray[np.float64]] = {}

    def append(self, block: Block) -> None:
        """Add factors behind the others; a table that is there already is shared."""
        if len(block.tables) == 1:
            known = self._known.setdefault(hashlib.sha1(block.tables.tobytes()).digest(), block.tables)
            self.cells += known.size * (known is block.tables)
            block = block._replace(tables=known)
        else:
            self.cells += block.tables.size
        self.blocks.append(block)
        self.num_factors += len(block.scopes)

    @property
    def arities(self) -> Indices:
        """Of all factors, [F]."""
        return np.repeat([b.scopes.shape[1] for b in self.blocks], [len(b.scopes) for b in self.blocks]).astype(int)

    @property
    def definitions(self) -> Indices:
        """The numbers of factors that define an auxiliary variable."""
        return np.flatnonzero(np.repeat([b.defines for b in self.blocks], [len(b.scopes) for b in self.blocks]))

    def scopes(self, visible: int) -> Indices:
        """The scopes of all factors in a row, auxiliary variables numbered behind the visible ones."""
        scopes = np.concatenate([np.zeros(0, dtype=np.int64), *(block.scopes.ravel() for block in self.blocks)])
        return np.where(scopes < 0, visible - 1 - scopes, scopes)

    def tables(self) -> tuple[NDArray[np.float64], Indices, Indices]:
        """The pool of different tables, its offsets, and the table of each factor."""
        by_width: dict[int, list[Block]] = {}
        for block in self.blocks:
            by_width.setdefault(block.tables.shape[1], []).append(block)
        pool, widths, number, chosen = [np.zeros(0)], list[int](), 0, dict[int, Indices]()
        for width, blocks in by_width.items():
            rows = blocks[0].tables if len(blocks) == 1 else np.concatenate([block.tables for block in blocks])
            first, same = different_rows(rows)
            pool.append(rows[first].ravel())
            widths += [width] * len(first)
            for block, start in zip(blocks, offsets_of([len(block.tables) for block in blocks])[:-1], strict=True):
                chosen[id(block)] = number + same[start + block.table]
            number += len(first)
        tables = [np.zeros(0, dtype=np.int64), *(chosen[id(block)] for block in self.blocks)]
        return np.concatenate(pool), offsets_of(widths), np.concatenate(tables)


@dataclass(frozen=True)
class Building:
    """What one statement is built with: its factors have one name, and its tables have a limit.

    Costs are given as for a minimisation; a maximisation gets them negated.
    """

    blocks: Blocks
    name: str
    max_cells: int
    maximize: bool = False
    each: int | None = None
    """Cells that a factor counts for besides its table; by default a table counts as often as it is used."""
    start: tuple[int, int, int] = field(init=False)
    """Cells, factors and auxiliary variables of the blocks before."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", (self.blocks.cells, self.blocks.num_factors, len(self.blocks.auxiliary)))

    @property
    def taken(self) -> int:
        """What the statement counts for so far."""
        cells, factors, auxiliary = self.start
        counted = self.blocks.num_factors - factors + DEFINING * (len(self.blocks.auxiliary) - auxiliary)
        return self.blocks.cells - cells + (self.each or 0) * counted

    def check(self, cells: int, what: str) -> None:
        """Refuse tables that are too large, with those that there are, before they are made."""
        cells += self.taken
        if cells > self.max_cells:
            raise ProblemError(f"{what} needs tables of {cells:,} cells, more than {self.max_cells:,} (max_cells)")

    def add(self, scope: Sequence[int], costs: NDArray[np.float64], *, defines: bool = False) -> None:
        """Add a table over these variables, the last one fastest; one without costs is left out."""
        if defines or (costs != 0).any():
            self._append(np.array(scope, dtype=np.int64).reshape(1, -1), costs.reshape(1, -1), defines)

    def add_many(self, scopes: Indices, costs: NDArray[np.float64]) -> None:
        """Add one table over each of these scopes, [n, k]."""
        if len(scopes) and (costs != 0).any():
            self._append(scopes, costs.reshape(1, -1), defines=False)

    def define(self, parents: Sequence[int], values: Indices, size: int) -> int:
        """A new auxiliary variable that has ``values[parents]``; its number."""
        self.blocks.auxiliary.append(size)
        number = -len(self.blocks.auxiliary)
        table = np.full((*values.shape, size), np.inf)
        np.put_along_axis(table, values[..., None], 0.0, axis=-1)
        self.add((*parents, number), table, defines=True)
        return number

    def _append(self, scopes: Indices, costs: NDArray[np.float64], defines: bool) -> None:
        tables = 0.0 - costs if self.maximize else costs
        shared = np.zeros(len(scopes), dtype=np.int64)
        self.blocks.append(Block(scopes, tables, shared, [self.name] * len(scopes), defines))

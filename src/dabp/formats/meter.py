"""What reading one file may take: every limit of every reader, its number and its sentence, in one place.

A few bytes can declare terabytes: a table by its default cost, a domain by its size, a function by a keyword, a
compressed file by its repetitions. Each limit therefore grows with the file's own size, so that an honest large file is
read without asking. A file of some kilobytes takes some hundred megabytes at most. Two limits can be given, and the
others follow them: `max_bytes` and `max_cells`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dabp.errors import FormatError

Line = int | Callable[[], int] | None
"""A line, or how to find it if it is needed."""

MAX_BYTES = 2**28
"""Bytes after decompression by default."""

MAX_PLAIN_BYTES = 2**32
"""Bytes by default of a plain file whose format is read piece by piece: it takes as much on the disk."""

FREE_BYTES = 2**24
"""Bytes to which any compressed file may expand by default."""

MOST_TIMES = 200
"""A compressed file may expand beyond `FREE_BYTES` by default to this multiple of its own size."""

MIN_CELLS = 2**22
"""Table cells that any file may declare by default."""

FREE_CELLS = 2**24
"""Table cells that a file of a megabyte may declare by default; a larger file one per byte."""


def cells_for(size: int) -> int:
    """How many table cells a file of `size` bytes may declare by default."""
    return min(max(MIN_CELLS, 16 * size), max(FREE_CELLS, size))


@dataclass
class Meter:
    """Counts what one file declares, and refuses in one sentence what is more than its limit, before it is made.

    `size` is the file's in bytes, `given` the limit on cells if one was given.
    """

    name: str
    size: int
    given: int | None = None
    functions: bool = False
    """Whether the file is of a format whose functions of two variables by keyword have large tables."""
    cells: int = field(default=0, init=False)
    values: int = field(default=0, init=False)
    labels: int = field(default=0, init=False)
    factors: int = field(default=0, init=False)
    tokens: int = field(default=0, init=False)
    work: int = field(default=0, init=False)

    @property
    def max_cells(self) -> int:
        """The most cells of all tables together."""
        if self.given is not None:
            return self.given
        return max(FREE_CELLS, cells_for(self.size)) if self.functions else cells_for(self.size)

    @property
    def max_values(self) -> int:
        """The most values of all variables together, and the most labels of all different domains together."""
        return max(2**20, 4 * self.size) if self.given is None else self.given

    @property
    def max_factors(self) -> int:
        """The most cost functions."""
        return max(2**18, self.size, (self.given or 0) // 16)

    @property
    def max_tokens(self) -> int:
        """The most entries of a tree (YAML, XML), each of which takes hundreds of bytes and some microseconds."""
        return max(2**20, self.given or 0)

    @property
    def left(self) -> int:
        """How many more cells the limit allows."""
        return self.max_cells - self.cells

    def check_cells(self, cells: int, line: Line = None) -> None:
        """Refuse `cells` more than are counted."""
        self._check(self.cells + cells, self.max_cells, "its tables would have {} cells", line)

    def take_cells(self, cells: int, line: Line = None) -> None:
        """Count cells of tables."""
        self.cells += cells
        self.check_cells(0, line)

    def take_values(self, values: int, line: Line = None) -> None:
        """Count the values of a variable."""
        self.values += values
        self._check(self.values, self.max_values, "its variables would have {} values in all", line)

    def check_labels(self, labels: int, line: Line = None) -> None:
        """Refuse a domain with this number of labels, which may be one of those that are counted."""
        self._check(labels, self.max_values, "its domains would have {} values in all", line)

    def take_labels(self, labels: int, line: Line = None) -> None:
        """Count the labels of a domain that differs from all before."""
        self.labels += labels
        self.check_labels(self.labels, line)

    def take_factors(self, factors: int, line: Line = None) -> None:
        """Count cost functions against their limit."""
        self.factors += factors
        self._check(self.factors, self.max_factors, "it would have {} cost functions", line)

    def take_tokens(self, tokens: int, line: Line = None) -> None:
        """Count entries of a tree."""
        self.tokens += tokens
        self._check(self.tokens, self.max_tokens, "it has {} entries or more", line)

    def spend(self, steps: int, cells: int, line: Line = None) -> None:
        """Count the steps of evaluating an expression on a table; one of few cells takes as long as one of eight."""
        self.work += steps * max(8, cells)
        self._check(self.work, 16 * self.max_cells, "its expressions take too long: {} steps", line)

    def _check(self, count: int, limit: int, sentence: str, line: Line) -> None:
        if count > limit:
            size = len(str(count))
            shown = str(count) if size <= 15 else f"more than 10^{size - 1}" if size <= 300 else "endless"
            raise FormatError(
                f"{sentence.format(shown)}, more than the limit of {limit} for a file of this size; "
                "raise it with max_cells (--max-cells) if that is meant",
                source=self.name,
                line=line() if callable(line) else line,
            )


def too_long(name: str, max_bytes: int, how: str = "") -> FormatError:
    """The error for more bytes than may be."""
    return FormatError(
        f"it has more than {max_bytes} bytes{how}; raise the limit with max_bytes (--max-bytes) if that is meant",
        source=name,
    )

"""Graphical models of OpenGM 2 (HDF5: ``.h5``, ``.hdf5``), read with h5py; see docs/formats/opengm.md.

Explicit functions, Potts functions and absolute and squared differences, truncated or not, with costs that add up.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.draft import Draft
from dabp.formats.text import Source
from dabp.packages import require
from dabp.problem import Problem
from dabp.problem.problem import MOST_AXES

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_EXPLICIT = 16000


def _difference(shape: tuple[int, int]) -> Floats:
    steps: Floats = np.arange(shape[0], dtype=np.float64)[:, None] - np.arange(shape[1], dtype=np.float64)
    return np.abs(steps)


_TABLES: dict[int, tuple[int, Callable[[tuple[int, int], list[float]], Floats]]] = {
    16002: (1, lambda shape, p: p[0] * _difference(shape)),
    16003: (2, lambda shape, p: p[1] * np.minimum(_difference(shape), p[0])),
    16004: (1, lambda shape, p: p[0] * _difference(shape) ** 2),
    16005: (2, lambda shape, p: p[1] * np.minimum(_difference(shape) ** 2, p[0])),
    16006: (2, lambda shape, p: np.where(_difference(shape) == 0, p[0], p[1])),
}
"""Function type → how many numbers define it, and its table: differences (2 to 5), Potts (6)."""


def read(source: Source) -> Problem:
    """Parse an OpenGM file."""
    require("h5py", "reading OpenGM files")
    h5py: Any = importlib.import_module("h5py")
    try:
        with h5py.File(io.BytesIO(source.data), "r") as file:
            return _Reader(source, h5py, file).problem()
    except (OSError, RuntimeError, KeyError, TypeError, ValueError, OverflowError) as error:  # h5py on damaged files
        reason = " ".join(str(error).split())[:100]
        raise source.error(f"this is no HDF5 file that can be read ({reason})") from None


class _Reader:
    def __init__(self, source: Source, h5py: Any, file: Any):
        self.source, self.h5py = source, h5py
        self.group = self._model(file)
        self.draft = Draft(source)
        self.tables: dict[tuple[Any, ...], int] = {}
        self.numbers: list[list[tuple[int, tuple[int, ...]]]] = []  # per type and function: table and shape

    def _model(self, file: Any) -> Any:
        names = [name for name in file if self._plain(file, name) and "header" in file[name]]
        if len(names) != 1:
            raise self.source.error(f"a group with a 'header' was expected, as OpenGM writes it; {len(names)} found")
        return file[names[0]]

    def _plain(self, group: Any, name: str) -> bool:
        link = group.get(name, getlink=True)
        return isinstance(link, self.h5py.HardLink) and isinstance(group[name], self.h5py.Group)

    def _dataset(self, group: Any, name: str) -> NDArray[Any]:
        """The numbers of a dataset, which are in this file and not more than may be."""
        if not isinstance(group.get(name, getlink=True), self.h5py.HardLink):
            raise self.source.error(f"dataset {name!r} is missing, or in another file")
        found = group[name]
        inside = isinstance(found, self.h5py.Dataset) and not found.external and not found.is_virtual
        if not inside or found.dtype.kind not in "iuf":
            raise self.source.error(f"dataset {name!r} is no array of numbers in this file")
        self.source.meter.check_cells(int(found.size))
        return np.asarray(found[()]).ravel()

    def problem(self) -> Problem:
        header = self._dataset(self.group, "header").tolist()
        if len(header) < 5 or header[0] != 2 or len(header) not in (5 + 2 * header[4], 6 + 2 * header[4]):
            raise self.source.error("its header is not that of an OpenGM 2 model")
        for i, size in enumerate(self._dataset(self.group, "numbers-of-states").tolist()):
            self.draft.add_variable(f"x{i}", int(size))
        if len(self.draft.sizes) != header[2]:
            raise self.source.error(f"{header[2]} variables were announced, {len(self.draft.sizes)} found")
        for t in range(header[4]):
            self.numbers.append(self._functions(*map(int, header[5 + 2 * t : 7 + 2 * t])))
        self._factors(int(header[3]))
        return self.draft.problem(self.source.stem)

    def _functions(self, kind: int, count: int) -> list[tuple[int, tuple[int, ...]]]:
        if not count:
            return []
        if kind != _EXPLICIT and kind not in _TABLES:
            raise self.source.error(f"functions of OpenGM's type {kind} are not supported")
        name = f"function-id-{kind}"
        if name not in self.group or not self._plain(self.group, name):
            raise self.source.error(f"group {name!r} is missing")
        indices = self._dataset(self.group[name], "indices").tolist()
        values = self._dataset(self.group[name], "values").astype(np.float64)
        if count > len(indices):
            raise self.source.error(f"{count} functions were announced in {name!r}, it ends early")
        found, at, place = [], 0, 0
        for _ in range(count):
            if kind == _EXPLICIT:
                if at < len(indices) and not 0 <= indices[at] <= MOST_AXES:
                    raise self.source.error(f"a function has {indices[at]:g} variables; {MOST_AXES} is the most")
                shape = tuple(map(int, indices[at + 1 : at + 1 + int(indices[at])])) if at < len(indices) else ()
                at, cells = at + 1 + len(shape), int(np.prod(shape, dtype=object))
            else:
                shape, cells = tuple(map(int, indices[at : at + 2])), _TABLES[kind][0]
                at += 2
            if at > len(indices) or place + cells > len(values) or (kind != _EXPLICIT and len(shape) != 2):
                raise self.source.error(f"{count} functions were announced in {name!r}, it ends early")
            found.append((self._table(kind, shape, values[place : place + cells]), shape))
            place += cells
        return found

    def _table(self, kind: int, shape: tuple[int, ...], numbers: Floats) -> int:
        if kind == _EXPLICIT:  # the first variable is the fastest here
            return self.draft.add_table(numbers.reshape(shape, order="F") if len(shape) > 1 else numbers)
        parameters = numbers.tolist()
        key = (kind, shape, *parameters)
        if key not in self.tables:
            self.source.meter.check_cells(shape[0] * shape[1])
            self.tables[key] = self.draft.add_table(_TABLES[kind][1]((shape[0], shape[1]), parameters))
        return self.tables[key]

    def _factors(self, count: int) -> None:
        row = self._dataset(self.group, "factors").tolist() if count else []
        at = 0
        for f in range(count):
            if at + 3 > len(row) or not at + 3 <= at + 3 + row[at + 2] <= len(row):
                raise self.source.error(f"{count} factors were announced, they end early")
            function, kind, order = map(int, row[at : at + 3])
            scope = [int(one) for one in row[at + 3 : at + 3 + order]]
            at += 3 + order
            if not 0 <= kind < len(self.numbers) or not 0 <= function < len(self.numbers[kind]):
                raise self.source.error(f"factor {f} has a function that there is not")
            if any(not 0 <= one < len(self.draft.sizes) for one in scope):
                raise self.source.error(f"factor {f} names a variable outside 0..{len(self.draft.sizes) - 1}")
            self.draft.check_scope(scope)
            table, shape = self.numbers[kind][function]
            if tuple(self.draft.sizes[one] for one in scope) != shape:
                raise self.source.error(f"factor {f} has a function of other numbers of labels than its variables")
            self.draft.add_factor(scope, table)


def write(problem: Problem) -> tuple[Iterator[str], list[str]]:
    """Refuse: these files are read only."""
    raise FormatError("OpenGM files are only read; .uai and .cfn are written")

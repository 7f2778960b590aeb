"""Costs as people have them: by label from dictionaries and pandas, by position from NumPy and lists.

pandas is never imported here: its objects are known by the module that is loaded if there are any.
"""

from __future__ import annotations

import itertools
import math
import numbers
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.conversion import as_float, as_floats
from dabp.problem.names import label_place
from dabp.problem.views import Label

Costs = NDArray[np.float64]


def cost_table(
    cost: Any, names: Sequence[str], labels: Sequence[tuple[Label, ...]], default: float | None = None
) -> Costs:
    """The costs of all combinations of some variables' values in a row, the last variable fastest.

    Parameters
    ----------
    cost
        A dictionary of labels (for several variables tuples of labels, or dictionaries of dictionaries), a pandas
        Series or DataFrame with labels as index and columns, or an array or nested list by position.
    names, labels
        Of the variables.
    default
        What combinations cost that a dictionary or Series leaves out; None refuses these.
    """
    shape = tuple(map(len, labels))
    if isinstance(cost, np.ndarray) and cost.dtype == np.float64 and cost.shape == shape:
        return cost.flatten()  # the common case, many thousand times
    if _is_pandas(cost, "Series"):
        pairs = _of_series(cost, names)
    elif _is_pandas(cost, "DataFrame"):
        pairs = _of_frame(cost, names)
    elif isinstance(cost, Mapping):
        pairs = _of_mapping(cost, len(names))
    else:
        table = positional(cost, f"the costs over {tuple(names)}")
        if table.shape != shape:
            raise ProblemError(f"the cost table over {tuple(names)} needs shape {shape}, not {table.shape}")
        return table.ravel()
    return _by_label(pairs, names, labels, default)


def positional(cost: Any, what: str) -> Costs:
    """Numbers by position as an array of floats; what has labels of its own, or is no table of numbers, is refused."""
    if not isinstance(cost, np.ndarray | np.generic | list | tuple | range | numbers.Real):
        kind = type(cost).__name__
        raise ProblemError(
            f"{what} are a NumPy array or nested lists by position, a dictionary or pandas by label, not a {kind}"
        )
    return as_floats(cost, what)


def places_of(labels: tuple[Label, ...]) -> Callable[[Any], int | None]:
    """A function from a label to its place, None for what is none of them."""
    known: dict[Any, int] = {}
    for place, label in enumerate(labels):
        known.setdefault(label, place)

    def place_of(label: Any) -> int | None:
        try:
            return known.get(label) if len(known) == len(labels) else label_place(labels, label)
        except TypeError:  # it cannot be hashed, so it is no label
            return None

    return place_of


def _is_pandas(cost: Any, kind: str) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(cost, getattr(pandas, kind, ()))


def _of_series(series: Any, names: Sequence[str]) -> Iterator[tuple[Sequence[Any], Any]]:
    """Labels and costs; the levels of a MultiIndex may be in another order if they are named after the variables."""
    levels = series.index.nlevels
    if levels != len(names):
        raise ProblemError(f"a Series over {tuple(names)} needs an index of {len(names)} levels, it has {levels}")
    order = _order(series.index.names, names)
    _check_unique(series.index, "index")
    for key, cost in zip(series.index.tolist(), series.tolist(), strict=True):
        row = key if levels > 1 else (key,)
        yield [row[i] for i in order], cost


def _of_frame(frame: Any, names: Sequence[str]) -> Iterator[tuple[Sequence[Any], Any]]:
    """Labels and costs of a frame: rows are the first variable, unless the axes are named the other way around."""
    if len(names) != 2 or frame.index.nlevels != 1 or frame.columns.nlevels != 1:
        raise ProblemError(f"a DataFrame is a table over two variables; over {tuple(names)} use a Series (stack)")
    order = _order([frame.index.name, frame.columns.name], names)
    _check_unique(frame.index, "index")
    _check_unique(frame.columns, "columns")
    columns = frame.columns.tolist()
    for row, costs in zip(frame.index.tolist(), frame.to_numpy().tolist(), strict=True):
        for column, cost in zip(columns, costs, strict=True):
            both = row, column
            yield [both[i] for i in order], cost


def _order(given: Iterable[Any], names: Sequence[str]) -> list[int]:
    """The axis of each variable: by the names of axes if these are those of the variables, else in order."""
    axes = list(given)
    if sorted(map(str, axes)) == sorted(names):
        return [axes.index(name) for name in names]
    return list(range(len(names)))


def _check_unique(index: Any, what: str) -> None:
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise ProblemError(f"the {what} of the costs has {twice!r} twice")


def _of_mapping(costs: Mapping[Any, Any], arity: int) -> Iterator[tuple[Sequence[Any], Any]]:
    for key, cost in costs.items():
        if arity > 1 and isinstance(cost, Mapping):
            for rest, inner in _of_mapping(cost, arity - 1):
                yield [key, *rest], inner
        elif arity == 1:
            yield (key,), cost
        elif isinstance(key, tuple) and len(key) == arity:
            yield key, cost
        else:
            raise ProblemError(f"the key {key!r} does not name a value for each of {arity} variables")


def _by_label(
    pairs: Iterable[tuple[Sequence[Any], Any]],
    names: Sequence[str],
    labels: Sequence[tuple[Label, ...]],
    default: float | None,
) -> Costs:
    sizes = [len(row) for row in labels]
    table = np.full(math.prod(sizes), np.nan if default is None else as_float(default, "default"))
    given = np.zeros(len(table), dtype=np.bool_)
    places = [places_of(row) for row in labels]
    for key, cost in pairs:
        row = [place_of(label) for place_of, label in zip(places, key, strict=True)]
        if None in row:
            axis = row.index(None)
            raise ProblemError(f"the costs name {key[axis]!r}, which is no value of variable {names[axis]!r}")
        if isinstance(cost, bool | str) or not isinstance(cost, numbers.Real):
            raise ProblemError(f"the cost of {_shown(key)} is {cost!r}, not a number")
        cell = cell_of(cast("list[int]", row), sizes)
        if given[cell]:
            raise ProblemError(f"the costs have {_shown(key)} twice")
        table[cell], given[cell] = as_float(cost, f"the cost of {_shown(key)}"), True
    if default is None and not given.all():
        first = int(np.argmin(given))
        absent = next(itertools.islice(itertools.product(*labels), first, None))
        raise ProblemError(f"the costs over {tuple(names)} say nothing about {_shown(absent)}; default= gives the rest")
    return table


def cell_of(values: Sequence[int], sizes: Sequence[int]) -> int:
    """The place of a combination of values in a table with axes of these sizes, the last one fastest."""
    cell = 0
    for value, size in zip(values, sizes, strict=True):
        cell = cell * size + value
    return cell


def _shown(key: Sequence[Any]) -> str:
    return repr(key[0]) if len(key) == 1 else repr(tuple(key))

"""What variables, values and factors are called, and assignments by these names: a part of `Problem`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem.views import Label, Variable, Views

Assignment = NDArray[np.int64]
"""One value index per variable, in the order of `Problem.variables`."""


@functools.lru_cache(maxsize=1)
def _numbered(count: int) -> tuple[str, ...]:
    """What variables without names are called; the same for all problems of a stream."""
    return tuple(map("x".__add__, map(str, range(count))))


_WRITTEN = (str, int, float, np.generic)
"""Labels that files have words for; others are written as text."""


class Naming:
    """Names and labels, which only people and files need; `Problem` inherits it and makes the columns."""

    name: str
    domain_sizes: NDArray[np.int64]
    factor_table: NDArray[np.int64]
    _variable_names: tuple[str, ...] | None
    _factor_names: tuple[str, ...] | None
    _labels: tuple[tuple[Label, ...] | None, ...] | None
    _keys: tuple[Hashable, ...] | None
    num_visible: int
    completed: Callable[[Assignment], Assignment]

    def variable_name(self, index: int) -> str:
        """The name of one variable."""
        return f"x{index}" if self._variable_names is None else self._variable_names[index]

    @property
    def has_names(self) -> bool:
        """Whether variables were named, and are not just x0, x1, …."""
        return self._variable_names is not None

    @property
    def has_labels(self) -> bool:
        """Whether any variable's values have labels of their own."""
        return self._labels is not None

    @property
    def has_factor_names(self) -> bool:
        """Whether factors were named, and are not just f0, f1, …."""
        return self._factor_names is not None

    @property
    def variable_names(self) -> tuple[str, ...]:
        """All names, in order."""
        return _numbered(len(self.domain_sizes)) if self._variable_names is None else self._variable_names

    def labels(self, index: int) -> tuple[Label, ...]:
        """The value labels of one variable."""
        row = None if self._labels is None else self._labels[index]
        return tuple(range(int(self.domain_sizes[index]))) if row is None else row

    def factor_name(self, index: int) -> str:
        """The name of one factor."""
        return f"f{index}" if self._factor_names is None else self._factor_names[index]

    def factor_index(self, key: str | int) -> int:
        """The number of a factor by its name, or by its number."""
        if isinstance(key, str):
            try:
                index = self._factor_of_name[key]
            except KeyError:
                raise ProblemError(f"there is no cost function {key!r} in {self.name!r}") from None
            if index is None:
                raise ProblemError(f"several cost functions are named {key!r}; give the number of one")
            return index
        if isinstance(key, bool) or not isinstance(key, Integral) or not 0 <= key < len(self.factor_table):
            last = len(self.factor_table) - 1
            raise ProblemError(f"cost functions are numbered from 0 to {last}; there is no {key!r}")
        return int(key)

    @cached_property
    def _factor_of_name(self) -> dict[str, int | None]:
        """The factor of each name, None where several have it."""
        found: dict[str, int | None] = {}
        for index in range(len(self.factor_table)):
            name = self.factor_name(index)
            found[name] = None if name in found else index
        return found

    def variable(self, index: int) -> Variable:
        """One variable as a view."""
        return Variable(index, self.variable_name(index), self.labels(index))

    @property
    def variables(self) -> Views[Variable]:
        """Every variable, a view each, as a sequence."""
        return Views(range(len(self.domain_sizes)), self.variable)

    @property
    def keys(self) -> tuple[Hashable, ...] | None:
        """What answers in Python call the variables, where that is not their names."""
        return self._keys

    @cached_property
    def _index_of_name(self) -> dict[Hashable, int]:
        """Of every name and, before names, every key."""
        names: dict[Hashable, int] = {name: i for i, name in enumerate(self.variable_names)}
        return names if self._keys is None else {**names, **{key: i for i, key in enumerate(self._keys)}}

    def variable_index(self, name: Hashable) -> int:
        """The index of a variable by name, or by key."""
        try:
            return self._index_of_name[name]
        except (KeyError, TypeError):
            raise ProblemError(f"there is no variable {name!r} in {self.name!r}") from None

    def assignment(self, values: Mapping[Any, Label]) -> Assignment:
        """Value indices from a mapping of every variable's name to a label; auxiliary ones can be left out."""
        result = np.full(len(self.domain_sizes), -1, dtype=np.int64)
        for name, label in values.items():
            index = self.variable_index(name)
            result[index] = self.value_index(index, label)
        missing = np.flatnonzero(result[: self.num_visible] < 0)
        if len(missing):
            raise ProblemError(
                f"the assignment has no value for {self.variable_name(int(missing[0]))!r}"
                + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            )
        return self.completed(result) if (result < 0).any() else result

    def value_index(self, variable: int, label: Label) -> int:
        """The index of a label in a variable's domain; text is matched as the label is printed."""
        labels = self.labels(variable)
        found = label_place(labels, label)
        if found is not None:
            return found
        printed = [str(one) for one in labels]
        if str(label) in printed:
            return printed.index(str(label))
        shown = ", ".join(printed[:8]) + (", …" if len(printed) > 8 else "")
        raise ProblemError(f"variable {self.variable_name(variable)!r} has no value {label!r}; it takes {shown}")

    def labelled(self, assignment: Mapping[Any, Label] | ArrayLike) -> dict[Any, Label]:
        """Variable → value label, for people: by key where there are keys, else by name; no auxiliary variables."""
        return self._by(self.variable_names if self._keys is None else self._keys, assignment)

    def named(self, assignment: Mapping[Any, Label] | ArrayLike) -> dict[str, Label]:
        """Variable name → value label, for files; no auxiliary variables."""
        labels = self._by(self.variable_names, assignment)
        return {name: one if isinstance(one, _WRITTEN) else str(one) for name, one in labels.items()}

    def _of_pandas(self, assignment: Any) -> Any:
        """A Series by its labels, which are names or keys of variables, unless it is just numbered; others as given."""
        if isinstance(assignment, _loaded("DataFrame")):
            raise ProblemError("an assignment is no DataFrame: give a row of it as a dictionary, or value indices")
        if not isinstance(assignment, _loaded("Series")):
            return assignment
        numbered = self._keys is None and assignment.index.tolist() == list(range(len(assignment)))
        return assignment.to_numpy() if numbered else assignment.to_dict()

    def _by(self, names: Sequence[Any], assignment: Mapping[Any, Label] | ArrayLike) -> dict[Any, Label]:
        """Name or key → value label of the visible variables."""
        taken = self.checked(assignment)[: self.num_visible].tolist()
        if self._labels is None:
            return dict(zip(names, taken, strict=False))
        rows = zip(names, self._labels, taken, strict=False)
        return {name: value if row is None else row[value] for name, row, value in rows}

    def checked(self, assignment: Mapping[Any, Label] | ArrayLike) -> Assignment:
        """The value indices of an assignment [N], or of a batch [..., N]; refused if they are outside their domains.

        Labels by name are looked up, and auxiliary variables that are left out, [..., V], are completed.
        """
        if type(assignment) is np.ndarray and self._within(assignment):
            return assignment
        given = self._of_pandas(assignment)
        if isinstance(given, Mapping):
            return self.assignment(given)
        values = np.asarray(given)
        if values.dtype.kind not in "iu" and not (
            values.size == 0 or (values.dtype.kind == "f" and np.all(values == np.rint(values)))
        ):
            raise ProblemError("an assignment is an array of value indices (integers)")
        values = values.astype(np.int64, copy=False)
        count, seen = len(self.domain_sizes), self.num_visible
        if values.shape[-1:] not in ((count,), (seen,)):
            raise ProblemError(f"an assignment has one value per variable: {seen} expected, shape {values.shape} found")
        sizes = self.domain_sizes[: values.shape[-1]]
        if values.size and ((values < 0) | (values >= sizes)).any():
            bad = int(np.argwhere((values < 0) | (values >= sizes))[0][-1])
            raise ProblemError(
                f"variable {self.variable_name(bad)!r} has values 0..{self.domain_sizes[bad] - 1}, "
                "the assignment is outside"
            )
        return values if values.shape[-1:] == (count,) else self.completed(values)

    def _within(self, values: NDArray[Any]) -> bool:
        """Whether this is just what an assignment should be: solvers ask for thousands."""
        sizes = self.domain_sizes
        if values.dtype != sizes.dtype or values.shape != sizes.shape:
            return False
        return not np.any(values.view(np.uint64) >= sizes.view(np.uint64))  # what is negative is large there


def _loaded(name: str) -> Any:
    """A class of pandas, which is never imported here; of nothing if nobody has."""
    return getattr(sys.modules.get("pandas"), name, ())


def label_place(labels: tuple[Label, ...], label: Label) -> int | None:
    """Where a label stands: first one of its own kind, as True, 1 and 1.0 are equal; None if it does not."""
    if label not in labels:
        return None
    place = labels.index(label)
    if type(labels[place]) is type(label):
        return place
    kin = (i for i, one in enumerate(labels) if type(one) is type(label) and one == label)
    return next(kin, place)

"""What variables, values and factors are called, and assignments by these names: a part of `Problem`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem.views import Label, Variable

Assignment = NDArray[np.int64]
"""One value index per variable, in the order of `Problem.variables`."""


class Naming:
    """Names and labels, which only people and files need; `Problem` inherits it and makes the columns."""

    name: str
    domain_sizes: NDArray[np.int64]
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
    def variable_names(self) -> tuple[str, ...]:
        """All names, in order."""
        if self._variable_names is not None:
            return self._variable_names
        return tuple(f"x{i}" for i in range(len(self.domain_sizes)))

    def labels(self, index: int) -> tuple[Label, ...]:
        """The value labels of one variable."""
        row = None if self._labels is None else self._labels[index]
        return tuple(range(int(self.domain_sizes[index]))) if row is None else row

    def factor_name(self, index: int) -> str:
        """The name of one factor."""
        return f"f{index}" if self._factor_names is None else self._factor_names[index]

    def variable(self, index: int) -> Variable:
        """One variable as a view."""
        return Variable(index, self.variable_name(index), self.labels(index))

    @property
    def variables(self) -> Iterator[Variable]:
        """Every variable, one view at a time."""
        return (self.variable(i) for i in range(len(self.domain_sizes)))

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
        values = self.checked(assignment)[: self.num_visible].tolist()
        keys = self.variable_names if self._keys is None else self._keys
        return {keys[i]: self.labels(i)[v] for i, v in enumerate(values)}

    def named(self, assignment: Mapping[Any, Label] | ArrayLike) -> dict[str, Label]:
        """Variable name → value label, for files; no auxiliary variables."""
        values = self.checked(assignment)[: self.num_visible].tolist()
        return {self.variable_name(i): self.labels(i)[v] for i, v in enumerate(values)}

    def checked(self, assignment: Mapping[Any, Label] | ArrayLike) -> Assignment:
        """The value indices of an assignment [N], or of a batch [..., N]; refused if they are outside their domains.

        Labels by name are looked up, and auxiliary variables that are left out, [..., V], are completed.
        """
        if isinstance(assignment, Mapping):
            return self.assignment(assignment)
        values = np.asarray(assignment)
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


def label_place(labels: tuple[Label, ...], label: Label) -> int | None:
    """Where a label stands: first one of its own kind, as True, 1 and 1.0 are equal; None if it does not."""
    if label not in labels:
        return None
    place = labels.index(label)
    if type(labels[place]) is type(label):
        return place
    kin = (i for i, one in enumerate(labels) if type(one) is type(label) and one == label)
    return next(kin, place)

"""What variables, values and factors are called, and assignments by these names."""

from __future__ import annotations

import functools
import sys
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.errors import ProblemError
from dabp.problem.auxiliaries import Auxiliaries
from dabp.problem.conversion import as_integers
from dabp.problem.facts import Columns
from dabp.problem.views import Label

Assignment = NDArray[np.int64]
"""One value index per variable, in the order of `Problem.variables`."""


@functools.lru_cache(maxsize=1)
def _numbered(count: int) -> tuple[str, ...]:
    """Default names of variables; problems of one size share them."""
    return tuple(map("x".__add__, map(str, range(count))))


class Names:
    """Names and labels of a problem, with the lookups by them.

    Attributes
    ----------
    problem_name
        What the problem is called.
    variable_names, factor_names, value_labels
        As they were given to the `Problem`, None for none: `variables`, `factor` and `labels` fill the gaps.
    keys
        What answers in Python call the variables where that is not their names; None for none.
    """

    def __init__(
        self,
        problem_name: str,
        variable_names: Sequence[str] | None,
        factor_names: Sequence[str] | None,
        value_labels: Sequence[tuple[Label, ...] | None] | None,
        keys: Sequence[Hashable] | None,
        columns: Columns,
        auxiliaries: Auxiliaries,
    ):
        self.problem_name = problem_name
        self.variable_names = None if variable_names is None else tuple(variable_names)
        self.factor_names = None if factor_names is None else tuple(factor_names)
        no_labels = value_labels is None or all(row is None for row in value_labels)
        self.value_labels = None if value_labels is None or no_labels else tuple(value_labels)
        self.keys = None if keys is None else tuple(keys)
        self._auxiliaries, self._domain_sizes = auxiliaries, columns.domain_sizes
        self._num_factors = len(columns.factor_table)

    def variable(self, index: int) -> str:
        """The name of one variable, ``x0``, ``x1``, … by default."""
        return f"x{index}" if self.variable_names is None else self.variable_names[index]

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all variables, in order."""
        return _numbered(len(self._domain_sizes)) if self.variable_names is None else self.variable_names

    def labels(self, index: int) -> tuple[Label, ...]:
        """The value labels of one variable, 0, 1, … by default."""
        row = None if self.value_labels is None else self.value_labels[index]
        return tuple(range(int(self._domain_sizes[index]))) if row is None else row

    def factor(self, index: int) -> str:
        """The name of one factor, ``f0``, ``f1``, … by default."""
        return f"f{index}" if self.factor_names is None else self.factor_names[index]

    def factor_index(self, key: str | int) -> int:
        """The number of a factor by its name, or by its number."""
        if isinstance(key, str):
            try:
                index = self._factor_of_name[key]
            except KeyError:
                raise ProblemError(f"there is no cost function {key!r} in {self.problem_name!r}") from None
            if index is None:
                raise ProblemError(f"several cost functions are named {key!r}; give the number of one")
            return index
        if isinstance(key, bool) or not isinstance(key, Integral) or not 0 <= key < self._num_factors:
            last = self._num_factors - 1
            raise ProblemError(f"cost functions are numbered from 0 to {last}; there is no {key!r}")
        return int(key)

    @cached_property
    def _factor_of_name(self) -> dict[str, int | None]:
        """The factor of each name, None where several have it."""
        found: dict[str, int | None] = {}
        for index in range(self._num_factors):
            name = self.factor(index)
            found[name] = None if name in found else index
        return found

    @cached_property
    def _index_of_name(self) -> dict[Hashable, int]:
        """The variable of every key and name; keys come first."""
        names: dict[Hashable, int] = {name: i for i, name in enumerate(self.variables)}
        return names if self.keys is None else {**names, **{key: i for i, key in enumerate(self.keys)}}

    def variable_index(self, name: Hashable) -> int:
        """The index of a variable by name, or by key."""
        try:
            return self._index_of_name[name]
        except (KeyError, TypeError):
            raise ProblemError(f"there is no variable {name!r} in {self.problem_name!r}") from None

    def assignment(self, values: Mapping[Any, Label]) -> Assignment:
        """Value indices from a mapping of every variable's name to a label; auxiliary ones can be left out."""
        result = np.full(len(self._domain_sizes), -1, dtype=np.int64)
        for name, label in values.items():
            index = self.variable_index(name)
            result[index] = self.value_index(index, label)
        missing = np.flatnonzero(result[: self._auxiliaries.num_visible] < 0)
        if len(missing):
            raise ProblemError(
                f"the assignment has no value for {self.variable(int(missing[0]))!r}"
                + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            )
        return self._auxiliaries.completed(result) if (result < 0).any() else result

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
        raise ProblemError(f"variable {self.variable(variable)!r} has no value {label!r}; it takes {shown}")

    def labelled(self, assignment: Mapping[Any, Label] | ArrayLike) -> dict[Any, Label]:
        """Variable → value label, for people: by key where there are keys, else by name; no auxiliary variables."""
        return self._by(self.variables if self.keys is None else self.keys, assignment)

    def named(self, assignment: Mapping[Any, Label] | ArrayLike) -> dict[str, Label]:
        """Variable name → value label, for files; no auxiliary variables."""
        labels = self._by(self.variables, assignment)
        return {
            name: one if isinstance(one, str | int | float | np.generic) else str(one) for name, one in labels.items()
        }

    def _of_pandas(self, assignment: Any) -> Any:
        """A Series by its labels, which are names or keys of variables, unless its index is 0, 1, …; else as given."""
        if isinstance(assignment, _loaded("DataFrame")):
            raise ProblemError("an assignment is no DataFrame: give a row of it as a dictionary, or value indices")
        if not isinstance(assignment, _loaded("Series")):
            return assignment
        numbered = self.keys is None and assignment.index.tolist() == list(range(len(assignment)))
        return assignment.to_numpy() if numbered else assignment.to_dict()

    def _by(self, names: Sequence[Any], assignment: Mapping[Any, Label] | ArrayLike) -> dict[Any, Label]:
        """Name or key → value label of the visible variables."""
        taken = self.checked(assignment)[: self._auxiliaries.num_visible].tolist()
        if self.value_labels is None:
            return dict(zip(names, taken, strict=False))
        rows = zip(names, self.value_labels, taken, strict=False)
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
        values = as_integers(given, "value indices of an assignment")
        count, seen = len(self._domain_sizes), self._auxiliaries.num_visible
        if values.shape[-1:] not in ((count,), (seen,)):
            raise ProblemError(f"an assignment has one value per variable: {seen} expected, shape {values.shape} found")
        sizes = self._domain_sizes[: values.shape[-1]]
        if values.size and ((values < 0) | (values >= sizes)).any():
            bad = int(np.argwhere((values < 0) | (values >= sizes))[0][-1])
            raise ProblemError(
                f"variable {self.variable(bad)!r} has values 0..{self._domain_sizes[bad] - 1}, "
                "the assignment is outside"
            )
        return values if values.shape[-1:] == (count,) else self._auxiliaries.completed(values)

    def _within(self, values: NDArray[Any]) -> bool:
        """Whether an array is an assignment as it stands: a fast check for calls of solvers."""
        sizes = self._domain_sizes
        if values.dtype != sizes.dtype or values.shape != sizes.shape:
            return False
        return not np.any(values.view(np.uint64) >= sizes.view(np.uint64))  # what is negative is large there


def _loaded(name: str) -> Any:
    """A class of pandas if pandas is loaded; an empty tuple otherwise."""
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

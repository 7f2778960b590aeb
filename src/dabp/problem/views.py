"""Light views of a problem: one variable, one factor, one line of an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

Label = str | int | float
"""What a value is called: a name from a file, a number, or its index when nothing else was given."""

View = TypeVar("View")


class Views(Sequence[View]):
    """Variables or factors as a sequence that can be counted, indexed and sliced; each view is made when asked for."""

    def __init__(self, indices: range, view: Callable[[int], View]):
        self._indices, self._view = indices, view

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, key: int) -> View: ...

    @overload
    def __getitem__(self, key: slice) -> Views[View]: ...

    def __getitem__(self, key: int | slice) -> View | Views[View]:
        chosen = self._indices[key]
        return Views(chosen, self._view) if isinstance(chosen, range) else self._view(chosen)

    def __iter__(self) -> Iterator[View]:
        return map(self._view, self._indices)

    def __repr__(self) -> str:
        rest = len(self) - 6
        lines = [f"  {view!r}" for view in self[:6]]
        return "\n".join(["[", *(f"{line}," for line in lines), *([f"  … and {rest:,} more"] if rest > 0 else []), "]"])


@dataclass(frozen=True)
class Variable:
    """One variable of a problem, seen from outside."""

    index: int
    name: str
    labels: tuple[Label, ...]

    @property
    def domain_size(self) -> int:
        """How many values it can take."""
        return len(self.labels)


@dataclass(frozen=True)
class Factor:
    """One cost function of a problem, seen from outside; `table` has an axis per variable of `scope`."""

    index: int
    name: str
    scope: tuple[int, ...]
    table: NDArray[np.float64]

    @property
    def arity(self) -> int:
        """How many variables it looks at."""
        return len(self.scope)


@dataclass(frozen=True)
class FactorCost:
    """A line of `Problem.explain`: what one factor costs under an assignment."""

    factor: int
    name: str
    scope: tuple[str, ...]
    values: tuple[Label, ...]
    cost: float
    violated: bool

"""Light views of a problem: one variable, one factor, one line of an explanation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Label = str | int | float
"""What a value is called: a name from a file, a number, or its index when nothing else was given."""


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


@dataclass(frozen=True)
class ArityGroup:
    """The factors of one arity k: `variables` and `strides` [n, k], `bases` [n] into the pool."""

    factors: NDArray[np.int64]
    variables: NDArray[np.int64]
    strides: NDArray[np.int64]
    bases: NDArray[np.int64]

"""What Algorithm 1 needs of a way to compute iterations and gradients: `compiled` and `plain` are the two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.solvers.dabp.parameters import Parameters

Array = NDArray[np.floating]


class Messages(NamedTuple):
    """What passes from one window to the next; no gradient flows through it."""

    v2f: Array
    """[E, D], zero beyond a domain."""
    hidden_v2f: Array
    """States of the GRU that reads v2f messages, [E, 8]."""
    hidden_f2v: Array


class Iteration(NamedTuple):
    """What Algorithm 1 reads of one iteration."""

    beliefs: Array
    """Of the variables' values from this iteration's f2v messages, [N, D], infinite beyond a domain."""
    change: float
    """The largest change of a v2f message; not below any number if a message is not finite."""


class Unrolled(ABC):
    """The iterations of one window with fixed parameters, and the gradient of their loss."""

    @abstractmethod
    def iterate(self, infers: bool) -> Iteration:
        """One iteration. The network infers λ and w if `infers`, as in the first; otherwise the last are used again."""

    @abstractmethod
    def messages(self) -> Messages:
        """What the last iteration left for the next."""

    @abstractmethod
    def loss(self, effective: list[int]) -> float:
        """The mean loss of these iterations (Eq. 16)."""

    @abstractmethod
    def gradient(self) -> Parameters:
        """Of the loss last computed with respect to every parameter."""

    @abstractmethod
    def learned(self) -> tuple[Array, float, float]:
        """Of the last iteration: λ of the edges whose variable has several factors, least and largest w × (d − 1).

        The latter are (1, 1) if no variable has two factors.
        """


class Backend(ABC):
    """Unrolls the windows of one factor graph."""

    @abstractmethod
    def window(self, parameters: Parameters, messages: Messages, learns: bool) -> Unrolled:
        """Start a window; only a window that learns has a gradient."""

    def close(self) -> None:  # noqa: B027 - optional
        """Release threads and memory."""

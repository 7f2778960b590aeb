"""The forward pass as a list: each operation appends how it pushes gradients back; the backward pass reverses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


class Value:
    """An array of the forward pass and, during the backward pass, the gradient of the loss with respect to it."""

    __slots__ = ("array", "constant", "gradient")

    def __init__(self, array: Array, constant: bool = False):
        self.array, self.constant = array, constant
        self.gradient: Array | None = None

    def receive(self, gradient: Array) -> None:
        """Add a gradient; the array belongs to this value from now on. Constants drop it."""
        if self.constant:
            return
        if self.gradient is None:
            self.gradient = gradient
        else:
            self.gradient += gradient


class Tape:
    """The operations of a window in their order; one that does not record keeps nothing."""

    def __init__(self, records: bool = True):
        self.records = records
        self._steps: list[tuple[Callable[..., None], tuple[Value, ...]]] = []

    def append(self, push: Callable[..., None], *results: Value) -> None:
        """Record an operation: `push` takes the gradient of each result (None without one) to its inputs."""
        if self.records and not all(result.constant for result in results):
            self._steps.append((push, results))

    def backward(self) -> None:
        """Push gradients from the last operation to the first; each step is forgotten when it is done."""
        while self._steps:
            push, results = self._steps.pop()
            gradients: list[Any] = [result.gradient for result in results]
            for result in results:
                result.gradient = None
            if any(gradient is not None for gradient in gradients):
                push(*gradients)

    def clear(self) -> None:
        """Forget all operations, and the arrays that they keep."""
        self._steps.clear()

"""AdamW on a flat vector of parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BETA1 = 0.9
BETA2 = 0.999
EPSILON = 1e-8


class AdamW:
    """Adam with decoupled weight decay.

    θ ← θ (1 − η·decay) − η m̂ / (√v̂ + ε), with the bias-corrected running means m̂ of gradients and v̂ of their squares.
    """

    def __init__(self, count: int, dtype: np.dtype[np.floating], learning_rate: float, weight_decay: float):
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.mean = np.zeros(count, dtype)
        self.square = np.zeros(count, dtype)
        self.steps = 0

    def step(self, theta: NDArray[np.floating], gradient: NDArray[np.floating]) -> bool:
        """Update θ in place.

        If the gradient, or what would follow from it, is not finite, everything stays as it was and the result is
        false.
        """
        steps = self.steps + 1
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.mean + (1 - BETA1) * (gradient - self.mean)
            square = BETA2 * self.square + (1 - BETA2) * gradient * gradient
            scale = np.sqrt(square) / (1 - BETA2**steps) ** 0.5 + EPSILON
            moved = theta * (1 - self.learning_rate * self.weight_decay)
            moved -= self.learning_rate / (1 - BETA1**steps) * mean / scale
        if not all(np.isfinite(one).all() for one in (mean, square, moved)):
            return False
        theta[...], self.mean[...], self.square[...] = moved, mean, square
        self.steps = steps
        return True

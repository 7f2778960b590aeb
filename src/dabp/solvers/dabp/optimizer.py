"""AdamW, as in PyTorch; its own few lines because torch.optim loads PyTorch's compiler at the first step."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class AdamW:
    """Adam with decoupled weight decay on named parameters.

    θ ← θ (1 − η·decay) − η m̂ / (√v̂ + ε), with the bias-corrected running means m̂ of gradients and v̂ of their squares.
    """

    def __init__(self, parameters: Mapping[str, Tensor], learning_rate: float, weight_decay: float):
        self.parameters = dict(parameters)
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.mean = {name: torch.zeros_like(value) for name, value in self.parameters.items()}
        self.square = {name: torch.zeros_like(value) for name, value in self.parameters.items()}
        self.steps = 0

    @torch.no_grad()
    def step(self) -> bool:
        """Update the parameters from their gradients, and clear these.

        If a gradient, or what would follow from it, is not finite, everything stays as it was and the answer is false.
        """
        before = [tensor.clone() for tensor in self._state()]
        self._advance()
        if all(bool(tensor.isfinite().all()) for tensor in self._state()):
            return True
        for tensor, value in zip(self._state(), before, strict=True):
            tensor.copy_(value)
        self.steps -= 1
        return False

    def _state(self) -> list[Tensor]:
        return [*self.parameters.values(), *self.mean.values(), *self.square.values()]

    def _advance(self) -> None:
        self.steps += 1
        first, second = 1 - BETA1**self.steps, 1 - BETA2**self.steps
        for name, parameter in self.parameters.items():
            gradient = parameter.grad
            if gradient is None:
                continue
            parameter.grad = None
            mean, square = self.mean[name], self.square[name]
            parameter.mul_(1 - self.learning_rate * self.weight_decay)
            mean.lerp_(gradient, 1 - BETA1)
            square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            scale = (square.sqrt() / second**0.5).add_(EPSILON)
            parameter.addcdiv_(mean, scale, value=-self.learning_rate / first)

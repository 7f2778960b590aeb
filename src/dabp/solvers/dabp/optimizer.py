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
        before = self._flat()
        self._advance()
        if bool(self._flat().isfinite().all()):
            return True
        sizes = [tensor.numel() for tensor in self._state()]
        for tensor, values in zip(self._state(), torch.split(before, sizes), strict=True):
            tensor.copy_(values.view_as(tensor))
        self.steps -= 1
        return False

    def _state(self) -> list[Tensor]:
        return [*self.parameters.values(), *self.mean.values(), *self.square.values()]

    def _flat(self) -> Tensor:
        """All numbers of the state: one copy, as each operation of PyTorch on a small tensor costs the same."""
        return torch.cat([tensor.reshape(-1) for tensor in self._state()])

    def _advance(self) -> None:
        self.steps += 1
        first, second = 1 - BETA1**self.steps, 1 - BETA2**self.steps
        moved = {name: parameter for name, parameter in self.parameters.items() if parameter.grad is not None}
        if not moved:
            return
        parameters, gradients = list(moved.values()), [one.grad for one in moved.values() if one.grad is not None]
        means, squares = [self.mean[name] for name in moved], [self.square[name] for name in moved]
        torch._foreach_mul_(parameters, 1 - self.learning_rate * self.weight_decay)
        torch._foreach_lerp_(means, gradients, 1 - BETA1)
        torch._foreach_mul_(squares, BETA2)
        torch._foreach_addcmul_(squares, gradients, gradients, value=1 - BETA2)
        scales = torch._foreach_sqrt(squares)
        torch._foreach_div_(scales, second**0.5)
        torch._foreach_add_(scales, EPSILON)
        torch._foreach_addcdiv_(parameters, means, scales, value=-self.learning_rate / first)
        for parameter in parameters:
            parameter.grad = None

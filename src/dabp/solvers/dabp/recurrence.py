"""GRU cells with a backward pass of their own: a third of the operations that autograd would keep and run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Cell = tuple[Tensor, Tensor, Tensor, Tensor]
"""Matrices of input and state [3U, D], [3U, U], and their biases [3U]; gates in the order r, z, n, as in PyTorch."""


def gru(cell: Cell, inputs: Tensor, state: Tensor) -> Tensor:
    """The next state, [E, D], [E, U] → [E, U]; no gradient flows to the inputs.

    r = σ(i_r + h_r), z = σ(i_z + h_z), n = tanh(i_n + r h_n), new = (1 − z) n + z × state; i and h are what the two
    matrices make of inputs and state.
    """
    result: Tensor = _Recurrence.apply(inputs.detach(), state, *cell)  # type: ignore[no-untyped-call]
    return result


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        state: Tensor,
        weight_input: Tensor,
        weight_state: Tensor,
        bias_input: Tensor,
        bias_state: Tensor,
    ) -> Tensor:
        units = state.shape[1]
        of_input = torch.addmm(bias_input, inputs, weight_input.T)
        of_state = torch.addmm(bias_state, state, weight_state.T)
        gates = torch.add(of_input[:, : 2 * units], of_state[:, : 2 * units]).sigmoid_()
        new = torch.addcmul(of_input[:, 2 * units :], gates[:, :units], of_state[:, 2 * units :]).tanh_()
        ctx.save_for_backward(inputs, state, weight_state, of_state, gates, new)
        return torch.lerp(new, state, gates[:, units:])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        inputs, state, weight_state, of_state, gates, new = ctx.saved_tensors
        units = state.shape[1]
        through = gradient * gates[:, units:]
        of_new = torch.ops.aten.tanh_backward(gradient - through, new)
        of_gates = torch.cat([of_new * of_state[:, 2 * units :], gradient * (state - new)], 1)
        of_gates = torch.ops.aten.sigmoid_backward(of_gates, gates)
        grad_input = torch.cat([of_gates, of_new], 1)
        grad_state = torch.cat([of_gates, of_new * gates[:, :units]], 1)
        grad_weights = grad_input.T @ inputs, grad_state.T @ state
        return None, through.addmm_(grad_state, weight_state), *grad_weights, grad_input.sum(0), grad_state.sum(0)

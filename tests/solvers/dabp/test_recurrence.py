"""The GRU cells are PyTorch's."""

from __future__ import annotations

import torch

from dabp.solvers.dabp.recurrence import gru


def test_recurrence_equals_pytorch() -> None:
    """Our GRU is PyTorch's, in values and gradients, except that none flows to the inputs."""
    source = torch.Generator().manual_seed(6)
    cell = torch.nn.GRUCell(5, 8).double()
    inputs, state = (torch.randn(7, n, dtype=torch.float64, generator=source).requires_grad_() for n in (5, 8))
    parameters = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    ours, theirs = gru(parameters, inputs, state), cell(inputs, state)
    torch.testing.assert_close(ours, theirs)
    wanted = [state, *parameters]
    for mine, other in zip(
        torch.autograd.grad(ours.sin().sum(), wanted), torch.autograd.grad(theirs.sin().sum(), wanted), strict=True
    ):
        torch.testing.assert_close(mine, other)
    assert torch.autograd.grad(gru(parameters, inputs, state).sum(), inputs, allow_unused=True) == (None,)

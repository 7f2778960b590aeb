"""The compiled cell of gated units is PyTorch's, forwards and backwards."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.attention.dense import ROWS, blocks_of
from dabp.kernels.attention.gated_units import GATES, HIDDEN, Columns, advance, advance_backward


@pytest.mark.parametrize("rows", [1, 70, ROWS + 3])
@pytest.mark.parametrize("width", [1, 5, 16])
def test_equals_pytorch(rows: int, width: int) -> None:
    """Any number of rows and inputs; gates far from zero too."""
    source = torch.Generator().manual_seed(rows + width)
    cell = torch.nn.GRUCell(width, HIDDEN).double()
    x, state, given = (3 * torch.randn(rows, n, dtype=torch.float64, generator=source) for n in (width, HIDDEN, HIDDEN))
    state.requires_grad_()
    expected = cell(x, state)
    expected.backward(given)
    parameters = [one.detach() for one in (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)]
    columns = Columns(*(np.ascontiguousarray(one.numpy().T) for one in parameters))
    arrays = x.numpy(), state.detach().numpy()
    new, grad_state = np.full((rows, HIDDEN), np.nan), np.full((rows, HIDDEN), np.nan)
    advance(0, blocks_of(rows), columns, *arrays, new)
    np.testing.assert_allclose(new, expected.detach(), atol=1e-13)
    sums = np.full((blocks_of(rows), width + HIDDEN + 2, GATES), np.nan)
    advance_backward(0, blocks_of(rows), columns, parameters[1].numpy(), *arrays, given.numpy(), grad_state, sums)
    np.testing.assert_allclose(grad_state, state.grad, atol=1e-12)
    of_inputs, of_bias, of_state, of_state_bias = np.split(sums.sum(0), [width, width + 1, width + HIDDEN + 1])
    for made, parameter in (
        (of_inputs.T, cell.weight_ih),
        (of_bias[0], cell.bias_ih),
        (of_state.T, cell.weight_hh),
        (of_state_bias[0], cell.bias_hh),
    ):
        np.testing.assert_allclose(made, parameter.grad, atol=1e-11)


def test_single_precision_is_accurate() -> None:
    """And saturated gates neither overflow nor become anything but numbers."""
    rng = np.random.default_rng(1)
    x, state = (rng.normal(size=(90, n)).astype(np.float32) for n in (3, HIDDEN))
    x[0] = 1e4
    sizes = (3, GATES), (HIDDEN, GATES), (GATES,), (GATES,)
    columns = Columns(*(rng.normal(size=size).astype(np.float32) for size in sizes))
    new, exact = np.empty_like(state), np.empty(state.shape)
    advance(0, 1, columns, x, state, new)
    advance(0, 1, Columns(*(one.astype(float) for one in columns)), x.astype(float), state.astype(float), exact)
    np.testing.assert_allclose(new, exact, atol=2e-6)

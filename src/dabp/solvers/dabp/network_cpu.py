"""The network's operations with compiled kernels: GRU cells, GAT layers, products of rows with a small matrix.

Only inputs and results are kept for the backward pass; gates, scores and projections are made again. Sums over rows
are made in blocks of a fixed size, so that results do not depend on the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from dabp.kernels.attention import dense, gated_units, hub_attention
from dabp.kernels.attention.gated_units import GATES, UNITS
from dabp.kernels.attention.hub_attention import HEADS, Given, Shape
from dabp.kernels.attention.one_variable import BLOCK
from dabp.solvers.dabp.backend import ATTENTION_SLOPE, OUTPUT_SLOPE, Layer
from dabp.solvers.dabp.recurrence import Cell
from dabp.solvers.dabp.sharing import Job
from dabp.solvers.dabp.structure import arrays

if TYPE_CHECKING:
    from dabp.solvers.dabp.backend_cpu import CpuBackend

PRODUCTS = 0.012
"""Nanoseconds of a multiplication and addition, in vectors."""
GATE_NANOSECONDS = 20.0
"""Of the units of a row, besides products."""


def padded(matrix: Tensor) -> Tensor:
    """Zero columns up to whole vectors, which kernels want."""
    missing = -matrix.shape[1] % BLOCK
    return pad(matrix, (0, missing)) if missing else matrix


class Join(torch.autograd.Function):
    """Rows one below the other."""

    @staticmethod
    def forward(ctx: Any, backend: CpuBackend, *parts: Tensor) -> Tensor:
        """The operation itself."""
        ctx.rows = [len(part) for part in parts]
        result = backend.pool.empty((sum(ctx.rows), parts[0].shape[1]), parts[0])
        return torch.cat(parts, out=result)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Gradients of its tensors."""
        return None, *torch.split(gradient, ctx.rows)


class Attend(torch.autograd.Function):
    """See `Backend.attend`; columns are whole vectors."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, matrix: Tensor, bias: Tensor, count: int, backend: CpuBackend) -> Tensor:
        """The operation itself."""
        layer = Layer(matrix, bias)
        result = backend.pool.empty((count, len(bias)), features)
        attended(backend, features, layer, result)
        ctx.save_for_backward(features, *layer, result)
        ctx.backend = backend
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Gradients of its tensors."""
        features, matrix, bias, result = ctx.saved_tensors
        layer, backend = Layer(matrix, bias), ctx.backend
        nodes = _projected(backend, features, layer)
        gradients = backend.buffer("gradients", nodes.shape, nodes)
        _clear(backend, gradients)
        arguments = *arrays(nodes), _shape(layer), Given(*arrays(gradient, result)), *arrays(gradients)
        for parts, hubs in backend.hubs:  # in turn, as both add to the gradients of message nodes
            backend.threads.run(Job(parts, hub_attention.attend_backward, (hubs, *arguments)))
        grad_features, sums = _project_backward(backend, features, matrix, gradients, ctx.needs_input_grad[0])
        grad_bias = sums[-1, : HEADS * layer.channels]
        if layer.averages:
            grad_bias = grad_bias.view(HEADS, -1).sum(0)
        return grad_features, sums[:-1].T, grad_bias, None, None


def attended(backend: CpuBackend, features: Tensor, layer: Layer, result: Tensor) -> None:
    """Write a GAT layer for the first nodes."""
    nodes = _projected(backend, features, layer)
    arguments = *arrays(nodes), _shape(layer), *arrays(layer.bias, result)
    backend.threads.run(*(Job(parts, hub_attention.attend, (hubs, *arguments)) for parts, hubs in backend.hubs))


def _shape(layer: Layer) -> Shape:
    kind = np.float32 if layer.matrix.dtype == torch.float32 else np.float64
    return Shape(kind(ATTENTION_SLOPE), kind(OUTPUT_SLOPE), (0,) * layer.channels)


class Linear(torch.autograd.Function):
    """See `Backend.linear`; columns are whole vectors."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, matrix: Tensor, bias: Tensor, backend: CpuBackend) -> Tensor:
        """The operation itself."""
        result = backend.pool.empty((len(features), len(matrix)), features)
        _project(backend, features, matrix, result)
        ctx.save_for_backward(features, matrix)
        ctx.backend = backend
        return result.add_(bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Gradients of its tensors."""
        features, matrix = ctx.saved_tensors
        grad_features, sums = _project_backward(ctx.backend, features, matrix, gradient, ctx.needs_input_grad[0])
        return grad_features, sums[:-1].T, sums[-1], None


def _projected(backend: CpuBackend, features: Tensor, layer: Layer) -> Tensor:
    """W e, a_src·W e and a_dst·W e of every node, [nodes, heads × (channels + 2)], in a buffer."""
    nodes = backend.buffer("nodes", (len(features), len(layer.matrix)), features)
    _project(backend, features, layer.matrix, nodes)
    return nodes


def _project(backend: CpuBackend, features: Tensor, matrix: Tensor, result: Tensor) -> None:
    parts = backend.row_parts(len(features), PRODUCTS * matrix.numel())
    backend.threads.run(Job(parts, dense.project, tuple(arrays(features, matrix.T, result))))


def _clear(backend: CpuBackend, rows: Tensor) -> None:
    parts = backend.row_parts(len(rows), 0.2 * rows.shape[1])
    backend.threads.run(Job(parts, dense.clear, tuple(arrays(rows))))


def _project_backward(
    backend: CpuBackend, features: Tensor, matrix: Tensor, gradient: Tensor, wanted: bool
) -> tuple[Tensor | None, Tensor]:
    """The gradient of the features, if `wanted`, and of the transposed matrix and, in the last row, a bias."""
    rows, (outputs, inputs) = len(features), matrix.shape
    grad_features = backend.pool.empty((rows if wanted else 0, inputs), features)
    sums = backend.buffer("sums", (dense.blocks_of(rows), inputs + 1, outputs), features)
    parts = backend.row_parts(rows, 2 * PRODUCTS * matrix.numel())
    arguments = arrays(features, matrix, gradient, grad_features, sums)
    backend.threads.run(Job(parts, dense.project_backward, tuple(arguments)))
    return grad_features if wanted else None, _total(sums)


def _total(sums: Tensor) -> Tensor:
    """The sum of the blocks' sums, [blocks, …] → […]."""
    result = sums.new_empty(sums.shape[1:])
    dense.total(*arrays(sums.flatten(1), result.view(-1)))
    return result


class Recurrence(torch.autograd.Function):
    """See `Backend.gru`."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, state: Tensor, backend: CpuBackend, *cell: Tensor) -> Tensor:
        """The operation itself."""
        new = backend.pool.empty(state.shape, state)
        parts = backend.row_parts(len(state), _cell_nanoseconds(inputs))
        arguments = _columns(cell), *arrays(inputs, state, new)
        backend.threads.run(Job(parts, gated_units.advance, arguments))
        ctx.save_for_backward(inputs, state, *cell)
        ctx.backend = backend
        return new

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Gradients of its tensors."""
        inputs, state, *cell = ctx.saved_tensors
        backend, (rows, width) = ctx.backend, inputs.shape
        grad_state = backend.pool.empty(state.shape, state)
        sums = backend.buffer("sums", (dense.blocks_of(rows), width + UNITS + 2, GATES), state)
        parts = backend.row_parts(rows, 2.0 * _cell_nanoseconds(inputs))
        arguments = _columns(cell), *arrays(cell[1], inputs, state, gradient, grad_state, sums)
        backend.threads.run(Job(parts, gated_units.advance_backward, arguments))
        of_inputs, of_bias, of_state, of_state_bias = torch.split(_total(sums), [width, 1, UNITS, 1])
        return None, grad_state, None, of_inputs.T, of_state.T, of_bias[0], of_state_bias[0]


def _columns(cell: Cell | list[Tensor] | tuple[Tensor, ...]) -> gated_units.Columns:
    of_input, of_state, *biases = cell
    return gated_units.Columns(*arrays(of_input.T, of_state.T, *biases))


def _cell_nanoseconds(inputs: Tensor) -> float:
    return GATE_NANOSECONDS + PRODUCTS * GATES * (inputs.shape[1] + UNITS)

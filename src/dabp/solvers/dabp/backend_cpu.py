"""The heavy operations with compiled kernels on the CPU, each a function with a backward pass of its own.

Only inputs are kept for the backward pass; scores, projections and minima are made again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from dabp.graph import FactorGroup
from dabp.kernels.attention import (
    attentive_messages,
    beliefs,
    composition,
    dense,
    held_messages,
    held_weights,
    pair_minima,
    weight_range,
)
from dabp.kernels.attention.change import largest_change
from dabp.kernels.attention.chebyshev import interpolation
from dabp.kernels.attention.composition import Edges
from dabp.kernels.attention.hub_attention import Hubs
from dabp.kernels.attention.one_variable import BLOCK, Inputs, Results
from dabp.kernels.attention.pair_minima import PairTables, pair_tables
from dabp.kernels.belief_propagation import min_marginals
from dabp.kernels.belief_propagation.min_marginals import Tables
from dabp.problem.columns import offsets_of
from dabp.solvers.dabp.backend import Backend, Held, Layer
from dabp.solvers.dabp.network_cpu import Attend, Join, Linear, Recurrence, padded
from dabp.solvers.dabp.pool import Pool
from dabp.solvers.dabp.recurrence import Cell
from dabp.solvers.dabp.sharing import Job, Parts, Threads, even_shares
from dabp.solvers.dabp.structure import Structure, arrays

LONGEST = 100
"""Weights are held where a target has at most so many neighbours, on average; beyond, interpolation is faster."""

_PLACES = torch.zeros(0, dtype=torch.int32)
"""What tells the pool the type of values' numbers."""


class Group(NamedTuple):
    """Factors of one shape."""

    sizes: NDArray[np.int64]
    """Domain sizes of their variables, [arity]."""
    costs: PairTables | Tables
    here: slice
    """Their edges."""
    parts: Parts
    """Thread shares of the factors, copies counted."""


class CpuBackend(Backend):
    """See `Backend`; kernels share their work among `threads`."""

    def __init__(self, structure: Structure, threads: int = 1):
        self.threads = Threads(threads)
        self.edge_factor = torch.from_numpy(structure.edge_factor)
        self.variable_edges = structure.by_variable
        self.interpolation = interpolation(structure.graph.dtype)
        self.equal_domains = bool((structure.edge_size == structure.width).all())
        """Whether messages have no room beyond their domains."""
        self.edges = Edges(structure.edge_size, structure.alone, structure.edge_unary)
        degrees = np.diff(structure.graph.variable_edge_offsets)
        self.variable_parts = even_shares(1.7 * degrees.astype(np.float64) ** 2, threads)
        self.belief_parts = even_shares(0.5 * structure.width * (degrees + 1.0), threads)
        self.edge_parts = even_shares(np.full(structure.num_edges, 3.0 * structure.width), threads)
        self.hubs = _hubs(structure, threads)
        self.groups = [_group(structure, group, threads) for group in structure.graph.groups]
        self.weight_starts, self.num_weights = _weight_starts(degrees)
        self.holds = bool((degrees.astype(np.float64) ** 2).sum() <= LONGEST * structure.num_edges)
        self._buffers: dict[tuple[str, torch.dtype], Tensor] = {}
        self.pool = Pool()
        self._row_parts: dict[tuple[int, float], Parts] = {}

    def attend(self, features: Tensor, layer: Layer, count: int) -> Tensor:
        """See `Backend.attend`."""
        given = padded(features), padded(layer.matrix), layer.bias
        result: Tensor = Attend.apply(*given, count, self)  # type: ignore[no-untyped-call]
        return result

    def gru(self, cell: Cell, inputs: Tensor, state: Tensor) -> Tensor:
        """See `Backend.gru`."""
        result: Tensor = Recurrence.apply(inputs.detach(), state, self, *cell)  # type: ignore[no-untyped-call]
        return result

    def join(self, *parts: Tensor) -> Tensor:
        """See `Backend.join`."""
        result: Tensor = Join.apply(self, *parts)  # type: ignore[no-untyped-call]
        return result

    def linear(self, features: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
        """See `Backend.linear`."""
        outputs, missing = len(matrix), -len(matrix) % BLOCK
        matrix, bias = pad(padded(matrix), (0, 0, 0, missing)), pad(bias, (0, missing))
        result: Tensor = Linear.apply(padded(features), matrix, bias, self)  # type: ignore[no-untyped-call]
        return result[:, :outputs]

    def f2v(self, v2f: Tensor) -> Tensor:
        """See `Backend.f2v`."""
        result: Tensor = _MinMarginals.apply(v2f, self)  # type: ignore[no-untyped-call]
        return result

    def beliefs(self, unary: Tensor, f2v: Tensor) -> Tensor:
        """See `Backend.beliefs`."""
        result: Tensor = _Beliefs.apply(unary, f2v, self)  # type: ignore[no-untyped-call]
        return result

    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """See `Backend.attention`."""
        result: tuple[Tensor, Tensor] = _Attention.apply(query, key, f2v, self)  # type: ignore[no-untyped-call]
        return result

    def compose(self, damping: Tensor, v2f: Tensor, others: Tensor) -> Tensor:
        """See `Backend.compose`."""
        result: Tensor = _Compose.apply(damping, v2f, others, self)  # type: ignore[no-untyped-call]
        return result

    def change(self, before: Tensor, after: Tensor) -> float:
        """See `Backend.change`."""
        largest = np.empty(dense.blocks_of(len(before)), after.detach().numpy().dtype)
        parts = self.row_parts(len(before), 0.2 * before.shape[1])
        self.threads.run(Job(parts, largest_change, (*arrays(before, after), largest)))
        return float(largest.max())

    def hold(self, query: Tensor, key: Tensor) -> Held | None:
        """See `Backend.hold`: blocks as `weight_starts` says; not for hubs, whose blocks are large."""
        if not self.holds:
            return None
        return Held(_Hold.apply(query, key, self))  # type: ignore[no-untyped-call]

    def pass_on(self, held: Held, damping: Tensor, v2f: Tensor, f2v: Tensor) -> Tensor:
        """See `Backend.pass_on`."""
        result: Tensor = _PassOn.apply(held.weights, damping, v2f, f2v, held, self)  # type: ignore[no-untyped-call]
        return result

    def held_range(self, held: Held) -> tuple[float, float]:
        """See `Backend.held_range`."""
        low, high = weight_range.held_range(self.variable_edges, self.weight_starts, *arrays(held.weights))
        return low, high

    def row_parts(self, rows: int, nanoseconds: float) -> Parts:
        """Thread shares of blocks of rows that take so long each."""
        key = rows, nanoseconds
        if key not in self._row_parts:
            blocks = dense.blocks_of(rows)
            self._row_parts[key] = even_shares(np.full(blocks, nanoseconds * dense.ROWS), self.threads.count)
        return self._row_parts[key]

    def buffer(self, name: str, shape: Sequence[int], like: Tensor) -> Tensor:
        """Room of this shape that is used again: fresh memory costs more than what is computed into it."""
        kept, length = self._buffers.get((name, like.dtype)), math.prod(shape)
        if kept is None or len(kept) < length:
            kept = self._buffers[name, like.dtype] = like.new_empty(length)
        return kept[:length].view(*shape)

    def close(self) -> None:
        """End the threads, give memory back."""
        self.threads.close()
        self.pool.clear()
        self._buffers.clear()


class _MinMarginals(torch.autograd.Function):
    """See `Backend.f2v`."""

    @staticmethod
    def forward(ctx: Any, v2f: Tensor, backend: CpuBackend) -> Tensor:
        result = backend.pool.empty(v2f.shape, v2f)
        if not backend.equal_domains:
            result.zero_()
        given, made = arrays(v2f, result)
        winners = []
        for sizes, costs, here, parts in backend.groups:
            if isinstance(costs, PairTables):
                best = backend.pool.empty(made[here].shape, _PLACES)
                arguments = costs, given[here], made[here], best.numpy()
                backend.threads.run(Job(parts, pair_minima.pair_messages, arguments))
            else:
                best = torch.zeros(made[here].shape, dtype=torch.int64)
                several = sizes, costs, given[here], made[here], best.numpy()
                backend.threads.run(Job(parts, min_marginals.messages, several))
            winners.append(best)
        ctx.backend, ctx.winners = backend, winners
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        result = ctx.backend.pool.empty(gradient.shape, gradient)
        grads, made = arrays(gradient, result)
        for (sizes, costs, here, parts), winners in zip(ctx.backend.groups, ctx.winners, strict=True):
            pairs = isinstance(costs, PairTables)
            if not pairs:
                made[here] = 0.0
            kernel = pair_minima.pair_gradients if pairs else min_marginals.gradients
            arguments = costs if pairs else sizes, winners.numpy(), grads[here], made[here]
            ctx.backend.threads.run(Job(parts, kernel, arguments))
        return result, None


class _Beliefs(torch.autograd.Function):
    """See `Backend.beliefs`."""

    @staticmethod
    def forward(ctx: Any, unary: Tensor, f2v: Tensor, backend: CpuBackend) -> Tensor:
        result = torch.empty_like(unary)
        arguments = backend.variable_edges, *arrays(unary, f2v, result)
        backend.threads.run(Job(backend.belief_parts, beliefs.beliefs, arguments))
        ctx.backend, ctx.shape = backend, f2v.shape
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        result = ctx.backend.pool.empty(ctx.shape, gradient)
        arguments = ctx.backend.variable_edges, *arrays(gradient, result)
        ctx.backend.threads.run(Job(ctx.backend.belief_parts, beliefs.beliefs_backward, arguments))
        return None, result, None


class _Attention(torch.autograd.Function):
    """See `Backend.attention`."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, f2v: Tensor, backend: CpuBackend) -> tuple[Tensor, Tensor]:
        damping, summed = f2v.new_empty(len(f2v)), backend.pool.empty(f2v.shape, f2v)
        given, made = Inputs(*arrays(query, key, f2v)), Results(*arrays(damping, summed))
        arguments = backend.variable_edges, backend.interpolation, given, made
        backend.threads.run(Job(backend.variable_parts, attentive_messages.attend, arguments))
        ctx.save_for_backward(query, key, f2v)
        ctx.backend = backend
        return damping, summed

    @staticmethod
    def backward(ctx: Any, grad_damping: Tensor, grad_summed: Tensor) -> tuple[Any, ...]:
        query, key, f2v = ctx.saved_tensors
        backend: CpuBackend = ctx.backend
        of_query, of_key = backend.pool.empty((2, len(f2v), query.shape[1]), f2v)
        grad_f2v = backend.pool.empty(f2v.shape, f2v)
        gradients, made = Results(*arrays(grad_damping, grad_summed)), Inputs(*arrays(of_query, of_key, grad_f2v))
        given = Inputs(*arrays(query, key, f2v))
        arguments = backend.variable_edges, backend.interpolation, given, gradients, made
        backend.threads.run(Job(backend.variable_parts, attentive_messages.attend_backward, arguments))
        grad_query = torch.zeros_like(query).index_add_(0, backend.edge_factor, of_query)
        grad_key = torch.zeros_like(key).index_add_(0, backend.edge_factor, of_key)
        return grad_query, grad_key, grad_f2v, None


class _Hold(torch.autograd.Function):
    """See `Backend.hold`."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, backend: CpuBackend) -> Tensor:
        result = query.new_zeros(backend.num_weights)
        where = backend.variable_edges, backend.weight_starts
        backend.threads.run(Job(backend.variable_parts, held_weights.hold, (*where, *arrays(query, key, result))))
        ctx.save_for_backward(query, key)
        ctx.backend = backend
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        query, key = ctx.saved_tensors
        backend: CpuBackend = ctx.backend
        of_query, of_key = query.new_zeros(2, len(backend.edge_factor), query.shape[1])
        where = backend.variable_edges, backend.weight_starts
        arguments = *where, *arrays(query, key, gradient, of_query, of_key)
        backend.threads.run(Job(backend.variable_parts, held_weights.hold_backward, arguments))
        grad_query = torch.zeros_like(query).index_add_(0, backend.edge_factor, of_query)
        return grad_query, torch.zeros_like(key).index_add_(0, backend.edge_factor, of_key), None


class _PassOn(torch.autograd.Function):
    """See `Backend.pass_on`.

    The gradients of the weights are added up in one place: the first iteration on the way back hands it over, and
    those before it add to it until `_Hold` takes it.
    """

    @staticmethod
    def forward(
        ctx: Any, weights: Tensor, damping: Tensor, v2f: Tensor, f2v: Tensor, held: Held, backend: CpuBackend
    ) -> Tensor:
        result, shifts = backend.pool.empty(v2f.shape, v2f), torch.empty_like(damping)
        ctx.save_for_backward(weights, damping, v2f, f2v, result, shifts)
        ctx.held, ctx.backend = held, backend
        arguments = _held_arguments(backend, weights, damping, v2f, f2v, result, shifts)
        backend.threads.run(Job(backend.variable_parts, held_messages.pass_on, arguments))
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        weights, damping, v2f, f2v, *_ = given = ctx.saved_tensors
        backend, held = ctx.backend, ctx.held
        fresh = held.gradient is None
        if fresh:
            held.gradient = backend.pool.empty(weights.shape, weights)
        made = tuple(backend.pool.empty(one.shape, one) for one in (damping, v2f, f2v))
        gradients = held_messages.Gradients(*arrays(*made, held.gradient))
        arguments = *_held_arguments(backend, *given), *arrays(gradient), gradients, fresh
        backend.threads.run(Job(backend.variable_parts, held_messages.pass_on_backward, arguments))
        return held.gradient if fresh else None, *made, None, None


def _held_arguments(backend: CpuBackend, weights: Tensor, *step: Tensor) -> tuple[Any, ...]:
    """What the kernels of held weights take first."""
    blocks = held_messages.HeldBlocks(backend.weight_starts, *arrays(weights))
    return backend.variable_edges, blocks, backend.edges, held_messages.Step(*arrays(*step))


class _Compose(torch.autograd.Function):
    """See `Backend.compose`."""

    @staticmethod
    def forward(ctx: Any, damping: Tensor, v2f: Tensor, others: Tensor, backend: CpuBackend) -> Tensor:
        result = backend.pool.empty(v2f.shape, v2f)
        arguments = backend.edges, composition.Parts(*arrays(damping, v2f, others)), *arrays(result)
        backend.threads.run(Job(backend.edge_parts, composition.compose, arguments))
        ctx.save_for_backward(damping, v2f, others, result)
        ctx.backend = backend
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        *parts, result = ctx.saved_tensors
        made = tuple(ctx.backend.pool.empty(part.shape, part) for part in parts)
        given, gradients = composition.Parts(*arrays(*parts)), composition.Parts(*arrays(*made))
        arguments = ctx.backend.edges, given, *arrays(result, gradient), gradients
        ctx.backend.threads.run(Job(ctx.backend.edge_parts, composition.compose_backward, arguments))
        return *made, None


def _weight_starts(degrees: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """[N]: where each variable's block of held weights starts; its rows are whole vectors."""
    ends = offsets_of(degrees * (degrees + -degrees % BLOCK))
    return ends[:-1], int(ends[-1])


def _hubs(structure: Structure, threads: int) -> list[tuple[Parts, Hubs]]:
    """Factors and variables as hubs of their edges, with thread shares."""
    graph, edges = structure.graph, structure.num_edges
    v2f, variable = structure.num_factors, structure.num_factors + edges
    f2v = variable + structure.num_variables
    factor_offsets = np.searchsorted(structure.edge_factor, np.arange(structure.num_factors + 1))
    both = (
        Hubs(0, factor_offsets, np.arange(edges), v2f, f2v),
        Hubs(variable, graph.variable_edge_offsets, graph.variable_edges, f2v, v2f),
    )
    return [(even_shares(50.0 * (np.diff(hubs.offsets) + 1.0), threads), hubs) for hubs in both]


def _group(structure: Structure, group: FactorGroup, threads: int) -> Group:
    """A group of factors as its kernel takes it."""
    graph = structure.graph
    count = group.num_factors * len(graph.scales)
    scales = np.array(graph.scales, dtype=graph.dtype)
    if group.arity == 2:
        costs: PairTables | Tables = pair_tables(group.tables, group.table_index, scales)
    else:
        costs = Tables(group.tables.reshape(len(group.tables), -1), group.table_index, scales)
    return Group(
        np.array(group.shape),
        costs,
        slice(group.first, group.first + count * group.arity),
        even_shares(np.full(count, float(math.prod(group.shape))), threads),
    )

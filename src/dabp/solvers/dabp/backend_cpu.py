"""The heavy operations with compiled kernels on the CPU, each a function with a backward pass of its own.

Only inputs are kept for the backward pass; scores, projections and minima are made again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import leaky_relu

from dabp.graph import FactorGroup
from dabp.kernels.attention import attentive_messages, composition, held_weights, hub_attention
from dabp.kernels.attention.chebyshev import interpolation
from dabp.kernels.attention.composition import Edges
from dabp.kernels.attention.hub_attention import HEADS, Hubs, Shape
from dabp.kernels.attention.one_variable import BLOCK, Inputs, Results
from dabp.kernels.belief_propagation import min_marginals
from dabp.kernels.belief_propagation.min_marginals import Tables
from dabp.kernels.simd import lanes_of
from dabp.problem.columns import offsets_of
from dabp.solvers.dabp.backend import ATTENTION_SLOPE, OUTPUT_SLOPE, Backend, Layer
from dabp.solvers.dabp.sharing import Job, Parts, Threads, even_shares
from dabp.solvers.dabp.structure import Structure

LANES = lanes_of(BLOCK)
LONGEST = 100
"""Weights are held where a target has at most so many neighbours, on average; beyond, interpolation is faster."""


class Group(NamedTuple):
    """Factors of one shape."""

    sizes: NDArray[np.int64]
    """Domain sizes of their variables, [arity]."""
    costs: Tables
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
        self.edges = Edges(structure.edge_size, structure.alone, structure.edge_unary)
        degrees = np.diff(structure.graph.variable_edge_offsets)
        self.variable_parts = even_shares(1.7 * degrees.astype(np.float64) ** 2, threads)
        self.edge_parts = even_shares(np.full(structure.num_edges, 3.0 * structure.width), threads)
        self.hubs = _hubs(structure, threads)
        self.groups = [_group(structure, group, threads) for group in structure.graph.groups]
        self.weight_starts, self.num_weights = _weight_starts(degrees)
        self.holds = bool((degrees.astype(np.float64) ** 2).sum() <= LONGEST * structure.num_edges)
        self._buffers: dict[tuple[str, torch.dtype], Tensor] = {}
        self._kept: list[Tensor] | None = None
        self._again = False

    def attend(self, features: Tensor, layer: Layer, count: int) -> Tensor:
        """See `Backend.attend`."""
        result: Tensor = _Attend.apply(features, *layer, count, self)  # type: ignore[no-untyped-call]
        return result

    def f2v(self, v2f: Tensor) -> Tensor:
        """See `Backend.f2v`."""
        result: Tensor = _MinMarginals.apply(v2f, self)  # type: ignore[no-untyped-call]
        return result

    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """See `Backend.attention`."""
        result: tuple[Tensor, Tensor] = _Attention.apply(query, key, f2v, self)  # type: ignore[no-untyped-call]
        return result

    def compose(self, damping: Tensor, v2f: Tensor, others: Tensor) -> Tensor:
        """See `Backend.compose`."""
        result: Tensor = _Compose.apply(damping, v2f, others, self)  # type: ignore[no-untyped-call]
        return result

    def hold(self, query: Tensor, key: Tensor) -> Tensor | None:
        """See `Backend.hold`: blocks as `weight_starts` says; not for hubs, whose blocks are large."""
        if not self.holds:
            return None
        result: Tensor = _Hold.apply(query, key, self)  # type: ignore[no-untyped-call]
        return result

    def mix(self, weights: Tensor, f2v: Tensor) -> Tensor:
        """See `Backend.mix`."""
        result: Tensor = _Mix.apply(weights, f2v, self)  # type: ignore[no-untyped-call]
        return result

    @contextmanager
    def keeping(self, kept: list[Tensor]) -> Iterator[None]:
        """See `Backend.keeping`."""
        self._kept, self._again = kept, bool(kept)
        try:
            yield
        finally:
            if self._again:
                kept.clear()
            self._kept, self._again = None, False

    @property
    def repeats(self) -> bool:
        """Whether operations are done again whose results were kept."""
        return self._again

    def made_before(self, count: int) -> list[Tensor] | None:
        """The next results of operations that are done again, None if these are done the first time."""
        if self._kept is None or not self.repeats:
            return None
        return [self._kept.pop(0) for _ in range(count)]

    def keep(self, *results: Tensor) -> None:
        """Take note of results, if they will be wanted again."""
        if self._kept is not None and not self.repeats:
            self._kept.extend(result.detach() for result in results)

    def buffer(self, name: str, shape: Sequence[int], like: Tensor) -> Tensor:
        """Room of this shape that is used again: fresh memory costs more than what is computed into it."""
        kept, length = self._buffers.get((name, like.dtype)), math.prod(shape)
        if kept is None or len(kept) < length:
            kept = self._buffers[name, like.dtype] = like.new_empty(length)
        return kept[:length].view(*shape)

    def close(self) -> None:
        """End the threads."""
        self.threads.close()


class _Attend(torch.autograd.Function):
    """See `Backend.attend`."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, matrix: Tensor, bias: Tensor, count: int, backend: CpuBackend) -> Tensor:
        layer, made = Layer(matrix, bias), backend.made_before(1)
        result = made[0] if made else _attended(backend, features, layer, count)
        backend.keep(result)
        ctx.save_for_backward(features, *layer, result)
        ctx.backend = backend
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        features, *parameters, result = ctx.saved_tensors
        layer, backend = Layer(*parameters), ctx.backend
        grad_mixed = backend.buffer("grad_mixed", gradient.shape, gradient)
        torch.ops.aten.leaky_relu_backward.grad_input(gradient, result, OUTPUT_SLOPE, True, grad_input=grad_mixed)
        grad_bias = grad_mixed.sum(0)
        if layer.averages:
            grad_mixed = (grad_mixed / HEADS).repeat(1, HEADS)
        nodes = _projected(backend, features, layer)
        gradients = backend.buffer("gradients", nodes.shape, nodes).zero_()
        given, mixed, made = _arrays(nodes, grad_mixed, gradients)
        arguments = given, _shape(layer), mixed, made
        for parts, hubs in backend.hubs:  # in turn, as both add to the gradients of message nodes
            backend.threads.run(Job(parts, hub_attention.attend_backward, (hubs, *arguments)))
        grad_features = gradients @ layer.matrix if ctx.needs_input_grad[0] else None
        return grad_features, gradients.T @ features, grad_bias, None, None


def _attended(backend: CpuBackend, features: Tensor, layer: Layer, count: int) -> Tensor:
    """A GAT layer for the first `count` nodes."""
    nodes = _projected(backend, features, layer)
    mixed = nodes.new_empty(count, HEADS * layer.channels)
    arguments = nodes.numpy(), _shape(layer), mixed.numpy()
    backend.threads.run(*(Job(parts, hub_attention.attend, (hubs, *arguments)) for parts, hubs in backend.hubs))
    if layer.averages:
        mixed = mixed.view(count, HEADS, layer.channels).mean(1)
    return leaky_relu(mixed.add_(layer.bias), OUTPUT_SLOPE, inplace=True)


def _projected(backend: CpuBackend, features: Tensor, layer: Layer) -> Tensor:
    """W e, a_src·W e and a_dst·W e of every node, [nodes, heads × (channels + 2)], in a buffer."""
    nodes = backend.buffer("nodes", (len(features), len(layer.matrix)), features)
    return torch.mm(features, layer.matrix.T, out=nodes)


def _shape(layer: Layer) -> Shape:
    slope = np.float32(ATTENTION_SLOPE) if layer.matrix.dtype == torch.float32 else np.float64(ATTENTION_SLOPE)
    return Shape(slope, (0,) * layer.channels)


class _MinMarginals(torch.autograd.Function):
    """See `Backend.f2v`."""

    @staticmethod
    def forward(ctx: Any, v2f: Tensor, backend: CpuBackend) -> Tensor:
        result = torch.zeros_like(v2f)
        given, made = _arrays(v2f, result)
        winners = []
        for sizes, costs, here, parts in backend.groups:
            if len(sizes) == 2:
                backend.threads.run(Job(parts, min_marginals.pair_messages, (costs, given[here], made[here])))
                continue
            best = np.zeros(made[here].shape, dtype=np.int64)
            backend.threads.run(Job(parts, min_marginals.messages, (sizes, costs, given[here], made[here], best)))
            winners.append(best)
        ctx.save_for_backward(v2f, result)
        ctx.backend, ctx.winners = backend, winners
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        v2f, f2v = ctx.saved_tensors
        result = torch.zeros_like(v2f)
        given, minima, grads, made = _arrays(v2f, f2v, gradient, result)
        run, winners = ctx.backend.threads.run, iter(ctx.winners)
        for sizes, costs, here, parts in ctx.backend.groups:
            if len(sizes) == 2:
                arrays = given[here], minima[here], grads[here], made[here]
                run(Job(parts, min_marginals.pair_gradients, (costs, *arrays)))
            else:
                run(Job(parts, min_marginals.gradients, (sizes, next(winners), grads[here], made[here])))
        return result, None


class _Attention(torch.autograd.Function):
    """See `Backend.attention`."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, f2v: Tensor, backend: CpuBackend) -> tuple[Tensor, Tensor]:
        damping, summed = backend.made_before(2) or (f2v.new_empty(len(f2v)), torch.empty_like(f2v))
        if not backend.repeats:
            given, made = Inputs(*_arrays(query, key, f2v)), Results(*_arrays(damping, summed))
            arguments = backend.variable_edges, backend.interpolation, given, made
            backend.threads.run(Job(backend.variable_parts, attentive_messages.attend, arguments))
            backend.keep(damping, summed)
        ctx.save_for_backward(query, key, f2v)
        ctx.backend = backend
        return damping, summed

    @staticmethod
    def backward(ctx: Any, grad_damping: Tensor, grad_summed: Tensor) -> tuple[Any, ...]:
        query, key, f2v = ctx.saved_tensors
        backend: CpuBackend = ctx.backend
        of_query, of_key = f2v.new_empty(2, len(f2v), query.shape[1])
        grad_f2v = torch.empty_like(f2v)
        gradients, made = Results(*_arrays(grad_damping, grad_summed)), Inputs(*_arrays(of_query, of_key, grad_f2v))
        given = Inputs(*_arrays(query, key, f2v))
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
        backend.threads.run(Job(backend.variable_parts, held_weights.hold, (*where, *_arrays(query, key, result))))
        ctx.save_for_backward(query, key)
        ctx.backend = backend
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        query, key = ctx.saved_tensors
        backend: CpuBackend = ctx.backend
        of_query, of_key = query.new_zeros(2, len(backend.edge_factor), query.shape[1])
        where = backend.variable_edges, backend.weight_starts
        arguments = *where, *_arrays(query, key, gradient, of_query, of_key)
        backend.threads.run(Job(backend.variable_parts, held_weights.hold_backward, arguments))
        grad_query = torch.zeros_like(query).index_add_(0, backend.edge_factor, of_query)
        return grad_query, torch.zeros_like(key).index_add_(0, backend.edge_factor, of_key), None


class _Mix(torch.autograd.Function):
    """See `Backend.mix`."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, f2v: Tensor, backend: CpuBackend) -> Tensor:
        result = torch.empty_like(f2v)
        given, messages, made = _arrays(weights, f2v, result)
        arguments = backend.variable_edges, backend.weight_starts, given, messages, LANES, made
        backend.threads.run(Job(backend.variable_parts, held_weights.mix, arguments))
        ctx.save_for_backward(weights, f2v)
        ctx.backend = backend
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        weights, f2v = ctx.saved_tensors
        backend: CpuBackend = ctx.backend
        made = torch.zeros_like(weights), torch.empty_like(f2v)
        where = backend.variable_edges, backend.weight_starts
        arguments = *where, *_arrays(weights, f2v), LANES, *_arrays(gradient, *made)
        backend.threads.run(Job(backend.variable_parts, held_weights.mix_backward, arguments))
        return *made, None


class _Compose(torch.autograd.Function):
    """See `Backend.compose`."""

    @staticmethod
    def forward(ctx: Any, damping: Tensor, v2f: Tensor, others: Tensor, backend: CpuBackend) -> Tensor:
        result = torch.empty_like(v2f)
        arguments = backend.edges, composition.Parts(*_arrays(damping, v2f, others)), *_arrays(result)
        backend.threads.run(Job(backend.edge_parts, composition.compose, arguments))
        ctx.save_for_backward(damping, v2f, others, result)
        ctx.backend = backend
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        *parts, result = ctx.saved_tensors
        made = tuple(torch.empty_like(part) for part in parts)
        given, gradients = composition.Parts(*_arrays(*parts)), composition.Parts(*_arrays(*made))
        arguments = ctx.backend.edges, given, *_arrays(result, gradient), gradients
        ctx.backend.threads.run(Job(ctx.backend.edge_parts, composition.compose_backward, arguments))
        return *made, None


def _arrays(*tensors: Tensor) -> list[NDArray[np.floating]]:
    return [one.detach().contiguous().numpy() for one in tensors]


def _weight_starts(degrees: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """[N]: where each variable's block of held weights starts; all of degree 1 share the first number, which is 0."""
    ends = 1 + offsets_of(np.where(degrees > 1, degrees**2, 0))
    return np.where(degrees > 1, ends[:-1], 0), int(ends[-1])


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
    tables = group.tables if group.arity == 2 else group.tables.reshape(len(group.tables), -1)
    return Group(
        np.array(group.shape),
        Tables(tables, group.table_index, np.array(graph.scales, dtype=graph.dtype)),
        slice(group.first, group.first + count * group.arity),
        even_shares(np.full(count, float(math.prod(group.shape))), threads),
    )

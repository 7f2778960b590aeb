"""The heavy operations with compiled kernels on the CPU, as functions with their own backward pass.

Only inputs are kept for the backward pass; scores, projections and minima are made again. Work is shared among
threads by variables, heads or factors, each of which writes its own part: results do not depend on their number.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import leaky_relu

from dabp.graph import FactorGroup
from dabp.kernels import attentive_messages, hub_attention, min_marginals
from dabp.kernels.chebyshev import cosines, half_ranges
from dabp.solvers.dabp.operations import ATTENTION_SLOPE, OUTPUT_SLOPE, Operations
from dabp.solvers.dabp.structure import Structure


class CompiledOperations(Operations):
    """See `Operations`; `threads` kernels run at once."""

    def __init__(self, structure: Structure, threads: int = 1):
        graph = structure.graph
        self.structure, self.threads = structure, threads
        self.pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self.edge_factor = torch.from_numpy(structure.edge_factor)
        self.buffers: dict[tuple[str, torch.dtype], Tensor] = {}
        degrees = np.diff(graph.variable_edge_offsets)
        self.shares = even_shares(degrees.astype(np.float64) ** 2, threads)
        self.hubs, self.groups = _hubs(structure, threads), _groups(structure, threads)
        kind = graph.dtype
        self.edges = (
            graph.variable_edge_offsets,
            graph.variable_edges,
            structure.edge_factor,
            half_ranges(kind),
            cosines(kind),
        )
        self.scales = np.array(graph.scales, dtype=graph.dtype)

    def run(self, bounds: NDArray[np.int64], kernel: Callable[..., None], *arguments: Any) -> None:
        """Call ``kernel(first, last, *arguments)`` for consecutive bounds, on several threads if there are."""
        parts = [(int(first), int(last)) for first, last in pairwise(bounds) if last > first]
        if self.pool is None or len(parts) < 2:
            for first, last in parts:
                kernel(first, last, *arguments)
            return
        waiting = [self.pool.submit(kernel, first, last, *arguments) for first, last in parts[1:]]
        kernel(*parts[0], *arguments)
        for future in waiting:
            future.result()

    def buffer(self, name: str, rows: int, columns: int, like: Tensor) -> Tensor:
        """Room [rows, columns] that is used again: fresh memory costs more than what is computed into it."""
        kept = self.buffers.get((name, like.dtype))
        if kept is None or len(kept) < rows * columns:
            kept = self.buffers[name, like.dtype] = like.new_empty(rows * columns)
        return kept[: rows * columns].view(rows, columns)

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()

    def attend(
        self, features: Tensor, weight: Tensor, att_src: Tensor, att_dst: Tensor, bias: Tensor, count: int
    ) -> Tensor:
        """See `Operations.attend`."""
        result: Tensor = _GraphAttention.apply(features, weight, att_src, att_dst, bias, count, self)  # type: ignore[no-untyped-call]
        return result

    def f2v(self, v2f: Tensor) -> Tensor:
        """See `Operations.f2v`."""
        result: Tensor = _MinMarginals.apply(v2f, self)  # type: ignore[no-untyped-call]
        return result

    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """See `Operations.attention`."""
        result: tuple[Tensor, Tensor] = _Attention.apply(query, key, f2v, self)  # type: ignore[no-untyped-call]
        return result


def even_shares(work: NDArray[np.float64], parts: int) -> NDArray[np.int64]:
    """Bounds that cut items into consecutive parts of about equal work."""
    total = np.concatenate([[0.0], np.cumsum(work)])
    bounds = np.searchsorted(total, np.linspace(0.0, total[-1], parts + 1))
    bounds[0], bounds[-1] = 0, len(work)
    return bounds


class _GraphAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        att_src: Tensor,
        att_dst: Tensor,
        bias: Tensor,
        count: int,
        operations: CompiledOperations,
    ) -> Tensor:
        heads, channels = att_src.shape
        projected, scores = _projected(operations, features, weight, att_src, att_dst)
        mixed = projected.new_empty(count, heads * channels)
        rows, out = _arrays(projected, scores), mixed.numpy()
        slope, lanes = rows[0].dtype.type(ATTENTION_SLOPE), (0,) * channels

        for bounds, hubs in operations.hubs:
            operations.run(bounds, hub_attention.attend, *hubs, *rows, slope, lanes, out)
        if len(bias) == channels:
            mixed = mixed.view(count, heads, channels).mean(1)
        result = leaky_relu(mixed.add_(bias), OUTPUT_SLOPE, inplace=True)
        ctx.save_for_backward(features, weight, att_src, att_dst, result)
        ctx.operations = operations
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        features, weight, att_src, att_dst, result = ctx.saved_tensors
        operations: CompiledOperations = ctx.operations
        heads, channels = att_src.shape
        grad_mixed = torch.ops.aten.leaky_relu_backward(gradient, result, OUTPUT_SLOPE, True)
        grad_bias = grad_mixed.sum(0)
        if len(grad_bias) == channels:
            grad_mixed = (grad_mixed / heads).repeat(1, heads)
        projected, scores = _projected(operations, features, weight, att_src, att_dst)
        grad_projected = operations.buffer("grad_projected", len(projected), projected.shape[1], projected).zero_()
        grad_scores = operations.buffer("grad_scores", len(scores), scores.shape[1], scores).zero_()
        rows, gradients = _arrays(projected, scores), _arrays(grad_mixed, grad_projected, grad_scores)
        slope, lanes = rows[0].dtype.type(ATTENTION_SLOPE), (0,) * channels

        for bounds, hubs in operations.hubs:
            operations.run(bounds, hub_attention.attend_backward, *hubs, *rows, slope, lanes, *gradients)
        grad_weight = grad_projected.T @ features
        grad_folded = (features.T @ grad_scores).T.view(2, heads, -1)
        by_head, attentions = weight.view(heads, channels, -1), torch.stack([att_src, att_dst])
        grad_att = torch.einsum("hci,shi->shc", by_head, grad_folded)
        grad_weight += torch.einsum("shc,shi->hci", attentions, grad_folded).flatten(0, 1)
        grad_features = None
        if ctx.needs_input_grad[0]:
            grad_features = (grad_projected @ weight).addmm_(grad_scores, _folded(weight, att_src, att_dst).T)
        return grad_features, grad_weight, grad_att[0], grad_att[1], grad_bias, None, None


def _folded(weight: Tensor, att_src: Tensor, att_dst: Tensor) -> Tensor:
    """Wᵀa_src and Wᵀa_dst of each head, [inputs, 2 × heads]: scores without projecting first."""
    by_head = weight.view(*att_src.shape, -1)
    return torch.cat([torch.einsum("hci,hc->ih", by_head, att) for att in (att_src, att_dst)], 1)


def _projected(
    operations: CompiledOperations, features: Tensor, weight: Tensor, att_src: Tensor, att_dst: Tensor
) -> tuple[Tensor, Tensor]:
    """W e [nodes, heads × channels] and the rows a_src·W e, a_dst·W e [nodes, 2 × heads], in buffers."""
    folded = _folded(weight, att_src, att_dst)
    projected = operations.buffer("projected", len(features), len(weight), features)
    scores = operations.buffer("scores", len(features), folded.shape[1], features)
    return torch.mm(features, weight.T, out=projected), torch.mm(features, folded, out=scores)


class _MinMarginals(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, v2f: Tensor, operations: CompiledOperations) -> Tensor:
        result = torch.zeros_like(v2f)
        given, made = _arrays(v2f, result)
        winners = []
        for group, here, bounds in operations.groups:
            costs = (group.tables.reshape(len(group.tables), -1), group.table_index, operations.scales)
            if group.arity == 2:
                tables = (group.tables, *costs[1:])
                operations.run(bounds, min_marginals.pair_messages, *tables, given[here], made[here])
                continue
            best = np.zeros(made[here].shape, dtype=np.int64)
            sizes = np.array(group.shape)
            operations.run(bounds, min_marginals.messages, sizes, *costs, given[here], made[here], best)
            winners.append(best)
        ctx.save_for_backward(v2f)
        ctx.operations, ctx.winners = operations, winners
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        (v2f,) = ctx.saved_tensors
        operations: CompiledOperations = ctx.operations
        result = torch.zeros_like(v2f)
        given, grads, made = _arrays(v2f, gradient, result)
        winners = iter(ctx.winners)
        for group, here, bounds in operations.groups:
            if group.arity == 2:
                tables = (group.tables, group.table_index, operations.scales)
                operations.run(bounds, min_marginals.pair_gradients, *tables, given[here], grads[here], made[here])
                continue
            sizes = np.array(group.shape)
            operations.run(bounds, min_marginals.gradients, sizes, next(winners), grads[here], made[here])
        return result, None


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, f2v: Tensor, operations: CompiledOperations
    ) -> tuple[Tensor, Tensor]:
        damping, summed = f2v.new_empty(len(f2v)), torch.empty_like(f2v)
        arrays, outputs = _arrays(query, key, f2v), _arrays(damping, summed)
        operations.run(operations.shares, attentive_messages.attend, *operations.edges, *arrays, *outputs)
        ctx.save_for_backward(query, key, f2v)
        ctx.operations = operations
        return damping, summed

    @staticmethod
    def backward(ctx: Any, grad_damping: Tensor, grad_summed: Tensor) -> tuple[Any, ...]:
        query, key, f2v = ctx.saved_tensors
        operations: CompiledOperations = ctx.operations
        by_edge = f2v.new_empty(2, len(f2v), query.shape[1])
        grad_f2v = torch.empty_like(f2v)
        arrays, given = _arrays(query, key, f2v), _arrays(grad_damping, grad_summed)
        outputs = _arrays(by_edge[0], by_edge[1], grad_f2v)
        operations.run(
            operations.shares, attentive_messages.attend_backward, *operations.edges, *arrays, *given, *outputs
        )
        grad_query = torch.zeros_like(query).index_add_(0, operations.edge_factor, by_edge[0])
        grad_key = torch.zeros_like(key).index_add_(0, operations.edge_factor, by_edge[1])
        return grad_query, grad_key, grad_f2v, None


def _arrays(*tensors: Tensor) -> list[NDArray[np.floating]]:
    return [one.detach().contiguous().numpy() for one in tensors]


def _hubs(structure: Structure, threads: int) -> list[tuple[NDArray[np.int64], tuple[Any, ...]]]:
    """Factors and variables as hubs of their edges: thread shares, and where `hub_attention` finds everything."""
    graph, edges = structure.graph, structure.num_edges
    v2f, variable = structure.num_factors, structure.num_factors + edges
    f2v = variable + structure.num_variables
    factor_offsets = np.searchsorted(structure.edge_factor, np.arange(structure.num_factors + 1))
    result: list[tuple[NDArray[np.int64], tuple[Any, ...]]] = []
    for hubs, offsets, members, inward, outward in (
        (0, factor_offsets, np.arange(edges), v2f, f2v),
        (variable, graph.variable_edge_offsets, graph.variable_edges, f2v, v2f),
    ):
        shares = even_shares(np.diff(offsets) + 1.0, threads)
        result.append((shares, (hubs, offsets, members, inward, outward)))
    return result


def _groups(structure: Structure, threads: int) -> list[tuple[FactorGroup, slice, NDArray[np.int64]]]:
    """Each group of factors with its edges and thread shares."""
    result = []
    for group in structure.graph.groups:
        count = group.num_factors * len(structure.graph.scales)
        here = slice(group.first, group.first + count * group.arity)
        result.append((group, here, np.linspace(0, count, threads + 1).astype(np.int64)))
    return result

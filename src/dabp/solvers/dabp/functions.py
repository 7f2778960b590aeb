"""Functions on tensors with a backward pass of their own, for `CompiledOperations`.

Only inputs are kept for the backward pass; scores, projections and minima are made again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import leaky_relu

from dabp.kernels.attention import attentive_messages, composition, hub_attention
from dabp.kernels.belief_propagation import min_marginals
from dabp.solvers.dabp.operations import ATTENTION_SLOPE, OUTPUT_SLOPE

if TYPE_CHECKING:
    from dabp.solvers.dabp.compiled import CompiledOperations


class GraphAttention(torch.autograd.Function):
    """See `Operations.attend`."""

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        folded: Tensor,
        bias: Tensor,
        count: int,
        operations: CompiledOperations,
    ) -> Tensor:
        """Values, and what the way back needs."""
        heads = folded.shape[1] // 2
        channels = len(weight) // heads
        projected, scores = _projected(operations, features, weight, folded)
        mixed = projected.new_empty(count, heads * channels)
        rows, out = _arrays(projected, scores), mixed.numpy()
        slope, lanes = rows[0].dtype.type(ATTENTION_SLOPE), (0,) * channels

        jobs = ((parts, hub_attention.attend, *hubs, *rows, slope, lanes, out) for parts, hubs in operations.hubs)
        operations.run(*jobs)
        if len(bias) == channels:
            mixed = mixed.view(count, heads, channels).mean(1)
        result = leaky_relu(mixed.add_(bias), OUTPUT_SLOPE, inplace=True)
        ctx.save_for_backward(features, weight, folded, result)
        ctx.operations = operations
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """A gradient for each argument."""
        features, weight, folded, result = ctx.saved_tensors
        operations: CompiledOperations = ctx.operations
        heads = folded.shape[1] // 2
        channels = len(weight) // heads
        grad_mixed = operations.buffer("grad_mixed", gradient.shape, gradient)
        torch.ops.aten.leaky_relu_backward.grad_input(gradient, result, OUTPUT_SLOPE, True, grad_input=grad_mixed)
        grad_bias = grad_mixed.sum(0)
        if len(grad_bias) == channels:
            grad_mixed = (grad_mixed / heads).repeat(1, heads)
        projected, scores = _projected(operations, features, weight, folded)
        grad_projected = operations.buffer("grad_projected", projected.shape, projected).zero_()
        grad_scores = operations.buffer("grad_scores", scores.shape, scores).zero_()
        rows, gradients = _arrays(projected, scores), _arrays(grad_mixed, grad_projected, grad_scores)
        slope, lanes = rows[0].dtype.type(ATTENTION_SLOPE), (0,) * channels

        for parts, hubs in operations.hubs:  # in turn, as both add to the gradients of message nodes
            operations.run((parts, hub_attention.attend_backward, *hubs, *rows, slope, lanes, *gradients))
        grad_features = None
        if ctx.needs_input_grad[0]:
            grad_features = (grad_projected @ weight).addmm_(grad_scores, folded.T)
        return grad_features, grad_projected.T @ features, features.T @ grad_scores, grad_bias, None, None


def _projected(
    operations: CompiledOperations, features: Tensor, weight: Tensor, folded: Tensor
) -> tuple[Tensor, Tensor]:
    """W e [nodes, heads × channels] and the rows a_src·W e, a_dst·W e [nodes, 2 × heads], in buffers."""
    projected = operations.buffer("projected", (len(features), len(weight)), features)
    scores = operations.buffer("scores", (len(features), folded.shape[1]), features)
    return torch.mm(features, weight.T, out=projected), torch.mm(features, folded, out=scores)


class MinMarginals(torch.autograd.Function):
    """See `Operations.f2v`."""

    @staticmethod
    def forward(ctx: Any, v2f: Tensor, operations: CompiledOperations) -> Tensor:
        """Values, and what the way back needs."""
        result = torch.zeros_like(v2f)
        given, made = _arrays(v2f, result)
        winners = []
        for group, here, parts in operations.groups:
            costs = (group.tables.reshape(len(group.tables), -1), group.table_index, operations.scales)
            if group.arity == 2:
                tables = (group.tables, *costs[1:])
                operations.run((parts, min_marginals.pair_messages, *tables, given[here], made[here]))
                continue
            best = np.zeros(made[here].shape, dtype=np.int64)
            sizes = np.array(group.shape)
            operations.run((parts, min_marginals.messages, sizes, *costs, given[here], made[here], best))
            winners.append(best)
        ctx.save_for_backward(v2f)
        ctx.operations, ctx.winners = operations, winners
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """A gradient for each argument."""
        (v2f,) = ctx.saved_tensors
        operations: CompiledOperations = ctx.operations
        result = torch.zeros_like(v2f)
        given, grads, made = _arrays(v2f, gradient, result)
        winners = iter(ctx.winners)
        for group, here, parts in operations.groups:
            if group.arity == 2:
                tables = (group.tables, group.table_index, operations.scales)
                operations.run((parts, min_marginals.pair_gradients, *tables, given[here], grads[here], made[here]))
                continue
            sizes = np.array(group.shape)
            operations.run((parts, min_marginals.gradients, sizes, next(winners), grads[here], made[here]))
        return result, None


class Attention(torch.autograd.Function):
    """See `Operations.attention`."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, f2v: Tensor, operations: CompiledOperations
    ) -> tuple[Tensor, Tensor]:
        """Values, and what the way back needs."""
        damping, summed = f2v.new_empty(len(f2v)), torch.empty_like(f2v)
        arrays, outputs = _arrays(query, key, f2v), _arrays(damping, summed)
        operations.run((operations.shares, attentive_messages.attend, *operations.edges, *arrays, *outputs))
        ctx.save_for_backward(query, key, f2v)
        ctx.operations = operations
        return damping, summed

    @staticmethod
    def backward(ctx: Any, grad_damping: Tensor, grad_summed: Tensor) -> tuple[Any, ...]:
        """A gradient for each argument."""
        query, key, f2v = ctx.saved_tensors
        operations: CompiledOperations = ctx.operations
        by_edge = f2v.new_empty(2, len(f2v), query.shape[1])
        grad_f2v = torch.empty_like(f2v)
        arrays, given = _arrays(query, key, f2v), _arrays(grad_damping, grad_summed)
        outputs = _arrays(by_edge[0], by_edge[1], grad_f2v)
        everything = (*operations.edges, *arrays, *given, *outputs)
        operations.run((operations.shares, attentive_messages.attend_backward, *everything))
        grad_query = torch.zeros_like(query).index_add_(0, operations.edge_factor, by_edge[0])
        grad_key = torch.zeros_like(key).index_add_(0, operations.edge_factor, by_edge[1])
        return grad_query, grad_key, grad_f2v, None


class Composition(torch.autograd.Function):
    """See `Operations.compose`."""

    @staticmethod
    def forward(ctx: Any, damping: Tensor, v2f: Tensor, others: Tensor, operations: CompiledOperations) -> Tensor:
        """Values, and what the way back needs."""
        result = torch.empty_like(v2f)
        arrays = _arrays(damping, v2f, others, result)
        operations.run((operations.rows, composition.compose, *operations.messages, *arrays))
        ctx.save_for_backward(damping, v2f, others, result)
        ctx.operations = operations
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """A gradient for each argument."""
        operations: CompiledOperations = ctx.operations
        damping, v2f, _, _ = saved = ctx.saved_tensors
        made = torch.empty_like(damping), torch.empty_like(v2f), torch.empty_like(v2f)
        arrays = _arrays(*saved, gradient, *made)
        operations.run((operations.rows, composition.compose_backward, *operations.messages, *arrays))
        return *made, None


def _arrays(*tensors: Tensor) -> list[NDArray[np.floating]]:
    return [one.detach().contiguous().numpy() for one in tensors]

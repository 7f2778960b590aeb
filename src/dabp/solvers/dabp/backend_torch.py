"""The heavy operations in plain PyTorch, on any device: the GPU's path, and the compiled one's check."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from dabp.kernels.attention.hub_attention import HEADS
from dabp.solvers.dabp.backend import ATTENTION_SLOPE, OUTPUT_SLOPE, Backend, Layer
from dabp.solvers.dabp.structure import Structure, tensor

PAIRS_AT_ONCE = 4_000_000
"""How many (target, neighbour, head) triples are held at a time."""


class TorchBackend(Backend):
    """Gathers, segment sums and batched tables; nothing quadratic in a degree is kept for the backward pass."""

    def __init__(self, structure: Structure, device: torch.device):
        self.structure = structure
        graph = structure.graph
        self.limits = structure.in_offsets
        self.target = tensor(np.repeat(np.arange(structure.num_nodes), np.diff(structure.in_offsets)), device)
        self.source = tensor(structure.in_nodes, device)
        self.edge_variable = tensor(graph.edge_variable, device)
        self.edge_factor = tensor(structure.edge_factor, device)
        self.scales = torch.tensor(graph.scales, device=device, dtype=torch.float64)
        self.unary = tensor(structure.edge_unary, device)
        self.beyond = tensor(structure.beyond, device)
        self.alone = tensor(structure.alone, device)
        self.groups = [
            (group, tensor(group.tables, device), tensor(group.table_index, device)) for group in graph.groups
        ]
        self.blocks = [
            (tensor(edges, device), PAIRS_AT_ONCE // max(1, edges.shape[1] ** 2)) for edges in structure.edges_by_degree
        ]

    def attend(self, features: Tensor, layer: Layer, count: int) -> Tensor:
        """See `Backend.attend`."""
        projected, source, target = torch.split(features @ layer.matrix.T, [HEADS * layer.channels, HEADS, HEADS], 1)
        projected, target = projected.reshape(-1, HEADS, layer.channels), target[:count]
        last = int(self.limits[count])
        to, of = self.target[:last], self.source[:last]
        own = leaky_relu(target + source[:count], ATTENTION_SLOPE)
        score = leaky_relu(target[to] + source[of], ATTENTION_SLOPE)
        top = own.detach().scatter_reduce(0, to[:, None].expand_as(score), score.detach(), "amax")
        own, score = torch.exp(own - top), torch.exp(score - top[to])
        total = own.index_add(0, to, score)
        mixed = (own[..., None] * projected[:count]).index_add(0, to, score[..., None] * projected[of])
        mixed = mixed / total[..., None]
        mixed = mixed.mean(1) if layer.averages else mixed.flatten(1)
        return leaky_relu(mixed + layer.bias, OUTPUT_SLOPE)

    def f2v(self, v2f: Tensor) -> Tensor:
        """See `Backend.f2v`."""
        parts = []
        for group, tables, index in self.groups:
            copies, arity = len(self.scales), group.arity
            messages = v2f[group.first : group.first + len(index) * copies * arity]
            messages = messages.view(len(index), copies, arity, -1)
            costs = tables[index][:, None] * self.scales.to(v2f).view(1, -1, *[1] * arity)
            shaped = []
            for p, size in enumerate(group.shape):
                axes = [1] * arity
                axes[p] = size
                shaped.append(messages[:, :, p, :size].reshape(len(index), copies, *axes))
            out = torch.zeros_like(messages)
            for p in range(arity):
                total = costs
                for other in range(arity):
                    if other != p:
                        total = total + shaped[other]
                least = total.movedim(2 + p, 2).flatten(3).amin(-1)
                out = torch.cat([out[:, :, :p], _padded(least, out.shape[-1])[:, :, None], out[:, :, p + 1 :]], 2)
            parts.append(out.reshape(-1, v2f.shape[1]))
        return torch.cat(parts) if parts else torch.zeros_like(v2f)

    def beliefs(self, unary: Tensor, f2v: Tensor) -> Tensor:
        """See `Backend.beliefs`."""
        return unary.index_add(0, self.edge_variable, f2v)

    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """See `Backend.attention`."""
        damping, summed = torch.zeros_like(f2v[:, 0]), torch.zeros_like(f2v)
        for edges, block in self.blocks:
            for part in torch.split(edges, max(1, block)):
                flat = part.flatten()
                factors = self.edge_factor[part]
                one, rest = torch.utils.checkpoint.checkpoint(
                    _attention_block, query[factors], key[factors], f2v[part], use_reentrant=False
                )
                damping = damping.index_add(0, flat, one.flatten())
                summed = summed.index_add(0, flat, rest.flatten(0, 1))
        return damping, summed

    def compose(self, damping: Tensor, v2f: Tensor, others: Tensor) -> Tensor:
        """See `Backend.compose`."""
        damping = damping.masked_fill(self.alone, 0.0)[:, None]
        mixed = damping * v2f + (1 - damping) * (self.unary + others.masked_fill(self.alone[:, None], 0.0))
        least = mixed.masked_fill(self.beyond, torch.inf).amin(1, keepdim=True)
        return (mixed - least).masked_fill(self.beyond, 0.0)


def _attention_block(query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
    """B variables of one degree d: [B, d, heads] twice, [B, d, D] → [B, d], [B, d, D]."""
    degree = query.shape[1]
    score = torch.sigmoid(query[:, :, None] + key[:, None])
    itself = torch.eye(degree, dtype=torch.bool, device=query.device)[:, :, None]
    own = score.diagonal(dim1=1, dim2=2).transpose(1, 2)
    mean = score.masked_fill(itself, 0.0).sum(2) / (degree - 1)
    weight = torch.softmax(score.masked_fill(itself, -torch.inf), 2).mean(-1)
    return torch.sigmoid(own - mean).mean(-1), (degree - 1) * (weight @ f2v)


def _padded(messages: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(messages, (0, width - messages.shape[-1]))

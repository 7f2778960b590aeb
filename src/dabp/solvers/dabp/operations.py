"""The heavy operations of an iteration, in plain PyTorch for any device.

`CompiledOperations` (compiled.py) does the same with compiled kernels on the CPU; tests compare the two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from dabp.solvers.dabp.structure import Structure, tensor

ATTENTION_SLOPE = 0.2
"""LeakyReLU inside the scores of a GAT layer."""
OUTPUT_SLOPE = 0.01
"""LeakyReLU on the output of a GAT layer."""
PAIRS_AT_ONCE = 4_000_000
"""How many (target, neighbour, head) triples `TorchOperations` holds at a time."""


class Operations(ABC):
    """What the network and the messages need of a factor graph."""

    @abstractmethod
    def attend(self, features: Tensor, weight: Tensor, folded: Tensor, bias: Tensor, count: int) -> Tensor:
        """A GAT layer for the first `count` nodes (Eq. 9); see `network.GraphAttention`.

        [n, inputs], [heads × channels, inputs], [inputs, 2 × heads], [outputs] → [count, outputs]; heads are
        averaged if outputs = channels. `folded` is Wᵀa_src of each head, then Wᵀa_dst: scores without projecting.
        """

    @abstractmethod
    def f2v(self, v2f: Tensor) -> Tensor:
        """Factor→variable messages, min over the other variables of table + their messages (Eq. 3): [E, D] → [E, D]."""

    @abstractmethod
    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """Damping factors and weighted sums, averaged over heads (Eq. 10-13).

        With a_m(ℓ) = σ(query_ℓ + key_m) per head and d the variable's degree: λ_ℓ = σ(a_ℓ(ℓ) − mean over m ≠ ℓ of
        a_m(ℓ)), and (d − 1) Σ_{m ≠ ℓ} w_m(ℓ) f2v_m with w_m(ℓ) = softmax over m ≠ ℓ of a_m(ℓ). Both are 0 where d = 1.

        [F, heads] twice, [E, D] → [E], [E, D].
        """

    @abstractmethod
    def compose(self, damping: Tensor, v2f: Tensor, others: Tensor) -> Tensor:
        """New messages of Eq. 6, shifted to minimum 0: λ v2f + (1 − λ)(unary + others); [E], [E, D] twice → [E, D].

        A variable with one factor has nothing to damp or weigh: it sends its unary costs, zero without any.
        """


class TorchOperations(Operations):
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
            (tensor(edges, device), PAIRS_AT_ONCE // max(1, edges.shape[1] ** 2)) for edges in _by_degree(structure)
        ]

    def attend(self, features: Tensor, weight: Tensor, folded: Tensor, bias: Tensor, count: int) -> Tensor:
        """See `Operations.attend`."""
        heads = folded.shape[1] // 2
        channels = len(weight) // heads
        projected = (features @ weight.T).view(-1, heads, channels)
        source, target = torch.split(features @ folded, heads, 1)
        target = target[:count]
        last = int(self.limits[count])
        to, of = self.target[:last], self.source[:last]
        own = leaky_relu(target + source[:count], ATTENTION_SLOPE)
        score = leaky_relu(target[to] + source[of], ATTENTION_SLOPE)
        top = own.detach().scatter_reduce(0, to[:, None].expand_as(score), score.detach(), "amax")
        own, score = torch.exp(own - top), torch.exp(score - top[to])
        total = own.index_add(0, to, score)
        mixed = (own[..., None] * projected[:count]).index_add(0, to, score[..., None] * projected[of])
        mixed = mixed / total[..., None]
        mixed = mixed.mean(1) if len(bias) == channels else mixed.flatten(1)
        return leaky_relu(mixed + bias, OUTPUT_SLOPE)

    def f2v(self, v2f: Tensor) -> Tensor:
        """See `Operations.f2v`."""
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

    def attention(self, query: Tensor, key: Tensor, f2v: Tensor) -> tuple[Tensor, Tensor]:
        """See `Operations.attention`."""
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
        """See `Operations.compose`."""
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


def _by_degree(structure: Structure) -> list[np.ndarray]:
    """For each degree above 1, the edges of its variables, [variables, degree]."""
    graph = structure.graph
    starts, degrees = graph.variable_edge_offsets[:-1], np.diff(graph.variable_edge_offsets)
    return [
        graph.variable_edges[starts[degrees == degree][:, None] + np.arange(degree)]
        for degree in np.unique(degrees[degrees > 1]).tolist()
    ]

"""The network that reads messages and gives each factor a query and a key (paper §3.1, Eq. 8-10)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dabp.solvers.dabp.operations import Operations
from dabp.solvers.dabp.structure import Structure, tensor

HIDDEN = 8
"""Units of each GRU, width of the colour embedding, channels of a GAT head."""
GAT_HEADS = 4
EMBEDDING = 16
"""Channels of the last GAT layer."""
NODE_TYPES = 4
COLORS = 100
"""Rows of the colour embedding; later colours share the last one."""


class GraphAttention(nn.Module):
    """One GAT layer with self-loops on the message-node graph (Eq. 9).

    e_i' = LeakyReLU(Σ_j α_ij W e_j + b),  α_ij = softmax_j LeakyReLU(a_dst·W e_i + a_src·W e_j),
    j over the in-neighbours of i and i itself, per head; heads are concatenated or averaged.

    Shapes: [nodes of the layer below, inputs] → [nodes of this layer, heads × channels or channels].
    """

    def __init__(self, inputs: int, channels: int, heads: int, *, average: bool = False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads * channels, inputs))
        self.att_src = nn.Parameter(torch.empty(heads, channels))
        self.att_dst = nn.Parameter(torch.empty(heads, channels))
        self.bias = nn.Parameter(torch.zeros(channels if average else heads * channels))

    def reset(self, generator: torch.Generator) -> None:
        """Glorot, as PyTorch Geometric initialises its GATConv."""
        for parameter in (self.weight, self.att_src, self.att_dst):
            _uniform(parameter, math.sqrt(6.0 / sum(parameter.shape)), generator)

    def forward(self, features: Tensor, operations: Operations, count: int) -> Tensor:
        """The embeddings of the first `count` nodes."""
        return operations.attend(features, self.weight, self.att_src, self.att_dst, self.bias, count)


class Network(nn.Module):
    """Two GRU cells, four GAT layers and the projections of the last attention.

    Parameters
    ----------
    structure
        The graph; it decides the GRUs' input width and the nodes.
    heads
        K, heads of the last attention.
    generator
        Source of the initial parameters.
    """

    def __init__(self, structure: Structure, heads: int, generator: torch.Generator, device: torch.device):
        super().__init__()
        self.structure = structure
        self.color_embedding = nn.Parameter(torch.empty(COLORS, HIDDEN))
        self.gru_v2f = nn.GRUCell(structure.width, HIDDEN)
        self.gru_f2v = nn.GRUCell(structure.width, HIDDEN)
        wide = HIDDEN * GAT_HEADS
        self.layers = nn.ModuleList(
            [
                GraphAttention(NODE_TYPES + HIDDEN, HIDDEN, GAT_HEADS),
                GraphAttention(wide, HIDDEN, GAT_HEADS),
                GraphAttention(wide, HIDDEN, GAT_HEADS),
                GraphAttention(wide, EMBEDDING, GAT_HEADS, average=True),
            ]
        )
        self.query = nn.Parameter(torch.empty(heads, EMBEDDING, EMBEDDING))  # W2 of Eq. 10
        self.key = nn.Parameter(torch.empty(heads, EMBEDDING, EMBEDDING))  # W3
        self.score = nn.Parameter(torch.empty(heads, 2 * EMBEDDING))  # W1
        self.score_bias = nn.Parameter(torch.empty(heads))
        self.reset(generator)
        self.to(device)
        self.colors = tensor(structure.colors.clip(max=COLORS - 1), device)

    def reset(self, generator: torch.Generator) -> None:
        """N(0, 1) for the embedding, Glorot for the GAT layers, PyTorch's defaults elsewhere."""
        with torch.no_grad():
            self.color_embedding.normal_(generator=generator)
        for cell in (self.gru_v2f, self.gru_f2v):
            for parameter in cell.parameters():
                _uniform(parameter, HIDDEN**-0.5, generator)
        for layer in self.layers:
            layer.reset(generator)  # type: ignore[operator]
        for parameter in (self.query, self.key):
            _uniform(parameter, EMBEDDING**-0.5, generator)
        for parameter in (self.score, self.score_bias):
            _uniform(parameter, (2 * EMBEDDING) ** -0.5, generator)

    def embed(self, hidden_v2f: Tensor, hidden_f2v: Tensor, operations: Operations) -> Tensor:
        """Embeddings of the factors from the GRUs' states: [E, 8] twice → [F, 16]."""
        shape = self.structure
        colors = self.color_embedding[self.colors]
        nothing = colors.new_zeros(shape.num_factors, HIDDEN)
        features = torch.cat([_typed(nothing, 1), _typed(hidden_v2f, 2), _typed(colors, 0), _typed(hidden_f2v, 3)])
        for layer, count in zip(self.layers, shape.needed, strict=True):
            features = layer(features, operations, count)
        return features

    def forward(self, hidden_v2f: Tensor, hidden_f2v: Tensor, operations: Operations) -> tuple[Tensor, Tensor]:
        """Query and key of each factor and head, so that Eq. 10 is a_m(ℓ) = σ(query_ℓ + key_m): [F, K] twice.

        W1 [W2 e_ℓ ‖ W3 e_m] + b is a sum of two scalars: W1's halves are multiplied into W2 and W3 first.
        """
        embedding = self.embed(hidden_v2f, hidden_f2v, operations)
        of_query, of_key = torch.split(self.score, EMBEDDING, 1)
        query = embedding @ torch.einsum("ko,koi->ik", of_query, self.query) + self.score_bias
        key = embedding @ torch.einsum("ko,koi->ik", of_key, self.key)
        return query, key


def _typed(features: Tensor, kind: int) -> Tensor:
    """Prepend the one-hot of the node type (variable, factor, v2f message, f2v message)."""
    one_hot = features.new_zeros(len(features), NODE_TYPES)
    one_hot[:, kind] = 1.0
    return torch.cat([one_hot, features], 1)


def _uniform(parameter: Tensor, bound: float, generator: torch.Generator) -> None:
    with torch.no_grad():
        parameter.uniform_(-bound, bound, generator=generator)

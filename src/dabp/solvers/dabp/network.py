"""The network that reads messages and gives each factor a query and a key (paper §3.1, Eq. 8-10)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from dabp.kernels.attention.hub_attention import HEADS
from dabp.kernels.attention.one_variable import BLOCK
from dabp.solvers.dabp.backend import Backend, Layer
from dabp.solvers.dabp.recurrence import Cell
from dabp.solvers.dabp.structure import Structure, tensor

HIDDEN = 8
"""Units of each GRU, width of the colour embedding, channels of a GAT head."""
EMBEDDING = 16
"""Channels of the last GAT layer."""
NODE_TYPES = 4
COLORS = 100
"""Rows of the colour embedding; later colours share the last one."""


class GraphAttentionLayer(nn.Module):
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

    def prepared(self) -> Layer:
        """What a backend takes; inputs up to whole vectors are zero."""
        by_head = self.weight.view(*self.att_src.shape, -1)
        folded = [torch.einsum("hci,hc->hi", by_head, attention) for attention in (self.att_src, self.att_dst)]
        return Layer(pad(torch.cat([self.weight, *folded]), (0, -self.weight.shape[1] % BLOCK)), self.bias)


class Network(nn.Module):
    """Two GRU cells, four GAT layers and the projections of the last attention.

    Parameters
    ----------
    structure
        The graph; it decides the GRUs' input width and the nodes.
    heads
        K, heads of the last attention (the GAT layers have `HEADS`, which their kernels fix).
    generator
        Source of the initial parameters.
    """

    def __init__(self, structure: Structure, heads: int, generator: torch.Generator, device: torch.device):
        super().__init__()
        self.structure = structure
        self.color_embedding = nn.Parameter(torch.empty(COLORS, HIDDEN))
        self.gru_v2f = nn.GRUCell(structure.width, HIDDEN)
        self.gru_f2v = nn.GRUCell(structure.width, HIDDEN)
        wide = HIDDEN * HEADS
        self.layers = nn.ModuleList(
            [
                GraphAttentionLayer(NODE_TYPES + HIDDEN, HIDDEN, HEADS),
                GraphAttentionLayer(wide, HIDDEN, HEADS),
                GraphAttentionLayer(wide, HIDDEN, HEADS),
                GraphAttentionLayer(wide, EMBEDDING, HEADS, average=True),
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

    def prepared(self) -> PreparedNetwork:
        """What the iterations of a window use of the parameters; gradients of all of them gather in it.

        W1 [W2 e_ℓ ‖ W3 e_m] + b of Eq. 10 is a sum of two scalars: W1's halves are multiplied into W2 and W3.
        """
        of_query, of_key = torch.split(self.score, EMBEDDING, 1)
        colors = self.color_embedding[self.colors]
        edges = colors.new_zeros(self.structure.num_edges, 0)
        room = 0, -(NODE_TYPES + HIDDEN) % BLOCK
        return PreparedNetwork(
            needed=self.structure.needed,
            gru_v2f=_cell(self.gru_v2f),
            gru_f2v=_cell(self.gru_f2v),
            factors=pad(_typed(colors.new_zeros(self.structure.num_factors, HIDDEN), 1), room),
            kind_v2f=_typed(edges, 2),
            variables=pad(_typed(colors, 0), room),
            kind_f2v=_typed(edges, 3),
            layers=[layer.prepared() for layer in self.layers],  # type: ignore[operator]
            pair=torch.cat(
                [
                    torch.einsum("ko,koi->ki", of_query, self.query),
                    torch.einsum("ko,koi->ki", of_key, self.key),
                ]
            ),
            pair_bias=pad(self.score_bias, (0, len(self.score_bias))),
        )


@dataclass(frozen=True)
class PreparedNetwork:
    """The network for a window of iterations, between two updates: all that follows from its parameters alone."""

    needed: tuple[int, ...]
    """How many nodes each layer computes."""
    gru_v2f: Cell
    gru_f2v: Cell
    factors: Tensor
    """Features of the factor nodes, zero beyond, [F, 4 + 8 and up to whole vectors]."""
    kind_v2f: Tensor
    """Their nodes' type, [E, 4]."""
    variables: Tensor
    """Of the variable nodes, [N, 4 + 8 and up to whole vectors]."""
    kind_f2v: Tensor
    layers: list[Layer]
    pair: Tensor
    """Of Eq. 10, rows of queries and keys, [2K, 16]."""
    pair_bias: Tensor

    def attentive(self, hidden_v2f: Tensor, hidden_f2v: Tensor, backend: Backend) -> tuple[Tensor, Tensor]:
        """Query and key of each factor and head from the GRUs' states, so that Eq. 10 is a_m(ℓ) = σ(query_ℓ + key_m).

        [E, 8] twice → [F, K] twice.
        """
        room = self.kind_v2f.new_zeros(len(hidden_v2f), -(NODE_TYPES + HIDDEN) % BLOCK)
        v2f = torch.cat([self.kind_v2f, hidden_v2f, room], 1)
        f2v = torch.cat([self.kind_f2v, hidden_f2v, room], 1)
        features = backend.join(self.factors, v2f, self.variables, f2v)
        for layer, count in zip(self.layers, self.needed, strict=True):
            features = backend.attend(features, layer, count)
        query, key = backend.linear(features, self.pair, self.pair_bias).chunk(2, 1)
        return query, key


def kept_numbers(structure: Structure) -> int:
    """About how many numbers an iteration keeps for its backward pass: features, states, messages."""
    first, *others, last = structure.needed
    features = (NODE_TYPES + HIDDEN) * structure.num_nodes + HIDDEN * HEADS * (first + sum(others)) + EMBEDDING * last
    return features + structure.num_edges * (2 * HIDDEN + 4 * structure.width)


def _cell(cell: nn.GRUCell) -> Cell:
    return cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh


def _typed(features: Tensor, kind: int) -> Tensor:
    """Prepend the one-hot of the node type (variable, factor, v2f message, f2v message)."""
    one_hot = features.new_zeros(len(features), NODE_TYPES)
    one_hot[:, kind] = 1.0
    return torch.cat([one_hot, features], 1)


def _uniform(parameter: Tensor, bound: float, generator: torch.Generator) -> None:
    with torch.no_grad():
        parameter.uniform_(-bound, bound, generator=generator)

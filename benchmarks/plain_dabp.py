"""DABP written plainly, for measuring against: PyTorch Geometric layers, scatter operations over pairs of factors.

What one would write first: every pair of factors at a variable is a row, heads are modules, autograd keeps everything.
Binary factors and one domain size only. `load` takes the parameters of our network, so that the two can be compared.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv
from torch_geometric.utils import scatter, softmax

from dabp.solvers.dabp.network import Network
from dabp.solvers.dabp.structure import Structure


class Head(nn.Module):
    """One head of the last attention (paper Eq. 10-12)."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(16, 16, bias=False)
        self.key = nn.Linear(16, 16, bias=False)
        self.score = nn.Linear(32, 1)

    def forward(self, embedding: Tensor, target: Tensor, source: Tensor) -> Tensor:
        """σ(W1 [W2 e_ℓ ‖ W3 e_m]) of each pair."""
        both = torch.cat([self.query(embedding)[target], self.key(embedding)[source]], 1)
        return torch.sigmoid(self.score(both)).squeeze(1)


class PlainDabp(nn.Module):
    """The network and the messages on the split graph of a `Structure`."""

    def __init__(self, structure: Structure):
        super().__init__()
        graph = structure.graph
        (group,) = graph.groups
        size = structure.width
        self.structure = structure
        self.embedding = nn.Embedding(100, 8)
        self.gru1, self.gru2 = nn.GRUCell(size, 8), nn.GRUCell(size, 8)
        self.convs = nn.ModuleList([GATConv(12, 8, 4), GATConv(32, 8, 4), GATConv(32, 8, 4), GATConv(32, 16, 4, False)])
        self.heads = nn.ModuleList([Head() for _ in range(4)])
        scales = torch.tensor(graph.scales, dtype=torch.float32)
        tables = torch.from_numpy(group.tables[group.table_index].astype(np.float32))
        self.tables = (tables[:, None] * scales[:, None, None]).flatten(0, 1)
        self.unsplit, self.scope = tables, torch.from_numpy(group.scope)
        self.unary = torch.from_numpy(structure.padded(graph.unary).astype(np.float32))
        self.edge_variable, self.edge_factor = (
            torch.from_numpy(graph.edge_variable),
            torch.from_numpy(structure.edge_factor),
        )
        nodes = np.repeat(np.arange(structure.num_nodes), np.diff(structure.in_offsets))
        self.edge_index = torch.from_numpy(np.stack([structure.in_nodes, nodes]))
        pairs = [
            np.stack([np.repeat(edges, len(edges)), np.tile(edges, len(edges))])
            for edges in np.split(graph.variable_edges, graph.variable_edge_offsets[1:-1])
        ]
        target, source = torch.from_numpy(np.concatenate(pairs, 1))
        other = target != source
        self.target, self.source = target[other], source[other]
        self.degree = torch.bincount(self.edge_variable)[self.edge_variable].float()

    def load(self, network: Network) -> None:
        """Take our network's parameters."""
        with torch.no_grad():
            self.embedding.weight.copy_(network.color_embedding)
            self.gru1.load_state_dict(network.gru_v2f.state_dict())
            self.gru2.load_state_dict(network.gru_f2v.state_dict())
            for conv, layer in zip(self.convs, network.layers, strict=True):
                state = {"att_src": layer.att_src[None], "att_dst": layer.att_dst[None], "bias": layer.bias}
                conv.load_state_dict({**state, "lin.weight": layer.weight})
            for k, head in enumerate(self.heads):
                head.query.weight.copy_(network.query[k])
                head.key.weight.copy_(network.key[k])
                head.score.weight.copy_(network.score[k : k + 1])
                head.score.bias.copy_(network.score_bias[k : k + 1])

    def iterate(self, v2f: Tensor, hidden1: Tensor, hidden2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Beliefs, and the messages and states after one iteration."""
        row, column = v2f[0::2], v2f[1::2]
        to_row = (self.tables + column[:, None, :]).amin(2)
        to_column = (self.tables + row[:, :, None]).amin(1)
        f2v = torch.stack([to_row, to_column], 1).flatten(0, 1)
        beliefs = self.unary + scatter(f2v, self.edge_variable, 0, len(self.unary), "sum")
        hidden1, hidden2 = self.gru1(v2f.detach(), hidden1), self.gru2(f2v.detach(), hidden2)
        colors = self.embedding(torch.from_numpy(self.structure.colors.clip(max=99)))
        parts = [torch.zeros(self.structure.num_factors, 8), hidden1, colors, hidden2]
        kinds = nn.functional.one_hot(
            torch.repeat_interleave(torch.tensor([1, 2, 0, 3]), torch.tensor([len(p) for p in parts])), 4
        )
        features = torch.cat([kinds, torch.cat(parts)], 1)
        for conv in self.convs:
            features = nn.functional.leaky_relu(conv(features, self.edge_index), 0.01)
        edges = len(v2f)
        damping, weight = torch.zeros(edges), torch.zeros(len(self.target))
        for head in self.heads:
            score = head(features, self.edge_factor[self.target], self.edge_factor[self.source])
            own = head(features, self.edge_factor, self.edge_factor)
            weight = weight + softmax(score, self.target, num_nodes=edges) / 4
            mean = scatter(score, self.target, 0, edges, "sum") / (self.degree - 1)
            damping = damping + torch.sigmoid(own - mean) / 4
        others = scatter(weight[:, None] * f2v[self.source], self.target, 0, edges, "sum")
        own_unary = self.unary[self.edge_variable]
        mixed = (1 - damping[:, None]) * (own_unary + (self.degree - 1)[:, None] * others)
        mixed = damping[:, None] * v2f + mixed
        return beliefs, mixed - mixed.amin(1, keepdim=True), hidden1, hidden2

    def loss(self, beliefs: Tensor) -> Tensor:
        """Smoothed cost + 0.1 × mean entropy in bits."""
        chances = torch.softmax(-beliefs, 1)
        pairs = chances[self.scope[:, 0]][:, :, None] * chances[self.scope[:, 1]][:, None, :]
        entropy = torch.special.entr(chances).sum(1).mean() / np.log(2.0)
        return (self.unsplit * pairs).sum() + (self.unary * chances).sum() + 0.1 * entropy

    def window(self, state: tuple[Tensor, Tensor, Tensor], length: int, effective: list[int]) -> tuple[Tensor, ...]:
        """Run a window and differentiate the mean loss of the effective iterations; the loss and the state after."""
        made: list[Tensor] = []
        state = tuple(one.detach() for one in state)
        for _ in range(length):
            beliefs, *after = self.iterate(*state)
            state = tuple(after)
            made.append(beliefs)
        loss = torch.stack([self.loss(made[t]) for t in effective]).mean()
        self.zero_grad()
        loss.backward()
        return loss.detach(), *state

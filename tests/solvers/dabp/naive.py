"""DABP straight from the paper, in plain autograd: dense over pairs of factors, nothing padded, folded or interpolated.

Takes the parameters of our `Network` and the scaled, split tables of a `FactorGraph`, and shares no other code with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dabp.graph import FactorGraph
from dabp.solvers.dabp.network import Network

VARIABLE, FACTOR, V2F, F2V = range(4)
"""Node types, in the order of their one-hot."""


@dataclass
class Factor:
    """One copy of a factor: its table and its variables."""

    table: Tensor
    scope: list[int]


class NaiveDabp:
    """A window of iterations and its loss."""

    def __init__(self, graph: FactorGraph, network: Network, colors: list[int]):
        self.network, self.colors = network, colors
        kind = network.score.dtype
        offsets = graph.variable_offsets
        self.unary = [
            torch.from_numpy(graph.unary[offsets[i] : offsets[i + 1]]).to(kind) for i in range(graph.num_variables)
        ]
        self.factors, self.whole = [], []
        for group in graph.groups:
            for index, scope in zip(group.table_index, group.scope.tolist(), strict=True):
                table = torch.from_numpy(group.tables[index]).to(kind)
                self.whole.append(Factor(table, scope))
                self.factors += [Factor(scale * table, scope) for scale in graph.scales]
        self.edges = [(f, variable) for f, factor in enumerate(self.factors) for variable in factor.scope]
        self.width = max(len(costs) for costs in self.unary)

    def window(self, length: int, effective: list[int]) -> Tensor:
        """The mean loss of the effective iterations of a first window."""
        v2f = [torch.zeros_like(self.unary[variable]) for _, variable in self.edges]
        states = [torch.zeros(len(self.edges), 8, dtype=self.network.score.dtype) for _ in range(2)]
        losses = []
        for _ in range(length):
            f2v = self.f2v(v2f)
            beliefs = list(self.unary)
            for (_, variable), message in zip(self.edges, f2v, strict=True):
                beliefs[variable] = beliefs[variable] + message
            losses.append(self.loss(beliefs))
            states = [
                self.network.gru_v2f(self.padded(v2f), states[0]),
                self.network.gru_f2v(self.padded(f2v), states[1]),
            ]
            v2f = self.compose(v2f, f2v, self.embeddings(*states))
        return torch.stack([losses[t] for t in effective]).mean()

    def padded(self, messages: list[Tensor]) -> Tensor:
        """[E, D], detached: what the GRUs read."""
        rows = [torch.nn.functional.pad(one.detach(), (0, self.width - len(one))) for one in messages]
        return torch.stack(rows)

    def f2v(self, v2f: list[Tensor]) -> list[Tensor]:
        """Eq. 3."""
        made, first = [], 0
        for factor in self.factors:
            arity = len(factor.scope)
            for own in range(arity):
                total = factor.table
                for other in range(arity):
                    if other != own:
                        shape = [1] * arity
                        shape[other] = -1
                        total = total + v2f[first + other].view(shape)
                made.append(total.movedim(own, 0).flatten(1).min(1).values)
            first += arity
        return made

    def embeddings(self, hidden_v2f: Tensor, hidden_f2v: Tensor) -> Tensor:
        """Eq. 9: four GAT layers on the graph of variables, factors and message nodes; [F, 16]."""
        network, kind = self.network, hidden_v2f.dtype
        variables, factors, edges = len(self.unary), len(self.factors), len(self.edges)
        parts = (network.color_embedding[self.colors], torch.zeros(factors, 8, dtype=kind), hidden_v2f, hidden_f2v)
        one_hot = torch.eye(4, dtype=kind)
        features = torch.cat([torch.cat([one_hot[k].expand(len(p), 4), p], 1) for k, p in enumerate(parts)])
        near: list[list[int]] = [[] for _ in range(variables + factors + 2 * edges)]
        for e, (factor, variable) in enumerate(self.edges):
            v2f, f2v = variables + factors + e, variables + factors + edges + e
            near[v2f].append(variable)
            near[variables + factor].append(v2f)
            near[f2v].append(variables + factor)
            near[variable].append(f2v)
        by_degree: dict[int, list[int]] = {}
        for node, others in enumerate(near):
            by_degree.setdefault(len(others), []).append(node)
        for number, layer in enumerate(network.layers):
            heads, channels = layer.att_src.shape
            projected = (features @ layer.weight.T).view(-1, heads, channels)
            source, target = (projected * layer.att_src).sum(2), (projected * layer.att_dst).sum(2)
            order, after = [], []
            for nodes in by_degree.values():
                seen = torch.tensor([[*near[node], node] for node in nodes])
                score = torch.nn.functional.leaky_relu(source[seen] + target[nodes][:, None], 0.2)
                after.append((torch.softmax(score, 1)[..., None] * projected[seen]).sum(1))
                order += nodes
            mixed = torch.cat(after)[torch.argsort(torch.tensor(order))]
            mixed = mixed.mean(1) if number == len(network.layers) - 1 else mixed.flatten(1)
            features = torch.nn.functional.leaky_relu(mixed + layer.bias, 0.01)
        return features[variables : variables + factors]

    def compose(self, v2f: list[Tensor], f2v: list[Tensor], embedding: Tensor) -> list[Tensor]:
        """Eq. 6 with λ and w of Eq. 10-13, every pair of a variable's factors."""
        network, made = self.network, list(v2f)
        of_target, of_other = (
            torch.einsum("koi,fi->kfo", matrix, embedding) for matrix in (network.query, network.key)
        )
        for variable, unary in enumerate(self.unary):
            here = [e for e, (_, v) in enumerate(self.edges) if v == variable]
            factors, degree = [self.edges[e][0] for e in here], len(here)
            if degree == 1:
                made[here[0]] = unary - unary.min()
            if degree < 2:
                continue
            itself = torch.eye(degree, dtype=torch.bool)
            shape = (len(of_target), degree, degree, of_target.shape[2])
            both = torch.cat([of_target[:, factors, None].expand(shape), of_other[:, None, factors].expand(shape)], 3)
            score = torch.sigmoid((both * network.score[:, None, None]).sum(3) + network.score_bias[:, None, None])
            mean = score.masked_fill(itself, 0.0).sum(2) / (degree - 1)
            damping = torch.sigmoid(score.diagonal(dim1=1, dim2=2) - mean).mean(0)[:, None]
            weights = torch.softmax(score.masked_fill(itself, -torch.inf), 2).mean(0)
            summed = (degree - 1) * weights @ torch.stack([f2v[e] for e in here])
            message = damping * torch.stack([v2f[e] for e in here]) + (1 - damping) * (unary + summed)
            message = message - message.min(1, keepdim=True).values
            for e, row in zip(here, message, strict=True):
                made[e] = row
        return made

    def loss(self, beliefs: list[Tensor]) -> Tensor:
        """Eq. 14 on whole factors, plus a tenth of the mean entropy in bits."""
        chances = [torch.softmax(-belief, 0) for belief in beliefs]
        total = sum((unary * chance).sum() for unary, chance in zip(self.unary, chances, strict=True))
        for factor in self.whole:
            joint = torch.ones((), dtype=factor.table.dtype)
            for variable in factor.scope:
                joint = joint[..., None] * chances[variable]
            total = total + (factor.table * joint).sum()
        entropy = sum(-(chance * torch.log2(chance + 1e-6)).sum() for chance in chances) / len(chances)
        return total + 0.1 * entropy

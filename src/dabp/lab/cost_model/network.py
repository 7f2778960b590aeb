"""The cost model: four graph attention layers over a microstructure, and a read-out per value (torch, for training).

Searching does not need torch: `kernels.cost_model` computes the same predictions from `weights.fold`.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dabp.lab.cost_model.microstructure import Level, Microstructure


class AttentionLayer(nn.Module):
    r"""A graph attention layer between two levels of a microstructure.

    .. math:: h_i' = b + \Vert_k \sum_{j \in N(i) \cup \{i\}} \alpha_{ij}^k W^k h_j, \qquad
       \alpha_{ij}^k \propto \exp(\mathrm{LeakyReLU}(a_l^k \cdot W^k h_j + a_r^k \cdot W^k h_i))

    Parameters
    ----------
    inputs, channels, heads
        h has `inputs` entries, W^k h has `channels`.
    average
        Whether heads are averaged instead of concatenated.
    """

    def __init__(self, inputs: int, channels: int, heads: int, *, average: bool = False):
        super().__init__()
        self.heads, self.channels, self.average = heads, channels, average
        self.weight = nn.Parameter(torch.empty(heads * channels, inputs))
        self.source = nn.Parameter(torch.empty(heads, channels))
        self.target = nn.Parameter(torch.empty(heads, channels))
        self.bias = nn.Parameter(torch.zeros(channels if average else heads * channels))
        nn.init.xavier_uniform_(self.weight)
        nn.init.xavier_uniform_(self.source)
        nn.init.xavier_uniform_(self.target)

    def forward(self, nodes: Tensor, level: Level) -> Tensor:
        """From nodes [n, inputs] of the level before to [m, heads × channels] (or [m, channels])."""
        by_head = self.weight.view(self.heads, self.channels, -1)
        projected = (nodes @ self.weight.T).view(-1, self.heads, self.channels)
        from_source = nodes @ torch.einsum("hci,hc->ih", by_head, self.source)
        kept = nodes[torch.from_numpy(level.source[level.offsets[:-1]])]
        from_target = kept @ torch.einsum("hci,hc->ih", by_head, self.target)
        source, count = torch.from_numpy(level.source), len(kept)
        target = torch.repeat_interleave(torch.arange(count), torch.from_numpy(np.diff(level.offsets)))
        score = functional.leaky_relu(from_source[source] + from_target[target], 0.2)
        top = score.new_full((count, self.heads), -torch.inf).scatter_reduce(
            0, target[:, None].expand_as(score), score.detach(), "amax"
        )
        power = torch.exp(score - top[target])
        total = torch.zeros_like(top).index_add(0, target, power)
        share = (power / total[target])[:, :, None]
        mixed = projected.new_zeros(count, *projected.shape[1:]).index_add(0, target, share * projected[source])
        out = mixed.mean(1) if self.average else mixed.flatten(1)
        return out + self.bias


class CostModel(nn.Module):
    r"""Predicts, for each value of a target variable, the least cost of its subtree, in units of cost / 100.

    .. math:: \hat c(v) = w \cdot \mathrm{ELU}([A \textstyle\sum_f h_f \Vert T h_v]) + w_0

    over the constraint nodes f of the subtree and the value node v. Because w is linear the constraints add the
    same to every value of a target.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                AttentionLayer(4, 8, 8),
                AttentionLayer(64, 8, 8),
                AttentionLayer(64, 8, 8),
                AttentionLayer(64, 16, 4, average=True),
            ]
        )
        self.aggregate = nn.Linear(16, 16, bias=False)
        self.transform = nn.Linear(16, 16, bias=False)
        self.out = nn.Linear(32, 1)

    def forward(self, graph: Microstructure) -> Tensor:
        """One prediction per read-out value of the graph, without the constraints' part if they were left out."""
        nodes = torch.from_numpy(graph.features).to(self.out.weight.dtype)
        for layer, level in zip(self.layers, graph.levels, strict=True):
            nodes = functional.elu(layer(nodes, level))
        num_values = len(graph.value_subtree)
        value_weight, value_part = self.out.weight[0, 16:], functional.elu(self.transform(nodes[:num_values]))
        prediction = value_part @ value_weight + self.out.bias
        if not len(graph.constraint_subtree):
            return prediction
        num_subtrees = int(graph.value_subtree[-1]) + 1
        sums = torch.zeros(num_subtrees, nodes.shape[1], dtype=nodes.dtype).index_add(
            0, torch.from_numpy(graph.constraint_subtree), nodes[num_values:]
        )
        offset = functional.elu(self.aggregate(sums)) @ self.out.weight[0, :16]
        return prediction + offset[torch.from_numpy(graph.value_subtree)]

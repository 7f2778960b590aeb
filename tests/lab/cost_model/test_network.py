"""The torch network is the published architecture."""

from __future__ import annotations

import numpy as np
import torch

from dabp.lab.cost_model.microstructure import Subtree, microstructure
from tests.lab.cost_model.trees import large_model, tree_problem


def plain_graph(subtree: Subtree) -> tuple[torch.Tensor, torch.Tensor, list[int], list[int]]:
    """The microstructure spelt out node by node from the paper's description, with nothing pruned or shared."""
    features, edges, value_node, constraint_nodes = [], [], {}, []

    def node(kind: int, amount: float = 0.0) -> int:
        row = [0.0] * 4
        row[kind], row[3] = 1.0, amount
        features.append(row)
        return len(features) - 1

    for i, size in enumerate(subtree.sizes):
        for a in range(size):
            value_node[i, a] = node(2)
    for low, high, table in zip(subtree.lower, subtree.upper, subtree.tables, strict=True):
        constraint = node(0)
        constraint_nodes.append(constraint)
        for (b, a), cost in np.ndenumerate(table):
            pair = node(1, float(cost))
            edges += [(value_node[low, b], pair), (pair, value_node[high, a]), (pair, constraint)]
    for i, unary in enumerate(subtree.unary):
        if unary is not None:
            constraint = node(0)
            constraint_nodes.append(constraint)
            for a, cost in enumerate(unary):
                leaf = node(1, float(cost))
                edges += [(leaf, value_node[i, a]), (leaf, constraint)]
    targets = [value_node[0, a] for a in range(subtree.sizes[0])]
    return torch.tensor(features), torch.tensor(edges).T, targets, constraint_nodes


def test_network_is_pyg_on_the_plain_graph() -> None:
    """Pruning, stand-ins and compiled attention change nothing: PyTorch Geometric's GATConv on every node agrees."""
    import torch_geometric.nn as geometric  # seconds, so only here

    _, subtree = tree_problem(np.random.default_rng(1))
    model = large_model(3).double()
    nodes, edges, targets, constraints = plain_graph(subtree)
    nodes = nodes.double()
    with torch.no_grad():
        for ours in model.layers:
            inputs = ours.weight.shape[1]
            layer = geometric.GATConv(inputs, ours.channels, ours.heads, concat=not ours.average).double()
            layer.lin.weight.copy_(ours.weight)
            layer.att_src.copy_(ours.source[None])
            layer.att_dst.copy_(ours.target[None])
            layer.bias.copy_(ours.bias)
            nodes = torch.nn.functional.elu(layer(nodes, edges))
        both = torch.cat(
            [
                model.aggregate(nodes[constraints].sum(0, keepdim=True)).expand(len(targets), -1),
                model.transform(nodes[targets]),
            ],
            dim=1,
        )
        expected = model.out(torch.nn.functional.elu(both)).flatten()
        assert torch.allclose(model(microstructure([subtree])), expected, atol=1e-9)

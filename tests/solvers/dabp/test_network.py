"""The network: its layers are PyTorch Geometric's, its shape is the paper's."""

from __future__ import annotations

import numpy as np
import torch

from dabp.solvers.dabp.backend import OUTPUT_SLOPE
from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.network import Network
from tests.solvers.dabp.graphs import CPU, mixed, structure_of


def test_layers_equal_pyg() -> None:
    """The four layers are PyTorch Geometric's GATConv on the message-node graph."""
    import torch_geometric.nn as geometric  # seconds, so only here

    structure = structure_of(mixed())
    network = Network(structure, 4, torch.Generator().manual_seed(3), CPU).double()
    target = np.repeat(np.arange(structure.num_nodes), np.diff(structure.in_offsets))
    edges = torch.from_numpy(np.stack([structure.in_nodes, target]))
    backend = CpuBackend(structure)
    features = torch.randn(structure.num_nodes, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    ours, theirs = features, features
    for number, (layer, count) in enumerate(zip(network.layers, structure.needed, strict=True)):
        with torch.no_grad():
            layer.bias.normal_(generator=torch.Generator().manual_seed(number))
        heads, channels = layer.att_src.shape
        peer = geometric.GATConv(theirs.shape[1], channels, heads, concat=number < 3).double()
        state = {"att_src": layer.att_src[None], "att_dst": layer.att_dst[None], "bias": layer.bias}
        peer.load_state_dict({**state, "lin.weight": layer.weight})
        theirs = torch.nn.functional.leaky_relu(peer(theirs, edges), OUTPUT_SLOPE)
        ours = backend.attend(ours, layer.prepared(), count)
        torch.testing.assert_close(ours, theirs[:count])


def test_attentive_gives_what_the_paper_writes() -> None:
    """σ(query_ℓ + key_m) is σ(W1 [W2 e_ℓ ‖ W3 e_m] + b) of Eq. 10 for every pair of factors and head."""
    structure = structure_of(mixed())
    network = Network(structure, 3, torch.Generator().manual_seed(3), CPU).double()
    states = torch.randn(2, structure.num_edges, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    prepared, backend = network.prepared(), CpuBackend(structure)
    query, key = prepared.attentive(*states, backend)
    kinds = torch.eye(4, dtype=torch.float64)
    colors = network.color_embedding[torch.from_numpy(structure.colors)]
    parts = [torch.zeros(structure.num_factors, 8, dtype=torch.float64), states[0], colors, states[1]]
    features = torch.cat(
        [torch.cat([kinds[k].expand(len(part), 4), part], 1) for k, part in zip((1, 2, 0, 3), parts, strict=True)]
    )
    for layer, count in zip(prepared.layers, structure.needed, strict=True):
        features = backend.attend(features, layer, count)
    assert features.shape == (structure.num_factors, 16)
    for head in range(3):
        of_target, of_neighbour = features @ network.query[head].T, features @ network.key[head].T
        for target in range(structure.num_factors):
            for neighbour in range(structure.num_factors):
                both = torch.cat([of_target[target], of_neighbour[neighbour]])
                score = network.score[head] @ both + network.score_bias[head]
                torch.testing.assert_close(query[target, head] + key[neighbour, head], score)

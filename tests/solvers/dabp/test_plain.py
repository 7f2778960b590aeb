"""The plain path against formulas written another way, and whole solves with it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import dabp
from dabp.solvers.dabp import plain
from dabp.solvers.dabp.parameters import OUTPUT_SLOPE
from tests.solvers.dabp.graphs import mixed, parameters_of, structure_of

SOURCE = 4


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(SOURCE))


@pytest.fixture(scope="module")
def graph() -> plain.Graph:
    return plain.Graph(structure_of(mixed()), torch.device("cpu"))


def theta_of(graph: plain.Graph, heads: int = 4) -> plain.Theta:
    parameters = parameters_of(graph.structure, heads)
    for name, value in parameters.items():
        if name.endswith(".bias"):
            value[...] = np.random.default_rng(2).normal(size=value.shape)
    return {name: torch.from_numpy(value) for name, value in parameters.items()}


def test_messages_to_variables_are_minima_over_all_cells(graph: plain.Graph) -> None:
    """Every copy of every factor, cell by cell (Eq. 3)."""
    factors, v2f = graph.structure.graph, normal(graph.structure.num_edges, graph.structure.width)
    made, edge = plain.factor_to_variable(graph, v2f), 0
    for group in factors.groups:
        for table, scale in itertools.product(group.tables[group.table_index], factors.scales):
            for own in range(group.arity):
                expected = np.full(graph.structure.width, np.inf)
                for cell in itertools.product(*map(range, group.shape)):
                    heard = sum(float(v2f[edge + p, x]) for p, x in enumerate(cell) if p != own)
                    expected[cell[own]] = min(expected[cell[own]], scale * table[cell] + heard)
                expected[~np.isfinite(expected)] = 0.0
                np.testing.assert_allclose(made[edge + own], expected, atol=1e-12)
            edge += group.arity


def test_gru_is_that_of_pytorch(graph: plain.Graph) -> None:
    """Eq. 8; no gradient flows to the messages."""
    theta, width = theta_of(graph), graph.structure.width
    cell = torch.nn.GRUCell(width, 8).double()
    cell.load_state_dict({name.removeprefix("gru_v2f."): one for name, one in theta.items() if "gru_v2f" in name})
    message, hidden = normal(7, width).requires_grad_(), normal(7, 8).requires_grad_()
    made = plain.gru(theta, "gru_v2f", message, hidden)
    torch.testing.assert_close(made, cell(message, hidden))
    assert torch.autograd.grad(made.sum(), message, allow_unused=True) == (None,)


def test_layers_equal_pyg(graph: plain.Graph) -> None:
    """The four layers are PyTorch Geometric's GATConv on the message-node graph (Eq. 9)."""
    import torch_geometric.nn as geometric  # seconds, so only here

    theta = theta_of(graph)
    arcs = torch.stack([graph.source, graph.target])
    arcs = arcs[:, arcs[0] != arcs[1]]  # GATConv adds the self-loops
    features = normal(graph.structure.num_nodes, 12)
    for number in range(4):
        weight, bias, *attention = (
            theta[f"layers.{number}.{part}"] for part in ("weight", "bias", "att_src", "att_dst")
        )
        heads, channels = attention[0].shape
        peer = geometric.GATConv(features.shape[1], channels, heads, concat=number < 3).double()
        state = {"att_src": attention[0][None], "att_dst": attention[1][None], "bias": bias, "lin.weight": weight}
        peer.load_state_dict(state)
        expected = torch.nn.functional.leaky_relu(peer(features, arcs), OUTPUT_SLOPE)
        features = plain.graph_attention(graph, theta, number, features)
        torch.testing.assert_close(features, expected)


def dense(query: np.ndarray, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """λ [d] and w × (d − 1) [d, d] of one variable from [d, K] twice, heads averaged (Eq. 10-13)."""
    degree, others = len(query), ~np.eye(len(query), dtype=bool)
    a = 1.0 / (1.0 + np.exp(-(query.T[:, :, None] + key.T[:, None, :])))
    powers = np.exp(a) * others
    own = np.einsum("kll->kl", a)
    damping = 1.0 / (1.0 + np.exp((a * others).sum(2) / (degree - 1) - own))
    return damping.mean(0), (degree - 1) * (powers / powers.sum(2, keepdims=True)).mean(0)


def test_attention_equals_the_dense_formulas(graph: plain.Graph) -> None:
    """λ and w of Eq. 10-13, one variable after the other in NumPy; W1 [W2 e ‖ W3 e] pair by pair."""
    theta, embedding = theta_of(graph, 3), normal(2, 5, 16)
    damping, weights = plain.attention(theta, embedding)
    scores = plain.attention_scores(theta, embedding)
    for n in range(2):
        for k, target, other in itertools.product(range(3), range(5), range(5)):
            both = torch.cat([theta["query"][k] @ embedding[n, target], theta["key"][k] @ embedding[n, other]])
            score = torch.sigmoid(theta["score"][k] @ both + theta["score_bias"][k])
            torch.testing.assert_close(scores[n, k, target, other], score)
        addends = (
            torch.einsum("kj,kji,di->dk", half, theta[name], embedding[n])
            for half, name in zip(theta["score"].chunk(2, 1), ("query", "key"), strict=True)
        )
        query, key = (one.numpy() for one in addends)
        expected = dense(query + theta["score_bias"].numpy(), key)
        np.testing.assert_allclose(damping[n], expected[0], atol=1e-12)
        np.testing.assert_allclose(4 * weights[n], expected[1], atol=1e-12)


def test_new_messages_are_those_of_equation_6(graph: plain.Graph) -> None:
    """Edge by edge; a variable with one factor sends its unary costs."""
    structure = graph.structure
    edges, width = structure.num_edges, structure.width
    v2f, f2v = (
        one * torch.from_numpy(structure.domain_mask[structure.graph.edge_variable]) for one in normal(2, edges, width)
    )
    damping = torch.sigmoid(normal(edges))
    weights = [torch.softmax(normal(len(near), near.shape[1], near.shape[1]), 2) for near in graph.neighbourhoods]
    made = plain.variable_to_factor(graph, plain.Learned(damping, weights), v2f, f2v)
    seen = 0
    for near, weight in zip(graph.neighbourhoods, weights, strict=True):
        for n, row in enumerate(near.tolist()):
            for target, edge in enumerate(row):
                size = structure.edge_size[edge]
                others = sum(weight[n, target, m] * f2v[other] for m, other in enumerate(row))
                raw = graph.unary[graph.edge_variable[edge]] + (len(row) - 1) * others
                raw = (damping[edge] * v2f[edge] + (1 - damping[edge]) * raw)[:size]
                torch.testing.assert_close(made[edge, :size], raw - raw.min())
                assert not made[edge, size:].any()
                seen += 1
    for edge in np.flatnonzero(structure.alone):
        unary = graph.unary[graph.edge_variable[edge], : structure.edge_size[edge]]
        torch.testing.assert_close(made[edge, : len(unary)], unary - unary.min())
        seen += 1
    assert seen == edges


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_whole_solve_is_the_compiled_one(dtype: str) -> None:
    """Restarts, windows and updates by the same Algorithm 1: the same costs, and losses that agree."""
    problem = dabp.generate("random-cop", variables=8, domain=4, density=0.6, seed=3)
    params = {"restarts": 2, "max_iterations_per_restart": 12, "update_interval": 5, "dtype": dtype}
    ours, theirs = (
        dabp.solve(problem, "dabp", params={**params, "backend": name}, time_limit=300)
        for name in ("compiled", "plain")
    )
    np.testing.assert_array_equal(ours.trace.iteration_costs, theirs.trace.iteration_costs)
    assert len(ours.trace.records) == len(theirs.trace.records)
    for mine, other in zip(ours.trace.records, theirs.trace.records, strict=True):
        assert mine.keys() == other.keys()
        for key in ("loss", "smoothed_cost", "damping_min", "damping_max", "weight_min", "weight_max"):
            if mine.get(key) is not None:
                assert mine[key] == pytest.approx(other[key], rel=1e-4 if dtype == "float32" else 1e-8), key

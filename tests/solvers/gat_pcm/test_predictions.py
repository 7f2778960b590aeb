"""The compiled predictions, the torch network and PyTorch Geometric's layers are one model."""

import numpy as np
import pytest
import torch

from dabp.kernels.cost_model.cost_model import level_tables
from dabp.kernels.cost_model.repair import destroy, predict
from dabp.problem import Problem
from dabp.solvers.gat_pcm.microstructure import Subtree, microstructure
from dabp.solvers.gat_pcm.network import CostModel
from dabp.solvers.gat_pcm.structure import structure
from dabp.solvers.gat_pcm.weights import Weights


def tree_problem(rng, *, colouring=False):
    """Six variables of mixed domains, the pseudo-tree 0-1-2-3 with 0-2, 1-3, 0-4, 4-5; most with unary costs."""
    sizes = rng.integers(2, 6, size=6)
    edges = [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 4), (4, 5)]
    tables = [rng.integers(101, size=(sizes[i], sizes[j])).astype(float) for i, j in edges]
    unary = {i: rng.integers(400, size=sizes[i]).astype(float) for i in (0, 1, 3, 4)}
    scopes = [*edges, *((i,) for i in unary)]
    pools = [t.ravel() for t in tables] + list(unary.values())
    problem = Problem(
        sizes,
        np.concatenate([np.array(s) for s in scopes]),
        np.cumsum([0, *(len(s) for s in scopes)]),
        np.concatenate(pools),
        np.cumsum([0, *(len(p) for p in pools)]),
    )
    subtree = Subtree(
        sizes,
        tuple((unary[i] / 100).astype(np.float32) if i in unary else None for i in range(6)),
        np.array([j for _, j in edges]),
        np.array([i for i, _ in edges]),
        tuple((t.T / 100).astype(np.float32) for t in tables),
    )
    return problem, subtree


def compiled_predictions(problem, model):
    weights = Weights.fold({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    arrays = structure(problem, cost_scale=100.0)
    n, values = problem.num_variables, int(problem.domain_sizes.sum())
    position, assigned = np.empty(n, dtype=np.int64), np.empty(n, dtype=bool)
    penalised, amount = np.empty(values), np.empty(values, dtype=np.float32)
    everything, start = np.ones(n, dtype=bool), np.zeros(n, dtype=np.int64)
    destroy(arrays, everything, np.arange(n), start, position, penalised, amount, assigned)
    tables = level_tables(arrays.level_amount, weights)
    below = int(problem.domain_sizes[[1, 2, 4]].sum())
    return predict(arrays, weights, tables, 0, below, position, amount, assigned)


def large_model(seed):
    """A model with parameters large enough that every nonlinearity matters."""
    torch.manual_seed(seed)
    model = CostModel()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5).add_(0.1 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("seed", range(5))
def test_kernel_predicts_what_the_network_predicts(seed):
    """The search decides by the model that was trained: equal up to what all values of a target share."""
    problem, subtree = tree_problem(np.random.default_rng(seed))
    model = large_model(seed)
    with torch.no_grad():
        expected = model(microstructure([subtree])).numpy()
    found = compiled_predictions(problem, model)
    assert found - found.mean() == pytest.approx(expected - expected.mean(), abs=2e-3 * max(1, np.ptp(expected)))


def test_leaving_out_constraints_shifts_predictions_only():
    """Pruned graphs, on which most of the training runs, give the same differences between values."""
    rng = np.random.default_rng(0)
    subtrees = [tree_problem(rng)[1] for _ in range(3)]
    model = large_model(0).double()
    with torch.no_grad():
        full = model(microstructure(subtrees))
        pruned = model(microstructure(subtrees, constraints=False))
        single = torch.cat([model(microstructure([one])) for one in subtrees])
    assert torch.allclose(full, single, atol=1e-9)
    start = 0
    for one in subtrees:
        gap = (full - pruned)[start : start + one.sizes[0]]
        assert torch.allclose(gap, gap[0].expand_as(gap), atol=1e-9)
        start += one.sizes[0]


def plain_graph(subtree):
    """The microstructure spelt out node by node from the paper's description, with nothing pruned or shared."""
    features, edges, value_node, constraint_nodes = [], [], {}, []

    def node(kind, amount=0.0):
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


def test_network_is_pyg_on_the_plain_graph():
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


def test_attention_gradient():
    """The compiled backward pass is the derivative of the forward pass."""
    _, subtree = tree_problem(np.random.default_rng(2))
    model = large_model(1).double()
    graph = microstructure([subtree])
    parameters = {name: p for name, p in model.named_parameters() if name.startswith("layers.2.")}

    def predict_with(*tensors):
        return torch.func.functional_call(model, dict(zip(parameters, tensors, strict=True)), (graph,))

    assert torch.autograd.gradcheck(predict_with, tuple(parameters.values()), fast_mode=True)

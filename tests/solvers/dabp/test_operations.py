"""The heavy operations: compiled and PyTorch versions, PyG's layers, and gradients by differences, all agree."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.dabp.compiled import CompiledOperations, even_shares
from dabp.solvers.dabp.network import Network
from dabp.solvers.dabp.operations import OUTPUT_SLOPE, TorchOperations
from dabp.solvers.dabp.recurrence import gru
from dabp.solvers.dabp.structure import Structure
from tests.problems import random_problem

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _share_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share work however short it is."""
    monkeypatch.setattr("dabp.solvers.dabp.compiled.SHORT", 1e-3)


def structure_of(problem: Problem, dtype: str = "float64") -> Structure:
    graph = FactorGraph.from_problem(problem.minimized(), 0.95, np.dtype(dtype))
    return Structure.from_graph(graph, problem)


def star(leaves: int) -> Problem:
    """A variable with so many binary factors, and one more factor of three variables."""
    rng = np.random.default_rng(leaves)
    scopes = [[0, leaf] for leaf in range(1, leaves + 1)]
    return Problem(
        [3] + [2] * leaves,
        [*np.ravel(scopes), 0, 1, 2],
        [*range(0, 2 * leaves + 1, 2), 2 * leaves + 3],
        rng.normal(size=6 * leaves + 12),
        [*range(0, 6 * leaves + 1, 6), 6 * leaves + 12],
    )


def mixed() -> Problem:
    """Arities 1 to 4, domains 1 to 4, an isolated variable, a variable with one factor."""
    rng = np.random.default_rng(5)
    sizes, scopes = [3, 2, 4, 1, 2, 3], [[0, 1], [1, 2], [2, 0], [0, 1, 2], [1, 3, 2, 0], [4], [2, 4]]
    cells = [int(np.prod([sizes[v] for v in scope])) for scope in scopes]
    return Problem(
        sizes,
        [v for scope in scopes for v in scope],
        np.cumsum([0] + [len(scope) for scope in scopes]),
        rng.normal(size=sum(cells)),
        np.cumsum([0, *cells]),
    )


def inputs(structure: Structure, heads: int = 2, spread: float = 1.0) -> dict[str, torch.Tensor]:
    source = torch.Generator().manual_seed(1)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=source, dtype=torch.float64)

    beyond = torch.arange(structure.width) >= torch.from_numpy(structure.edge_size)[:, None]
    return {
        "v2f": normal(structure.num_edges, structure.width).masked_fill(beyond, 0.0).requires_grad_(),
        "f2v": normal(structure.num_edges, structure.width).masked_fill(beyond, 0.0).requires_grad_(),
        "query": normal(structure.num_factors, heads).requires_grad_(),
        "key": (spread * normal(structure.num_factors, heads)).requires_grad_(),
        "features": normal(structure.num_nodes, 5).requires_grad_(),
        "weight": normal(4 * 8, 5).requires_grad_(),
        "folded": normal(5, 2 * 4).requires_grad_(),
        "bias": normal(4 * 8).requires_grad_(),
        "short_bias": normal(8).requires_grad_(),
        "damping": torch.sigmoid(normal(structure.num_edges)).requires_grad_(),
    }


@pytest.mark.parametrize("threads", [1, 2])
def test_gradients_equal_differences(threads: int) -> None:
    """Every custom function passes gradcheck, for n-ary factors and any degree, on several threads too."""
    structure = structure_of(mixed())
    given = inputs(structure)
    operations = CompiledOperations(structure, threads)
    assert torch.autograd.gradcheck(operations.f2v, (given["v2f"],))
    assert torch.autograd.gradcheck(operations.attention, (given["query"], given["key"], given["f2v"]))
    assert torch.autograd.gradcheck(operations.compose, (given["damping"], given["v2f"], given["f2v"]))
    for count, bias in zip(structure.needed, ("bias", "bias", "bias", "short_bias"), strict=True):
        layer = tuple(given[name] for name in ("features", "weight", "folded", bias))
        attend = lambda *tensors, count=count: operations.attend(*tensors, count)  # noqa: E731
        assert torch.autograd.gradcheck(attend, layer, fast_mode=count != structure.num_factors)
    operations.close()


def test_short_work_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts cover all items once; there are fewer than threads where each would be too short to wake one for."""
    assert even_shares(np.full(10, 1.0), 3) == [(0, 4), (4, 7), (7, 10)]
    assert even_shares(np.array([90.0, 1.0, 1.0, 90.0]), 2) == [(0, 2), (2, 4)]
    monkeypatch.setattr("dabp.solvers.dabp.compiled.SHORT", 4.0)
    assert even_shares(np.full(10, 1.0), 3) == [(0, 5), (5, 10)]
    assert even_shares(np.full(3, 1.0), 3) == [(0, 3)]
    assert even_shares(np.zeros(0), 3) == []


def test_interpolated_attention_equals_all_pairs() -> None:
    """At high degree and short range of keys, values and gradients by interpolation are those of all pairs."""
    structure = structure_of(star(40))
    given = inputs(structure, spread=0.02)
    arguments = given["query"], given["key"], given["f2v"]
    compiled, plain = CompiledOperations(structure), TorchOperations(structure, CPU)
    for ours, theirs in zip(compiled.attention(*arguments), plain.attention(*arguments), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    assert torch.autograd.gradcheck(compiled.attention, arguments, fast_mode=True)


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
def test_single_precision_is_accurate(spread: float) -> None:
    """In float32, whatever the range of keys, attention is right to single precision, forwards and backwards."""
    structure = structure_of(star(60), "float32")
    exact, single = inputs(structure, 4, spread), inputs(structure, 4, spread)
    plain = TorchOperations(structure_of(star(60)), CPU)
    compiled = CompiledOperations(structure)
    names = ("query", "key", "f2v")
    expected = plain.attention(*(exact[name] for name in names))
    narrow = [single[name].detach().float().requires_grad_() for name in names]
    actual = compiled.attention(*narrow)
    (expected[0].sum() + expected[1].square().sum()).backward()
    (actual[0].sum() + actual[1].square().sum()).backward()
    assert_near(narrow[0].grad, exact["query"].grad, 3e-4)  # almost cancels when keys are almost equal
    for ours, theirs in zip(actual, expected, strict=True):
        assert_near(ours, theirs, 2e-6)
    assert_near(narrow[1].grad, exact["key"].grad, 2e-6)
    assert_near(narrow[2].grad, exact["f2v"].grad, 2e-6)


def assert_near(ours: torch.Tensor, theirs: torch.Tensor, tolerance: float) -> None:
    """Within a fraction of the largest value."""
    assert (ours.double() - theirs).abs().max() <= tolerance * theirs.abs().max()


@pytest.mark.parametrize("seed", range(8))
def test_compiled_equals_torch(seed: int) -> None:
    """On any problem, compiled kernels and plain PyTorch give the same values and gradients."""
    structure = structure_of(random_problem(seed, maximize=False))
    if structure.num_edges == 0:
        pytest.skip("no factor of two variables")
    results = []
    for operations in (CompiledOperations(structure, 2), TorchOperations(structure, CPU)):
        given = inputs(structure)
        outputs = [operations.f2v(given["v2f"]), *operations.attention(given["query"], given["key"], given["f2v"])]
        layer = tuple(given[name] for name in ("features", "weight", "folded", "bias"))
        outputs.append(operations.attend(*layer, structure.needed[1]))
        outputs.append(operations.compose(given["damping"], given["v2f"], given["f2v"]))
        sum(((1 + i) * one.sin()).sum() for i, one in enumerate(outputs)).backward()
        unused = ("short_bias",)
        results.append([*outputs, *(one.grad for name, one in given.items() if name not in unused)])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-7)


def test_recurrence_equals_pytorch() -> None:
    """Our GRU is PyTorch's, in values and gradients, except that none flows to the inputs."""
    source = torch.Generator().manual_seed(6)
    cell = torch.nn.GRUCell(5, 8).double()
    inputs, state = (torch.randn(7, n, dtype=torch.float64, generator=source).requires_grad_() for n in (5, 8))
    parameters = (cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    ours, theirs = gru(parameters, inputs, state), cell(inputs, state)
    torch.testing.assert_close(ours, theirs)
    wanted = [state, *parameters]
    for mine, other in zip(
        torch.autograd.grad(ours.sin().sum(), wanted), torch.autograd.grad(theirs.sin().sum(), wanted), strict=True
    ):
        torch.testing.assert_close(mine, other)
    assert torch.autograd.grad(gru(parameters, inputs, state).sum(), inputs, allow_unused=True) == (None,)


def test_layers_equal_pyg() -> None:
    """The four layers are PyTorch Geometric's GATConv on the message-node graph."""
    import torch_geometric.nn as geometric  # seconds, so only here

    structure = structure_of(mixed())
    network = Network(structure, 4, torch.Generator().manual_seed(3), CPU).double()
    target = np.repeat(np.arange(structure.num_nodes), np.diff(structure.in_offsets))
    edges = torch.from_numpy(np.stack([structure.in_nodes, target]))
    operations = CompiledOperations(structure)
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
        ours = operations.attend(ours, *layer.weights(), count)
        torch.testing.assert_close(ours, theirs[:count])

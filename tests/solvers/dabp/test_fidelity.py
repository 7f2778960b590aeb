"""Ours is the authors' program: same numbers from the same parameters, over two windows with an update each."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.backend_torch import TorchBackend
from dabp.solvers.dabp.learned import Inference
from dabp.solvers.dabp.loss import Loss
from dabp.solvers.dabp.messages import Propagation
from dabp.solvers.dabp.network import Network
from dabp.solvers.dabp.optimizer import AdamW
from dabp.solvers.dabp.window import Window
from tests.solvers.dabp.reference import INSTANCES, SCALE, Reference, weights

CPU = torch.device("cpu")
LENGTH, EFFECTIVE, LEARNING_RATE, WEIGHT_DECAY = 6, 2, 1e-2, 5e-5


def close(ours: object, theirs: object) -> None:
    actual = ours.detach().numpy() if isinstance(ours, torch.Tensor) else np.asarray(ours)
    expected = np.asarray(theirs, dtype=np.float64)
    assert np.abs(actual - expected).max() <= 1e-4 * max(np.abs(expected).max(), 1e-9)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "torch"])
@pytest.mark.parametrize("name", INSTANCES)
def test_equals_the_authors_program(name: str, compiled: bool) -> None:
    """Messages, GRU states, damping, weights, costs, losses, effective iterations and updated parameters agree."""
    reference = Reference(name)
    structure = reference.structure
    np.testing.assert_array_equal(structure.colors, reference["color"])
    network = Network(structure, 4, torch.Generator().manual_seed(0), CPU).double()
    network.load_state_dict(reference.parameters("init"))
    backend = CpuBackend(structure) if compiled else TorchBackend(structure, CPU)
    propagation = Propagation(structure, backend, CPU, Inference(structure, backend, CPU, "learned", "edge"))
    loss = Loss(structure, CPU)
    optimizer = AdamW(dict(network.named_parameters()), LEARNING_RATE, WEIGHT_DECAY)
    messages = propagation.start()
    for number in range(2):
        window, messages = Window(reference.problem, network, LENGTH, learns=True), messages.detached()
        for t in range(number * LENGTH, (number + 1) * LENGTH):
            made = propagation.iterate(messages, window.network)
            messages = made.messages
            window.add(made.beliefs)
            close(made.f2v, reference.by_edge(t, "f2v"))
            close(messages.v2f, reference.by_edge(t, "v2f"))
            close(messages.hidden_v2f, reference.by_edge(t, "gru_v2f"))
            close(messages.hidden_f2v, reference.by_edge(t, "gru_f2v"))
            damping = np.zeros(structure.num_edges)
            damping[reference["damping_edge"]] = reference[f"t{t}/damping"]
            close(made.learned.damping, damping[reference.edges])
            pairs = weights(reference, made.learned.query.detach().numpy(), made.learned.key.detach().numpy())
            close(pairs, reference[f"t{t}/weight"])
            if t > number * LENGTH:
                close(loss(made.beliefs), reference[f"t{t}/loss"])
        window.block()
        close(window.costs, [reference[f"t{t}/cost"] for t in range(number * LENGTH, (number + 1) * LENGTH)])
        effective = window.effective(EFFECTIVE)
        assert sorted(number * LENGTH + t for t in effective) == reference[f"w{number}/effective"].tolist()
        total = window.loss(effective, loss)
        close(total, reference[f"w{number}/loss"])
        total.backward()
        optimizer.step()
        for parameter, value in reference.parameters(f"w{number}/param").items():
            close(network.get_parameter(parameter), value)


@pytest.mark.parametrize("name", INSTANCES)
def test_splitting_gives_the_authors_tables(name: str) -> None:
    """A constraint split by us has the copies that the reference's split graph has."""
    reference = Reference(name)
    tables = reference["split_cost"].astype(np.float64)
    whole = (tables[::2] + tables[1::2]) * SCALE
    unsplit = Problem(
        reference.problem.domain_sizes,
        np.stack([reference["row_var"][::2], reference["col_var"][::2]], 1).ravel(),
        np.arange(0, 2 * len(whole) + 1, 2),
        whole.ravel(),
        np.arange(len(whole) + 1) * whole[0].size,
    )
    graph = FactorGraph.from_problem(unsplit, 0.95, np.dtype(np.float64), cost_scale=SCALE)
    (group,) = graph.groups
    for copy, scale in enumerate(graph.scales):
        np.testing.assert_allclose(group.tables[group.table_index] * scale, tables[copy::2], rtol=1e-5, atol=1e-6)

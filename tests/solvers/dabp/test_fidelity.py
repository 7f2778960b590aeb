"""Ours is the authors' program: same numbers from the same parameters, over two windows with an update each."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.dabp import plain
from dabp.solvers.dabp.compiled import CompiledWindow
from dabp.solvers.dabp.parameters import AdamW
from dabp.solvers.dabp.window import Unrolled, Window
from tests.solvers.dabp.graphs import backends, parameters_of, start
from tests.solvers.dabp.reference import INSTANCES, SCALE, Reference, weights

LENGTH, EFFECTIVE, LEARNING_RATE, WEIGHT_DECAY = 6, 2, 1e-2, 5e-5


def close(ours: object, theirs: object) -> None:
    actual, expected = np.asarray(ours), np.asarray(theirs, dtype=np.float64)
    assert np.abs(actual - expected).max() <= 1e-4 * max(np.abs(expected).max(), 1e-9)


def learned(unrolled: Unrolled, reference: Reference, by_pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """λ of every edge and w of every pair of the reference, as the last iteration used them."""
    if isinstance(unrolled, CompiledWindow):
        made = unrolled.state.learned
        assert made is not None
        return made.damping.array, weights(reference, made.terms.array[:, :4], made.terms.array[:, 4:])
    assert isinstance(unrolled, plain.PlainWindow)
    square = np.zeros((len(reference.edges), len(reference.edges)))
    for near, block in zip(unrolled.graph.neighbourhoods, unrolled.last.weights, strict=True):
        square[near[:, :, None], near[:, None]] = block.detach()
    return unrolled.last.damping.detach().numpy(), square[by_pair[0], by_pair[1]]


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("name", INSTANCES)
def test_equals_the_authors_program(name: str, compiled: bool) -> None:
    """Messages, GRU states, damping, weights, costs, losses, effective iterations and updated parameters agree."""
    reference = Reference(name)
    structure = reference.structure
    np.testing.assert_array_equal(structure.colors, reference["color"])
    parameters = parameters_of(structure)
    for key, value in reference.parameters("init").items():
        parameters[key][...] = value
    backend, messages = backends(structure)[0 if compiled else 1], start(structure)
    optimizer = AdamW(len(parameters.flat), parameters.flat.dtype, LEARNING_RATE, WEIGHT_DECAY)
    ours = np.argsort(reference.edges)  # the number of each of their edges in our order
    by_pair = np.stack([ours[reference[f"weight_{end}_edge"].astype(int)] for end in ("target", "source")])
    for number in range(2):
        window = Window(reference.problem, backend.window(parameters, messages, True), LENGTH, True)
        unrolled = window.unrolled
        for t in range(number * LENGTH, (number + 1) * LENGTH):
            window.add(unrolled.iterate(True).beliefs)
            made = unrolled.messages()
            close(made.v2f, reference.by_edge(t, "v2f"))
            close(made.hidden_v2f, reference.by_edge(t, "gru_v2f"))
            close(made.hidden_f2v, reference.by_edge(t, "gru_f2v"))
            f2v = reference.by_edge(t, "f2v")
            close(window.beliefs[-1], summed(structure.graph, f2v))
            damping = np.zeros(structure.num_edges)
            damping[reference["damping_edge"]] = reference[f"t{t}/damping"]
            ours_damping, ours_weights = learned(unrolled, reference, by_pair)
            close(ours_damping, damping[reference.edges])
            close(ours_weights, reference[f"t{t}/weight"])
            if t > number * LENGTH:
                close(unrolled.loss([t - number * LENGTH]), reference[f"t{t}/loss"])
        window.block()
        close(window.costs, [reference[f"t{t}/cost"] for t in range(number * LENGTH, (number + 1) * LENGTH)])
        effective = window.effective(EFFECTIVE)
        assert sorted(number * LENGTH + t for t in effective) == reference[f"w{number}/effective"].tolist()
        close(unrolled.loss(effective), reference[f"w{number}/loss"])
        assert optimizer.step(parameters.flat, unrolled.gradient().flat)
        messages = unrolled.messages()
        for parameter, value in reference.parameters(f"w{number}/param").items():
            close(parameters[parameter], value)


def summed(graph: FactorGraph, f2v: np.ndarray) -> np.ndarray:
    """Beliefs of f2v messages."""
    result = graph.unary.reshape(graph.num_variables, -1).copy()
    np.add.at(result, graph.edge_variable, f2v)
    return result


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

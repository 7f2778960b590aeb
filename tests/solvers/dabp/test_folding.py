"""Folding the parameters for the compiled operations, and unfolding their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.solvers.dabp.folding import Network
from dabp.solvers.dabp.parameters import Parameters
from tests.solvers.dabp.graphs import mixed, parameters_of, structure_of


@pytest.mark.parametrize("heads", [3, 4])
def test_gradients_are_unfolded(heads: int) -> None:
    """A function of the folded arrays: its slope along any change of the parameters is what unfolding says."""
    structure = structure_of(mixed())
    parameters, rng = parameters_of(structure, heads), np.random.default_rng(0)
    network = Network(structure, parameters)
    products = [*(layer.product for layer in network.layers), network.terms]
    for part in (*products, network.gru_v2f, network.gru_f2v):
        part.gradient[...] = rng.normal(size=part.gradient.shape)
    for product in products:  # rows and columns up to whole vectors have no gradient that counts
        product.gradient[-1] = 0.0
    network.color_gradient[...] = rng.normal(size=network.color_gradient.shape)
    unfolded, direction = network.unfold(), rng.normal(size=len(parameters.flat))

    def value(step: float) -> float:
        moved = parameters.zeros()
        moved.flat[...] = parameters.flat + step * direction
        folded = Network(structure, moved)
        made = [*(layer.product for layer in folded.layers), folded.terms]
        total = sum(float((a.columns * b.gradient[:-1]).sum()) for a, b in zip(made, products, strict=True))
        for cell, ours in ((folded.gru_v2f, network.gru_v2f), (folded.gru_f2v, network.gru_f2v)):
            of_input, of_state, input_bias, state_bias = cell.columns
            stacked = np.concatenate([of_input, input_bias[None], of_state, state_bias[None]])
            total += float((stacked * ours.gradient).sum())
        return total + float((moved["color_embedding"][folded.colors] * network.color_gradient).sum())

    slope = (value(1e-5) - value(-1e-5)) / 2e-5
    assert float(unfolded.flat @ direction) == pytest.approx(slope, rel=1e-7)


def test_biases_receive_what_all_rows_receive() -> None:
    """The weights of a node add up to 1; the last layer's bias is added once, after the mean over heads."""
    structure = structure_of(mixed())
    network = Network(structure, parameters_of(structure))
    for layer in network.layers:
        layer.product.gradient[-1] = np.arange(layer.product.gradient.shape[1])
    network.terms.gradient[-1] = np.arange(8)
    unfolded: Parameters = network.unfold()
    np.testing.assert_array_equal(unfolded["layers.0.bias"], np.arange(32))
    np.testing.assert_array_equal(unfolded["layers.3.bias"], np.arange(64).reshape(4, 16).sum(0))
    np.testing.assert_array_equal(unfolded["score_bias"], np.arange(4))

"""The network's parameters as the compiled operations take them, folded once a window, and their gradients unfolded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.dense import BLOCK
from dabp.kernels.attention.gated_units import GATES, HIDDEN, Columns
from dabp.kernels.attention.hub_attention import HEADS
from dabp.solvers.dabp.parameters import COLORS, EMBEDDING, LAYERS, NODE_TYPES, Parameters
from dabp.solvers.dabp.structure import Structure

Array = NDArray[np.floating]


class Product:
    """A matrix that rows are multiplied with, as rows [outputs, inputs] and transposed; whole vectors, zero beyond."""

    def __init__(self, matrix: Array):
        outputs, inputs = matrix.shape
        self.rows: Array = np.zeros((outputs + -outputs % BLOCK, inputs + -inputs % BLOCK), matrix.dtype)
        self.rows[:outputs, :inputs] = matrix
        self.columns = np.ascontiguousarray(self.rows.T)
        self.gradient: Array = np.zeros((self.rows.shape[1] + 1, self.rows.shape[0]), matrix.dtype)
        """Of `columns`, and in the last row the sum of the results' gradients."""


class Cell:
    """A GRU cell's parameters one below the other: W [D], b, U [8], c, of 24 columns each."""

    ORDER = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")

    def __init__(self, parameters: Parameters, name: str):
        self.name, self.width = name, parameters[f"{name}.weight_ih"].shape[1]
        parts = [parameters[f"{name}.{part}"] for part in self.ORDER]
        stacked = np.ascontiguousarray(np.concatenate([np.atleast_2d(part.T) for part in parts]))
        of_input, input_bias, of_state, state_bias = self._parts(stacked)
        self.columns = Columns(of_input, of_state, input_bias[0], state_bias[0])
        self.rows_of_state = parameters[f"{name}.weight_hh"].copy()
        self.gradient: Array = np.zeros((self.width + HIDDEN + 2, GATES), stacked.dtype)

    def unfold(self, gradient: Parameters) -> None:
        """Write the parameters' gradients."""
        for part, value in zip(self.ORDER, self._parts(self.gradient), strict=True):
            own = gradient[f"{self.name}.{part}"]
            own[...] = value.T.reshape(own.shape)

    def _parts(self, stacked: Array) -> list[Array]:
        return np.split(stacked, [self.width, self.width + 1, self.width + 1 + HIDDEN])


class Layer:
    """A GAT layer (Eq. 9): W, then the rows Wᵀa_src of each head, then Wᵀa_dst: scores come with the projection."""

    def __init__(self, parameters: Parameters, number: int):
        self.number, self.channels = number, LAYERS[number][1]
        self.weight, self.bias, *self.attention = (
            parameters[f"layers.{number}.{part}"] for part in ("weight", "bias", "att_src", "att_dst")
        )
        by_head = self.weight.reshape(HEADS, self.channels, -1)
        folded = [np.einsum("hci,hc->hi", by_head, one) for one in self.attention]
        self.product = Product(np.concatenate([self.weight, *folded]))
        self.lanes = (0,) * self.channels

    def unfold(self, gradient: Parameters) -> None:
        """Write the parameters' gradients.

        The weights of a node add up to 1, so the bias receives what all rows of W e receive.
        """
        outputs, inputs = self.weight.shape
        whole = self.product.gradient[:inputs].T
        of_weight = whole[:outputs].copy()
        by_head = self.weight.reshape(HEADS, self.channels, -1)
        for k, (name, attention) in enumerate(zip(("att_src", "att_dst"), self.attention, strict=True)):
            of_scores = whole[outputs + k * HEADS : outputs + (k + 1) * HEADS]
            of_weight += (attention[:, :, None] * of_scores[:, None]).reshape(outputs, inputs)
            gradient[f"layers.{self.number}.{name}"][...] = np.einsum("hci,hi->hc", by_head, of_scores)
        gradient[f"layers.{self.number}.weight"][...] = of_weight
        of_bias = self.product.gradient[-1, :outputs]
        gradient[f"layers.{self.number}.bias"][...] = of_bias.reshape(-1, len(self.bias)).sum(0)


class Network:
    """The network of one window.

    W1 [W2 e_ℓ ‖ W3 e_m] + b of Eq. 10 is a sum of two scalars: W1's halves are multiplied into W2 and W3.
    """

    def __init__(self, structure: Structure, parameters: Parameters):
        self.parameters = parameters
        self.heads = len(parameters["score"])
        self.gru_v2f, self.gru_f2v = Cell(parameters, "gru_v2f"), Cell(parameters, "gru_f2v")
        self.layers = [Layer(parameters, number) for number in range(len(LAYERS))]
        self.halves = dict(zip(("query", "key"), np.split(parameters["score"], [EMBEDDING], 1), strict=True))
        terms = [np.einsum("ko,koi->ki", half, parameters[name]) for name, half in self.halves.items()]
        self.terms = Product(np.concatenate(terms))
        self.terms_bias: Array = np.zeros(len(self.terms.rows), parameters.flat.dtype)
        self.terms_bias[: self.heads] = parameters["score_bias"]
        self.colors = structure.colors.clip(max=COLORS - 1)
        self.color_gradient: Array = np.zeros((len(self.colors), HIDDEN), parameters.flat.dtype)
        self.nodes = structure.nodes

    def features(self, like: Array) -> Array:
        """Of all nodes before the first layer, without the GRUs' states: [nodes, 4 + 8 and up to whole vectors]."""
        like[...] = 0.0
        for kind, rows in enumerate(self.nodes):
            like[rows, kind] = 1.0
        like[self.nodes.variables, NODE_TYPES : NODE_TYPES + HIDDEN] = self.parameters["color_embedding"][self.colors]
        return like

    def unfold(self) -> Parameters:
        """The gradients of all parameters."""
        gradient = self.parameters.zeros()
        np.add.at(gradient["color_embedding"], self.colors, self.color_gradient)
        for cell in (self.gru_v2f, self.gru_f2v):
            cell.unfold(gradient)
        for layer in self.layers:
            layer.unfold(gradient)
        heads, whole = self.heads, self.terms.gradient
        given: Any = np.split(whole[:EMBEDDING, : 2 * heads].T, 2)
        for k, (name, half) in enumerate(self.halves.items()):
            gradient[name][...] = half[:, :, None] * given[k][:, None]
            of_half = np.einsum("ki,koi->ko", given[k], self.parameters[name])
            gradient["score"][:, k * EMBEDDING : (k + 1) * EMBEDDING] = of_half
        gradient["score_bias"][...] = whole[-1, :heads]
        return gradient

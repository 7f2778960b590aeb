"""The parameters θ of DABP's network: their names, shapes and initial values, and AdamW, which learns them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dabp.kernels.attention.gated_units import HIDDEN  # also width of the colour embedding, channels of a GAT head
from dabp.kernels.attention.hub_attention import HEADS

EMBEDDING = 16
"""Channels of the last GAT layer."""
NODE_TYPES = 4
"""One-hot entries that start the features of a node: variable, factor, v2f message, f2v message."""
COLORS = 100
"""Rows of the colour embedding; later colours share the last one."""
LAYERS = (
    (NODE_TYPES + HIDDEN, HIDDEN),
    (HIDDEN * HEADS, HIDDEN),
    (HIDDEN * HEADS, HIDDEN),
    (HIDDEN * HEADS, EMBEDDING),
)
"""Inputs and channels of a head of each GAT layer. The last layer averages its heads, the others concatenate them."""
ATTENTION_SLOPE = 0.2
"""LeakyReLU inside the scores of a GAT layer."""
OUTPUT_SLOPE = 0.01
"""LeakyReLU on the output of a GAT layer."""

Array = NDArray[np.floating]


class Parameters(Mapping[str, Array]):
    """Named arrays that lie one after the other in a flat vector."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], dtype: DTypeLike):
        self.shapes = dict(shapes)
        sizes = [math.prod(shape) for shape in self.shapes.values()]
        self.flat: Array = np.zeros(sum(sizes), dtype)
        pieces = np.split(self.flat, np.cumsum(sizes)[:-1])
        self._named = {name: piece.reshape(self.shapes[name]) for name, piece in zip(shapes, pieces, strict=True)}

    def __getitem__(self, name: str) -> Array:
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def zeros(self) -> Parameters:
        """The same names and shapes, all zero."""
        return Parameters(self.shapes, self.flat.dtype)


def shapes(width: int, heads: int) -> dict[str, tuple[int, ...]]:
    """Of every parameter, for messages of `width` numbers and K = `heads` heads of the last attention."""
    result: dict[str, tuple[int, ...]] = {"color_embedding": (COLORS, HIDDEN)}
    for cell in ("gru_v2f", "gru_f2v"):  # gates in the order reset, update, new
        result |= {f"{cell}.weight_ih": (3 * HIDDEN, width), f"{cell}.weight_hh": (3 * HIDDEN, HIDDEN)}
        result |= {f"{cell}.bias_ih": (3 * HIDDEN,), f"{cell}.bias_hh": (3 * HIDDEN,)}
    for number, (inputs, channels) in enumerate(LAYERS):
        outputs = channels if number == len(LAYERS) - 1 else HEADS * channels
        result |= {f"layers.{number}.weight": (HEADS * channels, inputs), f"layers.{number}.bias": (outputs,)}
        result |= {f"layers.{number}.{name}": (HEADS, channels) for name in ("att_src", "att_dst")}
    result |= dict.fromkeys(("query", "key"), (heads, EMBEDDING, EMBEDDING))  # W2 and W3 of Eq. 10
    return result | {"score": (heads, 2 * EMBEDDING), "score_bias": (heads,)}  # W1


def initial_parameters(width: int, heads: int, dtype: DTypeLike, random: np.random.Generator) -> Parameters:
    """N(0, 1) for the colour embedding, Glorot for the GAT layers (biases 0), PyTorch's defaults elsewhere."""
    result = Parameters(shapes(width, heads), dtype)
    for name, value in result.items():
        if name == "color_embedding":
            value[...] = random.normal(size=value.shape)
        elif not (name.startswith("layers.") and name.endswith(".bias")):
            bound = 1.0 / math.sqrt(HIDDEN if name.startswith("gru") else value.shape[-1])
            if name.startswith("layers."):
                bound = math.sqrt(6.0 / sum(value.shape))
            value[...] = random.uniform(-bound, bound, value.shape)
    return result


class AdamW:
    """Adam with decoupled weight decay.

    θ ← θ (1 − η·decay) − η m̂ / (√v̂ + ε), with the bias-corrected running means m̂ of gradients and v̂ of their squares.
    """

    def __init__(self, count: int, dtype: np.dtype[np.floating], learning_rate: float, weight_decay: float):
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.mean = np.zeros(count, dtype)
        self.square = np.zeros(count, dtype)
        self.steps = 0

    def step(self, theta: Array, gradient: Array) -> bool:
        """Update θ in place and return true; change nothing and return false if a number would not be finite."""
        steps = self.steps + 1
        of_mean, of_square = 0.9, 0.999
        with np.errstate(over="ignore", invalid="ignore"):
            mean = self.mean + (1 - of_mean) * (gradient - self.mean)
            square = of_square * self.square + (1 - of_square) * gradient * gradient
            scale = np.sqrt(square) / (1 - of_square**steps) ** 0.5 + 1e-8
            moved = theta * (1 - self.learning_rate * self.weight_decay)
            moved -= self.learning_rate / (1 - of_mean**steps) * mean / scale
        if not all(np.isfinite(one).all() for one in (mean, square, moved)):
            return False
        theta[...], self.mean[...], self.square[...] = moved, mean, square
        self.steps = steps
        return True

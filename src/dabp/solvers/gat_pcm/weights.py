"""Parameters of the cost model as plain arrays, read from safetensors and folded for `kernels.cost_model`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from dabp.errors import FormatError
from dabp.kernels.cost_model.cost_model import Array, Layer, Parameters


class Feature(IntEnum):
    """Columns of a node's features: 1 for a constraint, for a cost and for a value, and a cost in the model's units."""

    CONSTRAINT = 0
    COST = 1
    VALUE = 2
    AMOUNT = 3


SHAPES: dict[str, tuple[int, ...]] = {
    "layers.0.weight": (64, 4),
    **{f"layers.{i}.weight": (64, 64) for i in (1, 2, 3)},
    **{f"layers.{i}.{side}": (8, 8) for i in (0, 1, 2) for side in ("source", "target")},
    **{f"layers.3.{side}": (4, 16) for side in ("source", "target")},
    **{f"layers.{i}.bias": (64,) for i in (0, 1, 2)},
    "layers.3.bias": (16,),
    "aggregate.weight": (16, 16),
    "transform.weight": (16, 16),
    "out.weight": (1, 32),
    "out.bias": (1,),
}
"""The parameters of `network.CostModel`."""


def fold(state: Mapping[str, NDArray[Any]]) -> Parameters:
    """From the parameters of a `network.CostModel`."""
    wrong = [name for name, shape in SHAPES.items() if name not in state or state[name].shape != shape]
    if wrong or len(state) != len(SHAPES):
        name = wrong[0] if wrong else next(n for n in state if n not in SHAPES)
        raise FormatError(f"these are not parameters of the cost model: {name!r} is missing, unknown or misshapen")
    layers: list[Any] = []
    for i, channels in enumerate((8, 8, 8, 16)):
        parts = [state[f"layers.{i}.{name}"] for name in ("weight", "source", "target", "bias")]
        layers.append(Layer((0,) * channels, _plain(parts[0].T), *(_plain(part.ravel()) for part in parts[1:])))
    read_out = [_plain(state["transform.weight"].T), _plain(state["out.weight"][0, 16:])]
    return Parameters._make(layers + read_out)


def _plain(values: NDArray[Any]) -> Array:
    return np.ascontiguousarray(values, dtype=np.float32)


def load(path: str | Path | None = None) -> dict[str, Array]:
    """The parameters in a safetensors file, by default those that come with the package."""
    try:
        if path is not None:
            return dict(load_file(path))
        with resources.as_file(resources.files(__package__) / "weights.safetensors") as file:
            return dict(load_file(file))
    except FileNotFoundError:
        raise FormatError(f"there is no file {str(path)!r} with parameters of the cost model") from None
    except SafetensorError as error:
        raise FormatError(f"{str(path)!r} is not a safetensors file ({error})") from None

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
from dabp.kernels.cost_model.cost_model import Array, Parameters


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
    first = state["layers.0.weight"]
    last = state["layers.3.weight"].reshape(4, 16, 64)
    parts: list[NDArray[Any]] = [first[:, Feature.VALUE], first[:, Feature.COST], first[:, Feature.AMOUNT]]
    parts += [state[f"layers.0.{key}"].ravel() for key in ("source", "target", "bias")]
    for i in (1, 2):
        parts.append(state[f"layers.{i}.weight"].T)
        parts += [state[f"layers.{i}.{key}"].ravel() for key in ("source", "target", "bias")]
    parts.append(last.transpose(0, 2, 1))
    parts += [np.einsum("hci,hc->hi", last, state[f"layers.3.{side}"]) for side in ("source", "target")]
    parts += [state["layers.3.bias"], state["transform.weight"].T, state["out.weight"][0, 16:]]
    return Parameters(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))


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

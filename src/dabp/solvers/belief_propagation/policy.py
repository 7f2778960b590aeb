"""Which schedule a run of `bp-learned` takes: a linear function of the instance's features, learned over families.

The outputs lie on a scale without bounds (logarithms, the logit of the damping factor), so that noise of one size is
a sensible change anywhere; `schedule_of` turns them into a schedule.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.graph import FactorGraph
from dabp.problem.randomness import generator
from dabp.solvers.belief_propagation.schedule import Ramp, Schedule

Vector = NDArray[np.float64]

OUTPUTS = ("β start", "β growth", "gain", "shape", "damping", "damping by degree", "perturbation", "length")
"""Parameters of a schedule. β is in units of 1 / degree, as fields grow with the degree; length in iterations."""

FEATURES = (
    "one",
    "degree",
    "domain",
    "variables",
    "hubs",
    "extremes",
    "least",
    "forbidden",
    "unary",
    "loops",
    "length",
)
"""What the outputs are functions of; see `features_of`. The last is the length of the run."""

_LOOP_STREAM = 0x1009

SPREAD = np.array([0.3, 0.3, 0.4, 0.25, 0.5, 0.2, 0.9, 0.5])
"""Standard deviations of runs around the outputs of the policy, and the first step of evolution in training."""

LARGEST_FILE = 2**20
"""Bytes of a policy's file that are read at most; one has some thousands."""

COLD = 15.0
"""β above which a run goes on with min-sum messages: the sums of soft ones soon leave the range of single precision."""

SAMPLED_CELLS = 2_000_000
"""Cells of tables of one shape that features are computed from, except for a single table that is larger."""


def features_of(graph: FactorGraph) -> Vector:
    """An instance in eleven numbers of the size of 1, the last of them (for the length of a run) still 0.

    Logarithms of the mean degree, of the mean domain and of the number of variables; the spread of degrees; how many
    cells of tables of two and more variables are their table's least or greatest, and how many the least; how many
    are forbidden; how large unary costs are beside those; how many short loops there are (see `loops_of`).
    """
    degrees = np.diff(graph.variable_edge_offsets) / max(len(graph.scales), 1)
    shares = np.array([_cells(group.tables, graph.forbidden) for group in graph.groups])
    weights = np.array([group.num_factors for group in graph.groups], dtype=np.float64)
    extremes, least, forbidden = weights @ shares / weights.sum() if len(shares) else np.zeros(3)
    mean = max(float(degrees.mean()), 0.1)
    allowed = np.minimum(graph.unary.astype(np.float64), graph.forbidden)
    return np.array(
        [
            1.0,
            np.log(mean / 10),
            np.log(float(graph.domain_sizes.mean()) / 8),
            np.log(graph.num_variables / 300) / 2,
            min(float(degrees.std()) / mean, 3.0),
            extremes,
            least,
            forbidden,
            min(float(allowed.std()), 3.0),
            10 * loops_of(graph),
            0.0,
        ]
    )


def loops_of(graph: FactorGraph) -> float:
    """The share of walks of four steps without turning back that return to their start: 0.07 on a square grid.

    Along such loops a message returns to its sender; random graphs of the same degree have hardly any.
    """
    if not graph.groups:
        return 0.0
    rng = generator(_LOOP_STREAM)
    starts = graph.variable_edge_offsets
    degrees = np.diff(starts)
    places = np.empty_like(graph.variable_edges)
    places[graph.variable_edges] = np.arange(graph.num_edges)
    firsts = np.array([group.first for group in graph.groups])
    arities = np.array([group.arity for group in graph.groups])
    walks = 4000
    begun = here = rng.choice(np.flatnonzero(degrees > 0), size=walks)
    alive, back = np.ones(walks, dtype=np.bool_), np.zeros(walks, dtype=np.bool_)
    came: NDArray[np.int64] | None = None
    for turn, along in rng.random((4, 2, walks)):
        # One of the other factors of the variable, then one of the other variables of that.
        if came is None:
            place = starts[here] + (turn * degrees[here]).astype(np.int64)
        else:
            alive &= degrees[here] > 1
            place = starts[here] + (turn * (degrees[here] - 1)).astype(np.int64)
            place = np.where(alive, place + (place >= places[came]), place)
        edge = graph.variable_edges[place]
        group = np.searchsorted(firsts, edge, side="right") - 1
        arity = arities[group]
        position = (edge - firsts[group]) % arity
        came = edge - position + (position + 1 + (along * (arity - 1)).astype(np.int64)) % arity
        here = graph.edge_variable[came]
        back |= alive & (here == begun)
    return float(back.mean())


def _cells(tables: NDArray[np.floating], forbidden: float) -> tuple[float, float, float]:
    """Shares of cells of the first tables that are nearly extreme, nearly least, and forbidden."""
    tables = tables[: min(3000, max(1, SAMPLED_CELLS // tables[0].size))]
    flat = tables.reshape(len(tables), -1).astype(np.float64)
    low = flat.min(axis=1, keepdims=True)
    barred = flat - low > 0.75 * forbidden
    high = np.where(barred, low, flat).max(axis=1, keepdims=True)
    near = 0.02 * (high - low)
    least = flat <= low + near
    return float((least | (flat >= high - near)).mean()), float(least.mean()), float(barred.mean())


@dataclass(frozen=True)
class Policy:
    """Outputs = weights · features, [outputs, features]."""

    weights: Vector

    def outputs(self, features: Vector, length: float | None = None) -> Vector:
        """The outputs for a run of this number of iterations, by default as many as the policy chooses."""
        if length is None:
            length = math.exp(float(self.weights[-1] @ features))
        known = features.copy()
        known[-1] = math.log(length / 300) / 2
        wanted: Vector = self.weights @ known
        wanted[-1] = math.log(length)
        return wanted

    @classmethod
    def neutral(cls) -> Policy:
        """The same moderate schedule for every instance."""
        weights = np.zeros((len(OUTPUTS), len(FEATURES)))
        weights[:, 0] = np.log(10.0), np.log(10.0), np.log(0.5), 0.0, 0.0, 0.0, np.log(0.01), np.log(300.0)
        return cls(weights)

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        """Read the policy from a file of ``dabp lab train-policy``."""
        try:
            with open(path, "rb") as file:
                content = file.read(LARGEST_FILE + 1)
            text = content.decode("utf-8")
        except FileNotFoundError:
            raise FormatError(
                f"there is no file {str(path)!r} with a policy of bp-learned; `dabp lab train-policy FILE` makes one"
            ) from None
        except (OSError, ValueError) as error:
            raise FormatError(f"{path} is not a policy of bp-learned: {error}") from None
        if len(content) > LARGEST_FILE:
            raise FormatError(f"{path} is not a policy of bp-learned: it has more than {LARGEST_FILE:,} bytes")
        return cls._parsed(text, str(path))

    @classmethod
    def chosen(cls, path: str | None, *, pretrained: bool) -> Policy:
        """The policy of a file, or without one the shipped one if `pretrained`, else the neutral one."""
        if path is not None:
            return cls.read(path)
        return cls.shipped() if pretrained else cls.neutral()

    @property
    def digest(self) -> str:
        """A digest of the weights."""
        return hashlib.sha256(np.ascontiguousarray(self.weights).tobytes()).hexdigest()

    @classmethod
    @functools.cache
    def shipped(cls) -> Policy:
        """The policy that comes with the package."""
        text = (resources.files(__package__) / "policy.json").read_text(encoding="utf-8")
        return cls._parsed(text, "policy.json")

    @classmethod
    def _parsed(cls, text: str, name: str) -> Policy:
        try:
            content = json.loads(text)
            weights = np.array(content["weights"], dtype=np.float64)
            known = content["outputs"] == list(OUTPUTS) and content["features"] == list(FEATURES)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise FormatError(f"{name} is not a policy of bp-learned: {error}") from None
        shaped = weights.shape == (len(OUTPUTS), len(FEATURES))
        if not known or not shaped or not (np.abs(weights) <= 50.0).all():  # exponentials are taken
            raise FormatError(f"{name} is a policy with other features or outputs, or with numbers that are none")
        return cls(weights)


def schedule_of(outputs: Sequence[float] | Vector, degree: float, iterations: int) -> Schedule:
    """The schedule with these outputs for a problem with this mean number of factors of a variable."""
    start, growth, gain, shape, damping, _, perturbation, _ = np.asarray(outputs, dtype=np.float64).tolist()
    low = math.exp(min(max(start, 0.0), 7.0)) / max(degree, 1.0)
    high = low * math.exp(min(max(growth, 0.0), 5.0))
    return Schedule(
        iterations,
        Ramp(low, high, geometric=True),
        Ramp(0.0, math.exp(min(max(gain, -6.0), -0.02)), math.exp(min(max(shape, -1.0), 1.5))),
        damping_of(damping),
        math.exp(min(max(perturbation, -9.0), -1.0)),
        COLD,
    )


def damping_of(logit: float) -> float:
    """λ, below 0.95, from its logit."""
    return 0.95 / (1.0 + math.exp(-min(max(logit, -5.0), 5.0)))


def damping_by_degree(outputs: Vector, graph: FactorGraph) -> Vector:
    """λ of each edge, which depends on the degree of its variable."""
    _, _, _, _, damping, by_degree, _, _ = outputs.tolist()
    logits = damping + min(max(by_degree, -1.5), 1.5) * graph.relative_degrees
    np.minimum(np.maximum(logits, -5.0, out=logits), 5.0, out=logits)
    each: Vector = 0.95 / (1.0 + np.exp(-logits))
    return each[graph.edge_variable]

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
"""What is chosen. β is in units of 1 / degree, as fields grow with it; length in iterations."""

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
"""What it is chosen by; see `features_of`. The last is the length of the run, once that is chosen."""

NEUTRAL = np.array([np.log(10.0), np.log(10.0), np.log(0.5), 0.0, 0.0, 0.0, np.log(0.01), np.log(300.0)])
"""What nobody has learned: ends that are far apart, half damping."""

SPREAD = np.array([0.3, 0.3, 0.4, 0.25, 0.5, 0.2, 0.9, 0.5])
"""How far runs are scattered around what the policy says; so large is also the first step of evolution."""

LARGEST_WEIGHT = 50.0
"""Of a policy that somebody trained: features and outputs have the size of 1 to 10, and exponentials are taken."""

LARGEST_FILE = 2**20
"""Bytes of a policy's file; one of ours has some thousands, and what never ends (a device) is not read to its end."""

COLD = 15.0
"""β from which on a run goes on with min-sum messages. Soft ones, whose sums leave the range of single precision soon
after, would take up to twice as long, and runs end no better."""

LOOKED_AT, CELLS = 3000, 2_000_000
"""Tables of one shape that features are taken from, and cells, but for a single table that is larger."""

WALKS = 4000
"""From which the share of short loops is estimated."""

_LOOPS = 0x1009


def features_of(graph: FactorGraph) -> Vector:
    """An instance in eleven numbers of the size of 1, the last of them (for the length of a run) still 0.

    Logarithms of the mean degree, of the mean domain and of the number of variables; the spread of degrees; how many
    cells of tables of two and more variables are their table's least or greatest, and how many the least; how many
    are forbidden; how large unary costs are beside those; how many short loops there are (see `loops_of`).
    """
    degrees = np.diff(graph.variable_edge_offsets) / max(len(graph.scales), 1)
    shares = np.array([_cells(_sample(group.tables), graph.forbidden) for group in graph.groups])
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
    """How often a walk that never turns back is where it began within four steps: 0.07 on a square grid.

    By such loops a message comes back to its sender; a random graph of the same degree has next to none.
    """
    if not graph.groups:
        return 0.0
    rng = generator(_LOOPS)
    starts = graph.variable_edge_offsets
    degrees = np.diff(starts)
    places = np.empty_like(graph.variable_edges)
    places[graph.variable_edges] = np.arange(graph.num_edges)
    firsts = np.array([group.first for group in graph.groups])
    arities = np.array([group.arity for group in graph.groups])
    begun = here = rng.choice(np.flatnonzero(degrees > 0), size=WALKS)
    alive, back = np.ones(WALKS, dtype=np.bool_), np.zeros(WALKS, dtype=np.bool_)
    came: NDArray[np.int64] | None = None
    for turn, along in rng.random((4, 2, WALKS)):
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


def _sample(tables: NDArray[np.floating]) -> NDArray[np.floating]:
    """The first tables of a shape, as many as take no time worth speaking of."""
    return tables[: min(LOOKED_AT, max(1, CELLS // tables[0].size))]


def _cells(tables: NDArray[np.floating], forbidden: float) -> tuple[float, float, float]:
    """Shares of cells that are nearly extreme, nearly least, and forbidden."""
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
        """What a run should take, if it has so many iterations (by default as many as the policy wants)."""
        if length is None:
            length = math.exp(float(self.weights[-1] @ features))
        told = features.copy()
        told[-1] = math.log(length / 300) / 2
        wanted: Vector = self.weights @ told
        wanted[-1] = math.log(length)
        return wanted

    @classmethod
    def neutral(cls) -> Policy:
        """The same for every instance."""
        weights = np.zeros((len(OUTPUTS), len(FEATURES)))
        weights[:, 0] = NEUTRAL
        return cls(weights)

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        """From a file of ``dabp lab train-policy``."""
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
        """That of a file, or the shipped one, or the neutral one if it is not to be pretrained."""
        if path is not None:
            return cls.read(path)
        return cls.shipped() if pretrained else cls.neutral()

    @property
    def digest(self) -> str:
        """The same for the same weights alone: a file may be another after a while."""
        return hashlib.sha256(np.ascontiguousarray(self.weights).tobytes()).hexdigest()

    @classmethod
    @functools.cache
    def shipped(cls) -> Policy:
        """That which comes with the package."""
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
        if not known or not shaped or not (np.abs(weights) <= LARGEST_WEIGHT).all():
            raise FormatError(f"{name} is a policy with other features or outputs, or with numbers that are none")
        return cls(weights)


def schedule_of(outputs: Sequence[float] | Vector, degree: float, iterations: int) -> Schedule:
    """The schedule that these outputs mean where a variable has so many factors."""
    start, growth, gain, shape, damping, _, perturbation, _ = np.asarray(outputs, dtype=np.float64).tolist()
    low = math.exp(min(max(start, 0.0), 7.0)) / max(degree, 1.0)
    high = low * math.exp(min(max(growth, 0.0), 5.0))
    kept = damping_of(damping)
    return Schedule(
        iterations,
        Ramp(low, high, geometric=True),
        Ramp(0.0, math.exp(min(max(gain, -6.0), -0.02)), math.exp(min(max(shape, -1.0), 1.5))),
        Ramp(kept, kept),
        math.exp(min(max(perturbation, -9.0), -1.0)),
        COLD,
    )


def damping_of(logit: float) -> float:
    """From the policy's scale to λ, below 0.95."""
    return 0.95 / (1.0 + math.exp(-min(max(logit, -5.0), 5.0)))


def damping_by_degree(outputs: Vector, graph: FactorGraph) -> Vector:
    """λ of each edge: more or less where a variable has more factors than others."""
    _, _, _, _, damping, by_degree, _, _ = outputs.tolist()
    logits = damping + min(max(by_degree, -1.5), 1.5) * graph.relative_degrees
    np.minimum(np.maximum(logits, -5.0, out=logits), 5.0, out=logits)
    each: Vector = 0.95 / (1.0 + np.exp(-logits))
    return each[graph.edge_variable]

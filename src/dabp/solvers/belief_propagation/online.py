"""What the runs on one instance teach: an evolution strategy around what was known before."""

from __future__ import annotations

import numpy as np

from dabp.solvers.base import State
from dabp.solvers.belief_propagation.policy import Vector

EXPLORED = 0.3
"""Share of runs that are drawn from what was known before rather than around what did best here."""

NARROW = 0.5
"""How far from what did best, as a part of the spread of draws."""

ELITE, FEW = 5, 3
"""Runs that are remembered as the best, and how many there must be before anything is learned from them."""


class Online:
    """Draws runs of one kind near the best of them, and learns from how they did.

    The objective is the best of all runs, so the scatter never goes away.
    """

    def __init__(self, spread: Vector, learning: bool = True):
        self._spread, self._learning = spread, learning
        self._elite: list[tuple[float, Vector]] = []

    def draw(self, rng: np.random.Generator, known: Vector) -> Vector:
        """Noise around one of the best, or what a run would take that knows nothing of the others."""
        if len(self._elite) < FEW or not self._learning:
            return known
        noise = rng.normal(size=len(self._spread))
        if rng.random() < EXPLORED:
            return known
        _, around = self._elite[int(rng.integers(len(self._elite)))]
        return around + NARROW * self._spread * noise

    def learn(self, cost: float, drawn: Vector) -> None:
        """Remember a run if it is among the best; of equals the earlier."""
        if len(self._elite) == ELITE and cost >= self._elite[-1][0]:
            return
        self._elite.append((cost, drawn))
        self._elite.sort(key=lambda entry: entry[0])
        del self._elite[ELITE:]

    def state_dict(self) -> State:
        """What was learned, as JSON values."""
        return {"elite": [[cost if np.isfinite(cost) else None, drawn.tolist()] for cost, drawn in self._elite]}

    def load_state_dict(self, state: State) -> None:
        """Take it up again; `ValueError` if it cannot be."""
        elite = [
            (np.inf if cost is None else float(cost), np.array(drawn, dtype=np.float64))
            for cost, drawn in state["elite"]
        ]
        if any(drawn.shape != self._spread.shape or not np.isfinite(drawn).all() for _, drawn in elite):
            raise ValueError("what was learned has other outputs")
        self._elite = elite

"""What the runs on one instance teach: an evolution strategy around what the policy said before."""

from __future__ import annotations

import numpy as np

from dabp.solvers.base import State
from dabp.solvers.belief_propagation.policy import OUTPUTS, SPREAD, Vector

EXPLORED = 0.3
"""Share of runs that are drawn around the policy's choice rather than around what did best here."""

NARROW = 0.5
"""How far from what did best, as a part of `SPREAD`."""

ELITE = 5
"""Runs that are remembered as the best."""

CALM = 200
"""Variables from which on the scatter falls as one over the root of their number. So does that of the costs of runs,
and what a worse schedule loses is no longer won back by the luckiest of many."""


class Online:
    """Draws what the next run takes, and learns from how it did.

    The objective is the best of all runs, so the scatter never goes away.
    """

    def __init__(self, learning: bool = True, variables: int = 1):
        self._learning = learning
        self._spread = SPREAD * min(1.0, float(np.sqrt(CALM / variables)))
        self._elite: list[tuple[float, Vector]] = []

    def draw(self, rng: np.random.Generator, policy: Vector, first: bool) -> Vector:
        """At first the policy's own choice; then noise around it or around one of the best."""
        if first:
            return policy.copy()
        noise = rng.normal(size=len(OUTPUTS))
        if not self._elite or not self._learning or rng.random() < EXPLORED:
            return policy + self._spread * noise
        _, around = self._elite[int(rng.integers(len(self._elite)))]
        return around + NARROW * self._spread * noise

    def learn(self, cost: float, drawn: Vector) -> None:
        """Remember a run if it is among the best; of equals the earlier."""
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
        if any(drawn.shape != (len(OUTPUTS),) or not np.isfinite(drawn).all() for _, drawn in elite):
            raise ValueError("what was learned has other outputs")
        self._elite = elite

"""Which kind of run comes next: a bandit whose reward is a place among the best of all runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from dabp.solvers.base import State

BEST_PART, BEST_RUNS = 0.25, 10
"""Which part of all runs are the best, and how many at most. Their costs do not matter, only their order: one kind has
runs that fail by far, and what counts is how often it has the best."""

DOUBT = 0.5
"""Runs among the best that a kind is taken to have had beside those it had."""

NEAR_PART, NEAR_RUNS = 0.3, 40
"""Of all work that runs near the best assignment take, and after how many others: of n runs that know nothing of each
other the next is the best with a chance of 1 / (n + 1), so that it is worth more as long as there were few."""


class Arms:
    """Draws each kind of run as often as it is likely to give the most of the best runs for its work (Thompson).

    Parameters
    ----------
    kinds
        By name, in the order in which each is tried once: what an iteration takes beside those of the others.
    near
        The one among them that begins from the best of the others' assignments: it takes a fixed part of the work, as
        its own places among the best follow from theirs.
    """

    def __init__(self, kinds: Mapping[str, float], near: str | None = None):
        self._kinds, self._near = dict(kinds), near if near in kinds else None
        self._best: list[tuple[float, str]] = []
        self._count = 0
        self._work = dict.fromkeys(kinds, 0.0)

    def choose(self, rng: np.random.Generator, *, only: Collection[str] | None = None) -> str:
        """The kind of the next run, or the kind among `only` those."""
        kinds = [kind for kind in self._kinds if only is None or kind in only]
        untried = [kind for kind in kinds if self._work[kind] == 0]
        if untried:
            return untried[0]
        best = [kind for _, kind in self._best[: max(1, round(BEST_PART * self._count))]]
        part = NEAR_PART * min(1.0, self._count / NEAR_RUNS)
        if self._near in kinds and self._work[self._near] < part * sum(self._work.values()):
            return self._near
        free = [kind for kind in kinds if kind != self._near]
        scores = {kind: rng.standard_gamma(best.count(kind) + DOUBT) / self._work[kind] for kind in free}
        return max(scores, key=scores.__getitem__)

    def learn(self, kind: str, cost: float, iterations: int) -> None:
        """Remember how a run did; to find again what another found is worth nothing."""
        self._work[kind] += iterations * self._kinds[kind]
        if kind == self._near:
            return
        self._count += 1
        worse = len(self._best) == BEST_RUNS and cost >= self._best[-1][0]
        if not worse and all(cost != known for known, _ in self._best):
            self._best.append((cost, kind))
            self._best.sort(key=lambda run: run[0])
            del self._best[BEST_RUNS:]

    def state_dict(self) -> State:
        """What was learned, as JSON values."""
        best = [[cost if np.isfinite(cost) else None, kind] for cost, kind in self._best]
        return {"best": best, "count": self._count, "work": dict(self._work)}

    def load_state_dict(self, state: State) -> None:
        """Take it up again; `ValueError` if it cannot be."""
        best = [(np.inf if cost is None else float(cost), str(kind)) for cost, kind in state["best"]]
        work = {str(kind): float(work) for kind, work in state["work"].items()}
        if set(work) != set(self._kinds) or any(kind not in work for _, kind in best) or not min(work.values()) >= 0:
            raise ValueError("there are no such kinds of runs")
        self._best, self._count = best, int(state["count"])
        self._work = {kind: work[kind] for kind in self._kinds}

"""Which of several ways to search runs next: the one with the most merit for the work that it has had.

Merit is measured in two ways: `ByGain` is for searches that improve one incumbent together (the members of `auto`),
`ByRank` for kinds of runs that each end with an answer of their own (`bp-learned`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from dabp.solvers.base import State

Key = TypeVar("Key", bound=Hashable)


class Scheduler(Generic[Key]):
    """The work of each way so far, and the choice that follows from merits."""

    def __init__(self) -> None:
        self.work: dict[Key, float] = {}

    def most(self, merits: Mapping[Key, float], unit: float = 0.0) -> Key | None:
        """The way of the largest merit / (work + unit), the first of several; None if no merit is above 0."""
        scores = {key: merit / (self.work[key] + unit) for key, merit in merits.items() if merit > 0}
        return max(scores, key=scores.__getitem__) if scores else None


@dataclass
class Arm:
    """What `ByGain` remembers of one search."""

    prior: float
    """Its weight before anything is known."""
    patient: bool = False
    """Whether its costs mean nothing before a run ends."""
    bounding: bool = False
    """Whether it raises the lower bound."""
    seeking: bool = False
    """Whether it learns from violations in the midst of a run."""
    gain: float = 0.0
    """How much it improved the incumbent or the bound; older gains count less."""
    recent: float = np.inf
    """The best cost of its latest slices; of its latest runs if it is patient."""
    run_best: float = np.inf
    """The best cost of the run under way."""
    runs: int = 0
    """Runs that have ended."""


class ByGain(Scheduler[int]):
    """Seconds in proportion to weights that follow what each search achieves.

    weight = prior · (FLOOR + e^(−distance / unit) + its part of the recent gains), where distance is from the recent
    best of the search to the incumbent and the unit is the median distance. The unit grows while nothing improves the
    incumbent: to be near it is then no merit. Without an incumbent the priors alone decide, and a search that learns
    from violations has at least half of the others' together; while only such searches have found anything, the others
    have half of their priors. A patient search is judged after its second whole run.
    With little time, searches of little weight have no slice.

    Parameters
    ----------
    half_life
        Seconds after which gains and work count half.
    slice_seconds
        Seconds of a slice.
    """

    FLOOR = 0.08
    """Part of its prior that even the worst search keeps."""
    SMALL_GAP = 0.03
    """Relative gap below which searches that raise the bound have `CLOSING` times their prior."""
    CLOSING = 8.0
    AT_LOSS = 0.5
    """Part of its prior that a search has while only searches that learn from violations have found anything."""
    STALE_PART = 0.2
    """Part of the half-life without an improvement after which the unit of distances is doubled."""
    DRIFT = 0.2
    """How far the recent best moves towards the cost of a worse slice."""

    def __init__(self, half_life: float, slice_seconds: float):
        super().__init__()
        self.arms: list[Arm] = []
        self._half_life, self._slice_seconds = max(half_life, 1e-3), max(slice_seconds, 1e-6)
        self._stale = 0.0
        """Seconds of all searches since one improved the incumbent."""

    def add(self, arm: Arm) -> None:
        """Schedule one more search; its number is the next one."""
        self.work[len(self.arms)] = 0.0
        self.arms.append(arm)

    def choose(self, available: Collection[int], incumbent: float, bound: float) -> int | None:
        """The number of the search that has the next slice; None if none is available."""
        weights = self.weights(incumbent, bound, available)
        return self.most({number: weights[number] for number in available}, self._slice_seconds)

    def weights(self, incumbent: float, bound: float, available: Collection[int] | None = None) -> list[float]:
        """The weight of each search, given the cost of the incumbent and the bound; `available` are by default all."""
        found = [arm for arm in self.arms if min(arm.recent, arm.run_best) < np.inf]
        at_loss = bool(found) and all(arm.seeking for arm in found)
        if not np.isfinite(incumbent) or at_loss:
            left = self.arms if available is None else [self.arms[number] for number in available]
            least = 0.5 * sum(arm.prior for arm in left if not arm.seeking)
            part = self.AT_LOSS if at_loss else 1.0
            return [max(arm.prior, least) if arm.seeking else part * arm.prior for arm in self.arms]
        near = np.isfinite(bound) and incumbent - bound <= self.SMALL_GAP * max(abs(incumbent), abs(bound))
        distances = np.maximum([arm.recent - incumbent for arm in self.arms], 0.0)
        apart = distances[np.isfinite(distances) & (distances > 0)]
        unit = float(np.median(apart)) if len(apart) else 1.0
        unit *= 1.0 + self._stale / (self.STALE_PART * self._half_life)
        total = sum(arm.gain for arm in self.arms)
        result = []
        for number, arm in enumerate(self.arms):
            untried = arm.runs < 2 if arm.patient else self.work[number] == 0.0
            merit = 1.0 if untried else float(np.exp(-distances[number] / unit))
            if arm.bounding and near:
                merit = self.CLOSING
            result.append(arm.prior * (self.FLOOR + merit + (arm.gain / total if total > 0 else 0.0)))
        return result

    def reward(self, number: int, seconds: float, gain: float, best: float, ended: bool = False) -> None:
        """Learn from a slice: its seconds, its gain, its best cost (inf if none) and whether a run ended with it."""
        fade = 0.5 ** (seconds / self._half_life)
        for each, arm in enumerate(self.arms):
            arm.gain *= fade
            self.work[each] *= fade
        arm = self.arms[number]
        self._stale = 0.0 if gain > 0 and not arm.bounding else self._stale + seconds
        self.work[number] += seconds
        arm.gain += gain if np.isfinite(gain) else 0.0
        if arm.patient:
            arm.run_best = min(arm.run_best, best)
            if not ended:
                return
            best, arm.run_best = arm.run_best, np.inf
            arm.runs += 1
        if np.isfinite(best):
            arm.recent = best if best <= arm.recent else arm.recent + self.DRIFT * (best - arm.recent)


class ByRank(Scheduler[str]):
    """Draws each kind of run as often as it is likely to give the most of the best runs for its work (Thompson).

    The best runs are a part of all; their order counts and not their costs, as one kind has runs that fail by far.

    Parameters
    ----------
    kinds
        Name → work of an iteration in comparison with the others, in the order in which each kind is tried once.
    near
        The kind that starts from the best assignment of the others: it has a fixed part of the work, since its own
        ranks follow from theirs.
    """

    BEST_PART = 0.25
    """Part of all runs that counts as the best."""
    BEST_RUNS = 10
    """Most runs that count as the best."""
    DOUBT = 0.5
    """Runs among the best that a kind is taken to have had beside those that it had."""
    NEAR_PART = 0.3
    """Part of all work for `near`."""
    NEAR_RUNS = 40
    """Runs of other kinds before `near` has its whole part. Of n independent runs the next is the best with a chance of
    1 / (n + 1), so that these are worth more at first."""

    def __init__(self, kinds: Mapping[str, float], near: str | None = None):
        super().__init__()
        self.work = dict.fromkeys(kinds, 0.0)
        self._kinds, self._near = dict(kinds), near if near in kinds else None
        self._best: list[tuple[float, str]] = []
        self._count = 0

    def choose(self, rng: np.random.Generator, *, only: Collection[str] | None = None) -> str:
        """The kind of the next run, of `only` if given."""
        kinds = [kind for kind in self._kinds if only is None or kind in only]
        untried = [kind for kind in kinds if self.work[kind] == 0]
        if untried:
            return untried[0]
        best = [kind for _, kind in self._best[: max(1, round(self.BEST_PART * self._count))]]
        part = self.NEAR_PART * min(1.0, self._count / self.NEAR_RUNS)
        if self._near in kinds and self.work[self._near] < part * sum(self.work.values()):
            return self._near
        merits = {kind: rng.standard_gamma(best.count(kind) + self.DOUBT) for kind in kinds if kind != self._near}
        return self.most(merits) or kinds[0]

    def reward(self, kind: str, cost: float, iterations: int) -> None:
        """Learn from a run; a cost that was found before earns no second rank."""
        self.work[kind] += iterations * self._kinds[kind]
        if kind == self._near:
            return
        self._count += 1
        worse = len(self._best) == self.BEST_RUNS and cost >= self._best[-1][0]
        if not worse and all(cost != known for known, _ in self._best):
            self._best.append((cost, kind))
            self._best.sort(key=lambda run: run[0])
            del self._best[self.BEST_RUNS :]

    def state_dict(self) -> State:
        """What was learned, as JSON values."""
        best = [[cost if np.isfinite(cost) else None, kind] for cost, kind in self._best]
        return {"best": best, "count": self._count, "work": dict(self.work)}

    def load_state_dict(self, state: State) -> None:
        """Continue from `state_dict`; `ValueError` if it is of other kinds."""
        best = [(np.inf if cost is None else float(cost), str(kind)) for cost, kind in state["best"]]
        work = {str(kind): float(work) for kind, work in state["work"].items()}
        if set(work) != set(self._kinds) or any(kind not in work for _, kind in best) or not min(work.values()) >= 0:
            raise ValueError("there are no such kinds of runs")
        self._best, self._count = best, int(state["count"])
        self.work = {kind: work[kind] for kind in self._kinds}

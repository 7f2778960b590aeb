"""Which member gets the next slice of time: a bandit with memory of recent gains."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from dabp.solvers.auto.plan import (
    AT_LOSS,
    CLOSING,
    DRIFT,
    FLOOR,
    PATIENT_RUNS,
    SEEKING,
    SLICE_SECONDS,
    SMALL_GAP,
    STALE_PART,
)


@dataclass
class Arm:
    """What is remembered about one member."""

    prior: float
    patient: bool = False
    """Whether its costs say nothing before a run ends; it is not held back for them before it had some."""
    bounding: bool = False
    """Whether it raises the bound, which pays most when the gap is nearly closed."""
    seeking: bool = False
    """Whether it learns from what it violates: it has more time as long as nothing is known that violates nothing."""
    used: float = 0.0
    """Seconds, older ones counting less."""
    gain: float = 0.0
    """How much it improved the incumbent or the bound, older gains counting less."""
    recent: float = np.inf
    """The best cost of its latest slices; of its latest runs if it is patient."""
    run_best: float = np.inf
    """The best cost of the run under way."""
    runs: int = 0
    """How many runs have ended."""


class Bandit:
    """Shares time in proportion to weights that follow what members achieve.

    A member's weight is its prior times (`FLOOR` + e^(−distance) + share of the recent gains), distance being how far
    its recent best is from the incumbent in units of the median member's distance. These units grow while nobody
    improves the incumbent: being near it is then no merit, and members that scatter further have their priors again.
    The next slice goes to whoever will be furthest behind its share after it, so that with little time those of little
    weight have none.

    As long as there is no incumbent nobody can be judged: priors alone decide, of which each that seeks has at least
    `SEEKING` of all others' together. Where only those have found anything since, the others have less (`AT_LOSS`).

    Parameters
    ----------
    priors
        One per member: what it deserves before anything is known.
    patient, bounding, seeking
        One per member: whether it is judged by whole runs, and not before `PATIENT_RUNS` of them, whether it gets more
        when the gap is small, and whether it does as long as there is no incumbent.
    memory
        Seconds after which a gain counts half.
    unit
        Seconds of a slice.
    """

    def __init__(
        self,
        priors: Collection[float],
        patient: Collection[bool],
        bounding: Collection[bool],
        memory: float,
        unit: float = SLICE_SECONDS,
        seeking: Collection[bool] | None = None,
    ):
        none = [False] * len(priors)
        self.arms = [Arm(*arm) for arm in zip(priors, patient, bounding, seeking or none, strict=True)]
        self._memory, self._unit = max(memory, 1e-3), unit
        self._stale = 0.0  # seconds of all members since one improved the incumbent

    def join(self, other: Bandit) -> None:
        """Share the time among another's members, too, numbered from here on."""
        self.arms += other.arms

    def choose(self, available: Collection[int], incumbent: float, bound: float) -> int | None:
        """The member to run next, None if none is available."""
        weights = self.weights(incumbent, bound)
        behind = {i: (self.arms[i].used + self._unit) / weights[i] for i in available if weights[i] > 0}
        return min(behind, key=lambda i: (behind[i], i)) if behind else None

    def weights(self, incumbent: float, bound: float) -> list[float]:
        """Each member's weight, given the cost of the incumbent and the bound."""
        if not np.isfinite(incumbent):
            return self._seeking(1.0)
        if self._others_at_loss:
            return self._seeking(AT_LOSS)
        known = np.isfinite(bound)
        near = known and incumbent - bound <= SMALL_GAP * max(abs(incumbent), abs(bound))
        distances = np.array([max(arm.recent - incumbent, 0.0) if arm.recent < np.inf else np.inf for arm in self.arms])
        finite = distances[np.isfinite(distances) & (distances > 0)]
        unit = float(np.median(finite)) if len(finite) else 1.0
        unit *= 1.0 + self._stale / (STALE_PART * self._memory)
        total = sum(arm.gain for arm in self.arms)
        result = []
        for arm, distance in zip(self.arms, distances.tolist(), strict=True):
            untried = arm.runs < PATIENT_RUNS if arm.patient else arm.used == 0.0
            merit = 1.0 if untried else float(np.exp(-distance / unit))
            if arm.bounding and near:
                merit = CLOSING
            result.append(arm.prior * (FLOOR + merit + (arm.gain / total if total > 0 else 0.0)))
        return result

    @property
    def _others_at_loss(self) -> bool:
        """Whether some that seek have seen something feasible, and nobody else has."""
        found = [arm for arm in self.arms if min(arm.recent, arm.run_best) < np.inf]
        return bool(found) and all(arm.seeking for arm in found)

    def _seeking(self, part: float) -> list[float]:
        """Each member's weight as long as only those that seek may find anything; the others have a part of theirs."""
        others = sum(arm.prior for arm in self.arms if not arm.seeking)
        return [max(arm.prior, SEEKING * others) if arm.seeking else part * arm.prior for arm in self.arms]

    def reward(self, index: int, seconds: float, gain: float, best: float, ended: bool = False) -> None:
        """Tell how a slice went: how long it took, what it improved, the best cost it saw (inf if none).

        `ended` tells that a run ended with it.
        """
        fade = 0.5 ** (seconds / self._memory)
        for arm in self.arms:
            arm.gain *= fade
            arm.used *= fade
        arm = self.arms[index]
        self._stale = 0.0 if gain > 0 and not arm.bounding else self._stale + seconds
        arm.used += seconds
        arm.gain += gain if np.isfinite(gain) else 0.0
        if arm.patient:
            arm.run_best = min(arm.run_best, best)
            if not ended:
                return
            best, arm.run_best = arm.run_best, np.inf
            arm.runs += 1
        # A slice without a feasible candidate says little; a worse one lets the memory drift towards it.
        if np.isfinite(best):
            arm.recent = best if best <= arm.recent else arm.recent + DRIFT * (best - arm.recent)

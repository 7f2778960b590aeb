"""What a member of `auto` is: a public solver, when it takes part, and how it plans its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dabp.problem import Assignment
from dabp.solvers.base import Budget, Solver

if TYPE_CHECKING:
    from dabp.solvers.auto.features import Features
    from dabp.solvers.auto.incumbent import Incumbent


@dataclass(frozen=True)
class Run:
    """What a member starts."""

    solver: Solver
    initial: Assignment | None = None
    budget: Budget = field(default_factory=Budget)
    """What the solver plans its schedule by."""
    whole: bool = False
    """Whether the run ends by itself and finds nothing before: it is not ended for finding nothing."""
    last: bool = False
    """Whether the member has nothing to do when this run has ended."""


class Ended(NamedTuple):
    """An earlier run of a member."""

    solver: Solver | None
    """None if it was before a resume."""
    seconds: float


@dataclass(frozen=True)
class Situation:
    """What a member knows when it plans a run."""

    kind: str
    """The kind of problem, of `features.KINDS`."""
    features: Features
    incumbent: Incumbent
    rng: np.random.Generator
    horizon: float
    """Seconds that the solve is planned for."""
    time_left: float
    """Seconds; inf where iterations are the limit."""
    threads: int = 1
    """Threads that the run may use."""
    ended: Sequence[Ended] = ()
    """Earlier runs of this member, the oldest first."""

    @property
    def budget(self) -> Budget:
        """The time that is left, for a solver that plans by it."""
        return Budget(time_limit=self.time_left if np.isfinite(self.time_left) else None)

    @property
    def best(self) -> Assignment | None:
        """The incumbent, None if there is none."""
        return self.incumbent.best()[0]


@dataclass(frozen=True, kw_only=True)
class Member:
    """One line of the table in `members`. The scheduler and the loop know nothing else about a member."""

    solver: str
    """Its public name; notes and records use it."""
    plan: Callable[[Situation], Run]
    weights: Mapping[str, float]
    """Kind of problem → share of the time before anything is known, relative to the others; without one: left out."""
    applies: Callable[[Features, float], bool] = lambda features, horizon: True
    """Whether it can pay on a problem with these features within these seconds."""
    when: str = "always"
    """`applies` in words."""
    copies: Callable[[Features, str], int] = lambda features, kind: 1
    """Copies that share the weight where there are several threads, by features and kind of problem."""
    turn: int = 0
    """Iterations of the first turn where iterations are the limit; 0: it plans by the clock and then has none."""
    delay: Mapping[str, float] = field(default_factory=dict)
    """Kind of problem → part of the time that passes before it starts, unless no other member has anything to do."""
    setup: float = 0.2
    """Microseconds for each edge that a start takes (`line_up.setup_seconds`)."""
    memory: float = 4.5
    """Bytes for each cell of a table at the worst moment."""
    shares_table: bool = False
    """Whether it moves on the table of local costs that all such members share."""
    patient: bool = False
    """Whether the costs of a run mean nothing before it ends."""
    bounding: bool = False
    """Whether it raises the lower bound."""
    seeking: bool = False
    """Whether it learns from violations in the midst of a run; such members find first feasible answers."""
    opens: bool = False
    """Whether it runs before the others, for a quarter of the time and until another member has been set up."""
    polishing: bool = False
    """Whether a run only improves the incumbent, so that the next one waits for another incumbent."""

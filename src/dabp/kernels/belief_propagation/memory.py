"""What iterations of min-sum change, and the rules they follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.belief_propagation.layout import Ints, Reals
from dabp.kernels.belief_propagation.meeting import Meeting

RUNNING, CONVERGED, SETTLED = 0, 1, 2
"""Why a run of iterations ended: it was long enough, messages stopped changing, values stopped changing."""

ITERATIONS, UNCHANGED, BEST_AT = 0, 1, 2
"""Places in `Memory.counts`: iterations since the start, since a value last changed, until the start's best cost."""

CURRENT, BEST, BEST_OF_START = 0, 1, 2
"""Places in `Memory.costs`: of `Memory.assignment`, of `Memory.best`, and the least since the start."""


class Memory(NamedTuple):
    """What iterations change."""

    v2f: Reals
    """Variable→factor messages, those of a copy with scale s divided by s."""
    fresh: Reals
    """Those of the next iteration: while variables hear each other's messages none may change."""
    f2v: Reals
    """Factor→variable messages, likewise: all of them, or room for those of one variable, which are used at once."""
    field: Reals
    """Reinforced BP's field, padded like the unary costs."""
    damping: Reals
    """[E], edges by variable."""
    assignment: NDArray[np.int32]
    """[N]: the values decoded last; short, as costs are looked up by it all over the memory."""
    best: Ints
    """[N]: the best values decoded so far."""
    moved: NDArray[np.bool_]
    """[N]: variables whose value changed in the last iteration."""
    priced: NDArray[np.float64]
    """[F]: exact cost of each factor under `assignment`, unless `stale`."""
    stale: NDArray[np.bool_]
    """[1]: whether the next iteration finds its cost while it updates variables, and the last may have."""
    values: Ints
    """Room for one row number of a table of the largest arity."""
    counts: Ints
    """[3]: see `ITERATIONS`."""
    costs: NDArray[np.float64]
    """[3]: see `CURRENT`."""
    meeting: Meeting
    """What threads know of each other's values while they update variables."""


class Rules(NamedTuple):
    """What an iteration does and when a run ends."""

    rate: float = 0.0
    """Reinforcement, 0 = none."""
    tolerance: float = 0.0
    """Converged when no v2f message changes by as much, in scaled units."""
    patience: int = 0
    """Settled when no value has changed for so many iterations; 0 = never."""
    constant: float = 0.0
    """Added to every cost."""

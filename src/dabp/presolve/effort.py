"""How much work presolve may do: counted in operations, so that the same problem always gives the same answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dabp.problem import Problem

UNLIMITED = 2**62
PER_SECOND = 300_000_000
"""Operations that a second has time for."""
READ_PER_SECOND = 5_000_000
"""Scope entries that a second has time for where they are sorted and copied, once for a round."""
CELLS_PER_ENTRY = 8
"""Cells that take as long: they lie side by side."""


@dataclass
class Effort:
    """Operations that one technique may still do, over all rounds; each is about a nanosecond or two."""

    left: int = UNLIMITED


class Efforts:
    """What each technique may do on a problem: about a second together, and more for tables that take long to read.

    Less if there are fewer `seconds`.
    """

    def __init__(self, problem: Problem, seconds: float = math.inf):
        cells = len(problem.pool)
        most = UNLIMITED if math.isinf(seconds) else int(seconds * PER_SECOND / 4)
        self.propagation = Effort(min(200_000_000 + 4 * cells, most))
        self.elimination = Effort(min(400_000_000 + 8 * cells, most))
        self.dominance = Effort(min(200_000_000 + 4 * cells, most))
        self.rounds = Effort(30_000_000)
        """Cells and scope entries of the problems that rounds begin with; the first round is free."""

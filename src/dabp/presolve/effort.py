"""How much work presolve may do: counted in operations, so that the same problem always gives the same answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dabp.problem import Problem

UNLIMITED = 2**62
"""More operations than any rule ever does."""


@dataclass
class Effort:
    """Operations that a rule may still do, over all rounds; each takes about a nanosecond or two."""

    left: int = UNLIMITED


class Efforts:
    """The effort of each rule on a problem: about a second in all, more for large tables, less for few `seconds`."""

    def __init__(self, problem: Problem, seconds: float = math.inf):
        cells = len(problem.pool)
        most = UNLIMITED if math.isinf(seconds) else int(seconds * 300_000_000 / 4)
        self.propagation = Effort(min(200_000_000 + 4 * cells, most))
        self.elimination = Effort(min(400_000_000 + 8 * cells, most))
        self.dominance = Effort(min(200_000_000 + 4 * cells, most))
        self.rounds = Effort(30_000_000)
        """Cells and scope entries of the problems that rounds start with; the first round is free."""


def reading_seconds(problem: Problem) -> float:
    """The time to sort and copy a problem once: a second for 5 million scope entries or 40 million cells."""
    return (len(problem.pool) // 8 + len(problem.scope_variables)) / 5_000_000

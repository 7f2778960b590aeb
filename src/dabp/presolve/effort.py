"""How much work presolve may do: counted in operations, so that the same problem always gives the same answer."""

from __future__ import annotations

from dataclasses import dataclass

from dabp.problem import Problem

UNLIMITED = 2**62


@dataclass
class Effort:
    """Operations that one technique may still do, over all rounds; each is about a nanosecond or two."""

    left: int = UNLIMITED


class Efforts:
    """What each technique may do on a problem: about a second together, and more for tables that take long to read."""

    def __init__(self, problem: Problem):
        cells = len(problem.pool)
        self.propagation = Effort(200_000_000 + 4 * cells)
        self.elimination = Effort(400_000_000 + 8 * cells)
        self.dominance = Effort(200_000_000 + 4 * cells)
        self.rounds = Effort(30_000_000)
        """Cells and scope entries of the problems that rounds begin with; the first round is free."""

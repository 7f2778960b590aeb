"""Why a search or a solve ended."""

from __future__ import annotations

from enum import Enum

RESTARTS_DONE = "restarts done"
"""`Result.limit` where a solver made all its restarts."""

OWN_LIMIT = "own iterations done"
"""`Result.limit` where a solver made the iterations of its own parameters."""


class Status(Enum):
    """Why a solve ended; the value is the word, `sentence` what it means."""

    OPTIMAL = "OPTIMAL"
    CONVERGED = "CONVERGED"
    LIMIT = "LIMIT"
    INTERRUPTED = "INTERRUPTED"
    INFEASIBLE = "INFEASIBLE"

    @property
    def sentence(self) -> str:
        """The status in words."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.OPTIMAL: "proved optimal",
    Status.CONVERGED: "the solver has finished; nothing is proved",
    Status.LIMIT: "a limit was reached",
    Status.INTERRUPTED: "stopped on request; the best answer up to then",
    Status.INFEASIBLE: "proved to have no feasible assignment",
}

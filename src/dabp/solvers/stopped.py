"""How a search's preparation ends when the guard says so."""

from __future__ import annotations

from dabp.problem.guard import Guard
from dabp.solvers.base import Search, State, Step
from dabp.solvers.status import Status


class Stopped(Exception):  # noqa: N818 - not an error: the guard said so
    """There is no time or memory left to prepare; the text is the guard's reason."""


def ask(guard: Guard) -> None:
    """Go on, or raise `Stopped`."""
    if (reason := guard.reason) is not None:
        raise Stopped(reason)


class NotPrepared(Search):
    """Stands where a search would, whose preparation the guard did not let end."""

    def __init__(self, name: str, reason: Stopped):
        self._note = f"{name} was not prepared: {reason}"

    @property
    def at_boundary(self) -> bool:
        """There is nothing to save."""
        return False

    def step(self) -> Step:
        """The end."""
        return Step(finished=Status.LIMIT, notes=(self._note,))

    def state_dict(self) -> State:
        """Nothing is under way, ever."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """There is nothing that could go on."""

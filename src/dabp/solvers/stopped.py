"""How the preparation of a search ends when the guard stops it."""

from __future__ import annotations

from dabp.problem.guard import Guard
from dabp.solvers.base import Search, State, Step
from dabp.solvers.status import Status


class Stopped(Exception):  # noqa: N818 - not an error: the guard said so
    """The preparation has run out of time or memory; the text is the guard's reason."""


def ask(guard: Guard) -> None:
    """Raise `Stopped` if the guard has a reason to stop."""
    if (reason := guard.reason) is not None:
        raise Stopped(reason)


class NotPrepared(Search):
    """Replaces a search whose preparation the guard stopped."""

    def __init__(self, name: str, reason: Stopped):
        self._note = f"{name} was not prepared: {reason}"

    @property
    def at_boundary(self) -> bool:
        """False: there is nothing to save."""
        return False

    def step(self) -> Step:
        """End with the reason as a note."""
        return Step(finished=Status.LIMIT, notes=(self._note,))

    def state_dict(self) -> State:
        """Nothing: no work is under way."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Ignore the state: no work was under way."""

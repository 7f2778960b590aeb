"""How a search's preparation ends when the guard says so."""

from __future__ import annotations

from dabp.problem.guard import Guard


class Stopped(Exception):  # noqa: N818 - not an error: the guard said so
    """There is no time or memory left to prepare; the text is the guard's reason."""


def ask(guard: Guard) -> None:
    """Go on, or raise `Stopped`."""
    if (reason := guard.reason) is not None:
        raise Stopped(reason)

"""Exceptions, whose text is written for users."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")


class DabpError(Exception):
    """Base of every error this package raises on purpose; its text is one clear sentence."""


class ProblemError(DabpError):
    """A problem is not well formed: a wrong index, a table of the wrong size, a cost that is no number."""


class FormatError(DabpError):
    """A file cannot be read or written; the text starts with ``file:line:`` where a line is known."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None):
        self.message, self.source, self.line = message, source, line
        place = ":".join(str(part) for part in (source, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)


class FormatWarning(UserWarning):
    """A file can be read, but says something that its writer can hardly have meant."""


class ParameterError(DabpError):
    """A solver, generator or option got a name or value it does not take."""


class KeywordError(ParameterError, TypeError):
    """A function got a keyword argument that it does not have; the text names the nearest one."""


class MissingPackageError(DabpError):
    """An optional package is missing; the text says how to install it."""


class SolverError(DabpError):
    """A solver failed, or broke the contract of `Search` (a bug, reported instead of a wrong answer)."""


class CheckpointError(DabpError):
    """A checkpoint is truncated, altered, or belongs to another problem or solver."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """'; did you mean …?' for a mistyped word, or the list of what there is."""
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(sorted(known))}"


def refuse_unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise `KeywordError` for the first keyword argument that the function does not have."""
    known = list(known)
    for name in given:
        if name not in known:
            raise KeywordError(f"{function}() has no argument {name!r}{suggestion(name, known)}")


def named_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function answer an unknown keyword argument with the nearest name."""
    known = inspect.signature(function).parameters
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @functools.wraps(function)
    def checked(*arguments: P.args, **keywords: P.kwargs) -> R:
        refuse_unknown(name, keywords, known)
        return function(*arguments, **keywords)

    return checked


def named_fields(dataclass: type[C]) -> type[C]:
    """Let a dataclass answer an unknown keyword argument with the nearest field."""
    dataclass.__init__ = named_keywords(dataclass.__init__)  # type: ignore[method-assign]
    return dataclass

"""Compiled inner loops on plain arrays (Numba): cached on disk, GIL released, no allocation in the loops.

Kernels are decorated with `kernel`, which fixes the compilation options in one place. The first call
on a machine compiles; `compilation` measures that, so that time limits do not count it. The cache notices a change of
a kernel's own file only: after a change of one that others call, delete ``__pycache__/*.nb*``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function | None = None, /, **options: Any) -> Any:
    """``numba.njit`` with our options: cached, nogil, C division. Use as ``@kernel`` or ``@kernel(fastmath=True)``."""
    chosen = {"cache": True, "nogil": True, "error_model": "numpy", **options}
    if function is None:
        return lambda inner: cast(Function, numba.njit(**chosen)(inner))
    return cast(Function, numba.njit(**chosen)(function))


def array_kernel(function: Function) -> Function:
    """`kernel` for functions that allocate nothing: without reference counting they compile in half the time."""
    return cast(Function, kernel(_nrt=False)(function))


def inline_kernel(function: Function) -> Function:
    """`array_kernel` for the body of an inner loop, copied into its callers."""
    return cast(Function, kernel(_nrt=False, inline="always")(function))


class _Compilation(event.Listener):  # type: ignore[misc]
    """Seconds spent compiling (loading from the disk cache does not count), and a hook for a notice."""

    def __init__(self) -> None:
        self._done = 0.0
        self.notice: Callable[[], None] | None = None
        self._depth = 0
        self._start = 0.0
        self._lock = threading.Lock()

    def on_start(self, happening: Any) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._start = time.perf_counter()
                if self.notice is not None:
                    self.notice()

    def on_end(self, happening: Any) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._done += time.perf_counter() - self._start

    @property
    def seconds(self) -> float:
        """So far, with the compilation that is going on, in whatever thread."""
        with self._lock:
            return self._done + (time.perf_counter() - self._start if self._depth else 0.0)


compilation = _Compilation()
event.register("numba:compile", compilation)

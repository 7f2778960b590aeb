"""How kernels are compiled (Numba): kept on disk, GIL released, no allocation in the loops.

Kernels are decorated with `kernel`, which fixes the compilation options in one place. The first call on a machine
compiles, which `dabp.kernels.compilation` measures; `dabp.kernels.cache` keeps the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

from dabp.kernels.cache import KernelCache
from dabp.kernels.compilation import compilation

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function | None = None, /, **options: Any) -> Any:
    """``numba.njit`` with our options: cached, nogil, C division. Use as ``@kernel`` or ``@kernel(fastmath=True)``."""
    chosen = {"nogil": True, "error_model": "numpy", **options}

    def compiled(inner: Function) -> Function:
        dispatcher = numba.njit(**chosen)(inner)
        dispatcher._cache = KernelCache(inner)
        return cast(Function, dispatcher)

    return compiled if function is None else compiled(function)


def array_kernel(function: Function) -> Function:
    """`kernel` for functions that allocate nothing: without reference counting they compile in half the time."""
    return cast(Function, kernel(_nrt=False)(function))


def inline_kernel(function: Function) -> Function:
    """`array_kernel` for the body of an inner loop, copied into its callers."""
    return cast(Function, kernel(_nrt=False, inline="always")(function))


def part(**options: Any) -> Any:
    """`kernel` for what other kernels call, with ``fastmath``: always inlined where it is called.

    Left to itself, a process that compiles calls the function as compiled alone, one that loads from the cache the
    copy that was optimised with its caller. Where additions may be reordered these differ in the last places, and
    the first run on a machine would not equal the second.
    """
    return kernel(forceinline=True, **options)


class _Listener(event.Listener):  # type: ignore[misc]
    """Tells `dabp.kernels.compilation` what Numba is doing."""

    def on_start(self, happening: Any) -> None:
        compilation.begin()

    def on_end(self, happening: Any) -> None:
        compilation.end()


event.register("numba:compile", _Listener())

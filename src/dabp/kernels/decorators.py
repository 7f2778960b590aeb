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
from dabp.kernels.pipeline import KernelCompiler

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function | None = None, /, **options: Any) -> Any:
    """``numba.njit`` with our options: cached, nogil, C division. Use as ``@kernel`` or ``@kernel(fastmath=True)``."""
    ours = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
    chosen = {**ours, **options}

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


def inner(function: Function | None = None, /, **options: Any) -> Any:
    """`kernel` for what kernels call and Python does not: it becomes machine code where it is called."""
    chosen = kernel(no_cpython_wrapper=True, **options)
    return chosen if function is None else chosen(function)


def array_inner(function: Function) -> Function:
    """`inner` for functions that allocate nothing."""
    return cast(Function, inner(_nrt=False)(function))


def part(**options: Any) -> Any:
    """`inner` that is always inlined where it is called."""
    return inner(forceinline=True, **options)


class _Listener(event.Listener):  # type: ignore[misc]
    """Tells `dabp.kernels.compilation` what Numba is doing."""

    def on_start(self, happening: Any) -> None:
        compilation.begin()

    def on_end(self, happening: Any) -> None:
        compilation.end()


event.register("numba:compile", _Listener())

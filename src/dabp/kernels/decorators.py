"""How kernels are compiled: kept on disk (`dabp.kernels.cache`), GIL released, C division."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from dabp.compiling import compiling
from dabp.kernels.cache import keep_compiled
from dabp.kernels.compiler import event, numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function | None = None, /, **options: Any) -> Any:
    """``numba.njit`` for functions that Python calls. Use as ``@kernel`` or ``@kernel(fastmath=True)``."""
    chosen = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}

    def compiled(inner: Function) -> Function:
        return cast(Function, keep_compiled(numba.njit(**chosen)(inner)))

    return compiled if function is None else compiled(function)


def array_kernel(function: Function) -> Function:
    """`kernel` for functions that allocate nothing: without reference counting they compile in half the time."""
    return cast(Function, kernel(_nrt=False)(function))


def inner(function: Function | None = None, /, **options: Any) -> Any:
    """`kernel` for functions that only kernels call."""
    chosen = kernel(no_cpython_wrapper=True, **options)
    return chosen if function is None else chosen(function)


def array_inner(function: Function) -> Function:
    """`inner` for functions that allocate nothing."""
    return cast(Function, inner(_nrt=False)(function))


def part(**options: Any) -> Any:
    """`inner` that is always inlined where it is called."""
    return inner(forceinline=True, **options)


class _Listener(event.Listener):  # type: ignore[misc]
    """Reports Numba's compilations to `dabp.compiling`."""

    def on_start(self, happening: Any) -> None:
        compiling.begin()

    def on_end(self, happening: Any) -> None:
        compiling.end()


event.register("numba:compile", _Listener())

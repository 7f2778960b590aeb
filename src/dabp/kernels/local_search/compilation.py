"""How the kernels of local search are compiled: without reference counting, small pieces inside their callers."""

from __future__ import annotations

from typing import cast

from dabp.kernels.decorators import Function, kernel


def local_kernel(function: Function) -> Function:
    """A kernel without reference counting, which around a call costs as much as a move; it cannot allocate."""
    return cast(Function, kernel(_nrt=False, no_cfunc_wrapper=True)(function))


def inlined(function: Function) -> Function:
    """The same inside its caller, a kernel: a call that hands over `Costs` and `State` copies 250 words."""
    options = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, kernel(_nrt=False, **options)(function))

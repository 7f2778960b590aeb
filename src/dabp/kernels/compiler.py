"""The one door to Numba and LLVM: every module takes what it needs of them from here.

Two threads that import parts of Numba at the same time by different modules find each other's half-imported or wait for
each other for ever. Whoever imports this module waits until one thread has imported all of it.
"""

from __future__ import annotations

import llvmlite
import numba
from llvmlite import binding, ir
from numba.core import cgutils, config, event, types
from numba.core.imputils import impl_ret_untracked
from numba.core.registry import cpu_target
from numba.extending import intrinsic, lower_builtin, models, overload, register_model, type_callable

try:  # what `dabp.kernels.cache` uses of Numba's inside
    from numba.core.codegen import JITCPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.dispatcher import Dispatcher
    from numba.core.runtime import rtsys
    from numba.core.serialize import dumps

    INSIDE_IS_KNOWN = (
        hasattr(CompileResult, "_reduce")
        and hasattr(CompileResult, "_rebuild")
        and hasattr(JITCPUCodegen, "magic_tuple")
        and hasattr(Dispatcher, "enable_caching")
    )
except ImportError:
    INSIDE_IS_KNOWN, CompileResult, dumps, rtsys = False, None, None, None

_ = cpu_target.target_context  # made by the first kernel otherwise, perhaps by two threads at once

__all__ = [
    "INSIDE_IS_KNOWN",
    "CompileResult",
    "binding",
    "cgutils",
    "config",
    "dumps",
    "event",
    "impl_ret_untracked",
    "intrinsic",
    "ir",
    "llvmlite",
    "lower_builtin",
    "models",
    "numba",
    "overload",
    "register_model",
    "rtsys",
    "type_callable",
    "types",
]

"""Parts of kernels, called from Python by tests alone."""

from __future__ import annotations

from typing import Any

import numba


def alone(part: Any) -> Any:
    """A part, compiled so that Python can call it; kept nowhere, as the part's own place is for what kernels link."""
    kept = {name: part.targetoptions[name] for name in ("fastmath", "_nrt") if name in part.targetoptions}
    return numba.njit(error_model="numpy", **kept)(part.py_func)

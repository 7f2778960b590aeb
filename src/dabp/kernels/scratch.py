# mypy: disable-error-code="untyped-decorator"
"""Scratch arrays of kernels that add up in an order of the compiler's choice (`reassoc`).

LLVM compiles a loop that adds up and writes twice, in vectors and number by number, which differ in the last digits. At
run time it takes arrays that begin within a few vectors of each other (256 bytes with the widest) for overlapping and
runs the second form. Short arrays from ``np.empty`` may or may not lie that close, so the same run could give different
digits. The arrays made here lie `GAP` numbers from everything else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner

GAP = 128
"""Numbers between arrays; vectors of a loop take at most 64 at a time."""


@inner
def apart(count: int, like: NDArray[Any]) -> NDArray[Any]:
    """[count], empty, of the type of `like`."""
    return np.empty(count + 2 * GAP, like.dtype)[GAP : GAP + count]


@inner
def rows_apart(count: int, width: int, like: NDArray[Any]) -> NDArray[Any]:
    """[count, width], empty, of the type of `like`; there is no gap between its rows."""
    before = GAP // max(width, 1) + 1
    return np.empty((count + 2 * before, width), like.dtype)[before : before + count]

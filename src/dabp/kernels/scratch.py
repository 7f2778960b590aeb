# mypy: disable-error-code="untyped-decorator"
"""Scratch arrays of kernels that add up in an order of the compiler's choice (`reassoc`).

A loop that adds up and writes on the way is compiled twice, in vectors and number by number, which differ in the last
digits. Which of the two runs is decided when it does: LLVM takes arrays that begin less than a few vectors apart for
overlapping (VF × IC × bytes of a number, 256 bytes with the widest vectors). Short arrays from ``np.empty`` may or may
not lie so close, as the heap happens to be, and the same run would not give the same digits twice. These here lie
`GAP` numbers from everything else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner

GAP = 128
"""Numbers, of which at most 64 are taken at a time."""


@inner
def apart(count: int, like: NDArray[Any]) -> NDArray[Any]:
    """[count], empty, of the type of `like`."""
    return np.empty(count + 2 * GAP, like.dtype)[GAP : GAP + count]


@inner
def rows_apart(count: int, width: int, like: NDArray[Any]) -> NDArray[Any]:
    """[count, width], empty, of the type of `like`; the rows themselves lie close."""
    before = GAP // max(width, 1) + 1
    return np.empty((count + 2 * before, width), like.dtype)[before : before + count]

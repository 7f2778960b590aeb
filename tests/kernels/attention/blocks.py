"""Variables of several degrees, and where their blocks of held weights lie."""

from __future__ import annotations

import numpy as np

from dabp.kernels.attention.vectors import BLOCK

DEGREES = [1, 2, 4, 7, 19]
ROWS = [-(-degree // BLOCK) * BLOCK for degree in DEGREES]
"""Numbers of a row: whole vectors."""
STARTS = np.cumsum([0] + [degree * row for degree, row in zip(DEGREES, ROWS, strict=True)])


def block_of(flat: np.ndarray, i: int) -> np.ndarray:
    """The weights of a variable, without room."""
    return flat[STARTS[i] : STARTS[i + 1]].reshape(DEGREES[i], ROWS[i])[:, : DEGREES[i]]

# mypy: disable-error-code="untyped-decorator"
"""The vectors that the kernels of DABP work in."""

from __future__ import annotations

from typing import Any

from dabp.kernels.decorators import inner, part
from dabp.kernels.simd import full_like, lanes_of
from dabp.kernels.simd_functions import exponential_of

BLOCK = 8
"""Message entries and neighbours are handled in vectors of this length."""
LANES = lanes_of(BLOCK)
SINGLE = lanes_of(1)


@inner
def whole_blocks(count: int) -> int:
    """Rounded up to whole vectors."""
    return (count + BLOCK - 1) // BLOCK * BLOCK


@part()
def sigmoid_of(x: Any) -> Any:
    """1 / (1 + exp(−x)) of each lane."""
    one = full_like(1.0, x)
    return one / (one + exponential_of(full_like(0.0, x) - x))

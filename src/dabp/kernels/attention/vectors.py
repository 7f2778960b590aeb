# mypy: disable-error-code="untyped-decorator"
"""What the attention's kernels do with whole vectors."""

from __future__ import annotations

from typing import Any

from dabp.kernels.decorators import part
from dabp.kernels.simd import full_like
from dabp.kernels.simd_functions import exponential_of


@part()
def sigmoid_of(x: Any) -> Any:
    """1 / (1 + exp(−x)) of each lane."""
    one = full_like(1.0, x)
    return one / (one + exponential_of(full_like(0.0, x) - x))
